"""The code sandbox: runs candidates' programs behind walls of the Linux kernel, or not at all.

Each input gets a process in new user, PID, mount, network, IPC and host-name namespaces: no network, a file
system that shows the language's files and nothing else of the machine, one small folder to write to, limits
on time, memory, processes, files and output, and a filter on system calls. Needs no root and no container.
Where the kernel or a container refuses any of this, `available` is False and nothing runs.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateways import languages
from gateways.languages import LANGUAGES

OUTPUT_BYTES = 64 * 1024
PROCESSES = 64
MIB = 1 << 20
RETRY_SECONDS = 60.0  # a machine that could not run a language is asked again after this

# Programs running at a time in one process, so that a wave of submissions does not make them all late.
_places = threading.BoundedSemaphore(max(2, os.cpu_count() or 2))
_probing = threading.Lock()
_known: dict[str, tuple[str, float]] = {}  # language -> (why not, empty when it runs; when that was found)


@dataclass(frozen=True)
class Run:
    """What a program did with one input; outcome is ok, error, timeout, memory or output_limit."""

    stdout: str
    stderr: str
    outcome: str


class UnavailableError(Exception):
    """The machine cannot run the language safely."""


def available(language: str) -> bool:
    """Say whether programs in this language can run here; found out by running one."""
    return not why_not(language)


def why_not(language: str) -> str:
    """Give the reason why a language cannot run here; empty if it can."""
    with _probing:
        reason, found = _known.get(language, ("", 0.0))
        if found and (not reason or time.monotonic() - found < RETRY_SECONDS):
            return reason
        reason = _probe(language)
        _known[language] = (reason, time.monotonic())
        return reason


def run(
    language: str, code: str, inputs: Sequence[str], *, seconds: float = 5, memory_mb: int = 256
) -> list[Run]:
    """Run a program once for each input, from nothing each time; UnavailableError if that cannot be safe."""
    if reason := why_not(language):
        raise UnavailableError(reason)
    return _run(language, code, inputs, seconds=seconds, memory_mb=memory_mb)


def passes(run: Run, expected: str) -> bool:
    """Compare a run with what was expected, blind to white space that ends a line and to empty last lines."""
    return run.outcome == "ok" and _trim(run.stdout) == _trim(expected)


def _trim(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _probe(language: str) -> str:
    if language not in LANGUAGES:
        return f"{language} is not a language of this service"
    try:
        (result,) = _run(language, LANGUAGES[language].probe, [""], seconds=20, memory_mb=256)
    except UnavailableError as error:
        return str(error)
    return (
        ""
        if passes(result, "42")
        else f"a {language} program ended with {result.outcome}: {result.stderr[-300:]}"
    )


def _run(language: str, code: str, inputs: Sequence[str], *, seconds: float, memory_mb: int) -> list[Run]:
    if sys.platform != "linux":
        raise UnavailableError("the sandbox needs Linux")
    spec = _spec(language, code, inputs, seconds=seconds, memory_mb=memory_mb)
    with _places:
        answer = _supervise(spec, patience=len(inputs) * (seconds + 5) + 10)
    if "fault" in answer:
        raise UnavailableError(f"this machine offers no sandbox: {answer['fault']}")
    return [Run(**run) for run in answer["runs"]]


def _spec(
    language: str, code: str, inputs: Sequence[str], *, seconds: float, memory_mb: int
) -> dict[str, Any]:
    """Write the supervisor's orders."""
    kind = LANGUAGES[language]
    tool = kind.find()
    if not tool:
        raise UnavailableError(f"{language} is not installed here")
    limits = {
        "RLIMIT_CPU": int(seconds) + 2,
        "RLIMIT_NPROC": _process_limit(),
        "RLIMIT_FSIZE": 16 * MIB,
        "RLIMIT_NOFILE": 128,
        "RLIMIT_CORE": 0,
        # The watch stops a program at memory_mb; these stop what is too fast for it.
        "RLIMIT_DATA": (memory_mb + 128) * MIB if kind.reserves else (memory_mb + 32) * MIB,
    }
    if not kind.reserves:
        limits["RLIMIT_AS"] = (memory_mb + 128) * MIB
    return {
        "command": [part.format(memory=memory_mb) for part in (tool, *kind.arguments)],
        "fine": kind.fine,
        "files": {kind.file: code, **kind.beside},
        "inputs": list(inputs),
        "walls": languages.walls(tool),
        "limits": limits,
        "seconds": seconds,
        "memory_bytes": memory_mb * MIB,
        "output_bytes": OUTPUT_BYTES,
    }


def _process_limit() -> int:
    """Leave room for PROCESSES of the program; before Linux 5.14 the limit counts the user's others too."""
    major, minor = (int(part) for part in os.uname().release.split(".")[:2])
    if (major, minor) >= (5, 14):
        return PROCESSES
    return PROCESSES + sum(1 for _ in Path("/proc").glob("[0-9]*/task/[0-9]*"))


def _supervise(spec: dict[str, Any], *, patience: float) -> dict[str, Any]:
    """Start the supervisor in a fresh interpreter with an empty environment and wait for its answer."""
    root = str(Path(__file__).resolve().parent.parent)
    start = "import sys; sys.path.append(sys.argv[1]); from gateways.jail.supervise import main; main()"
    with subprocess.Popen(  # noqa: S603 - our own interpreter and our own code
        [languages.python(), "-I", "-S", "-c", start, root],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={},
        cwd="/",
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(json.dumps(spec).encode(), timeout=patience)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode:
        return {"fault": err.decode(errors="replace").strip()[-300:] or f"exit {process.returncode}"}
    answer: dict[str, Any] = json.loads(out)
    return answer
