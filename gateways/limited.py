"""Processes for what strangers sent: each has limits of time and memory, and may fail or be stopped without harm."""

import contextlib
import os
import resource
import signal
import subprocess
import sys

# One heap and one thread are enough; more of them only reserve address space.
ENVIRON = {"MALLOC_ARENA_MAX": "1", "RAYON_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}


def run(
    start: str, *arguments: str, given: bytes, seconds: float, complaints: int = subprocess.DEVNULL
) -> subprocess.CompletedProcess[bytes]:
    """Have a process of our own Python run `start` on what is given; raises TimeoutExpired once it is stopped.

    What it complains of is only kept on demand: a hostile file could make a reader complain without an end.
    """
    with subprocess.Popen(  # noqa: S603 - our own interpreter and our own code
        [sys.executable, "-I", "-c", start, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        env=ENVIRON,
        cwd="/",
        start_new_session=True,
    ) as process:
        try:
            out, said = process.communicate(given, timeout=seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, said)


def limit(seconds: int, memory_mb: int) -> None:
    """Let this process end after so much CPU time, get no more address space, and write no file."""
    limits = {
        resource.RLIMIT_AS: memory_mb << 20,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_CORE: 0,
    }
    for name, value in limits.items():
        # A system that does not know one of them still has the others and the parent's clock.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(name, (value, value))
