"""The supervisor: a small process that puts one program behind walls, once for each input, and watches it.

It reads its orders as JSON from standard input and answers with JSON on standard output. It starts on its own
(`python -I -S`), because a process with threads cannot safely fork and go on in Python.

    supervisor ── keeper (leaves the namespaces) ── init (first of its PIDs, builds the walls) ── the program

When init ends, the kernel ends everything that was started behind the walls.
"""

import binascii
import contextlib
import fcntl
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

from gateways.jail import kernel, walls

NAMESPACES = kernel.NEWUSER | kernel.NEWNS | kernel.NEWPID | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS
POLL_SECONDS = 0.015
STREAMS = ("out", "err", "note")
SEALS = 0x2 | 0x4 | 0x8  # neither shrinks nor grows nor changes


class WallError(Exception):
    """The walls could not be built here."""


def main() -> None:
    """Run the ordered program on every input and print what came out."""
    kernel.die_with_parent()
    kernel.give_way(walls.NICENESS)
    spec = json.loads(sys.stdin.buffer.read())
    answer: dict[str, Any]
    try:
        answer = {"runs": run_all(spec)}
    except (WallError, OSError) as error:
        answer = {"fault": str(error)}
    sys.stdout.write(json.dumps(answer))


# What is said of an input for which no time was left.
NOT_BEGUN = {"stdout": "", "stderr": "", "outcome": "timeout", "time_ms": 0}


def run_all(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the program on one input after the other, all of them within `together` seconds where that is given."""
    until = time.monotonic() + spec.get("together", 1e9)
    runs = []
    for given in spec["inputs"]:
        left = until - time.monotonic()
        hurried = spec | {"seconds": min(spec["seconds"], left)}
        runs.append(run(hurried, given) if left > 0 else NOT_BEGUN)
    return runs


def run(spec: dict[str, Any], given: str) -> dict[str, Any]:
    """Run the program once, on a text or on bytes written as base64; answer its output, how it ended and its time."""
    as_root = os.geteuid() == 0
    data = binascii.a2b_base64(given) if spec.get("binary") else given.encode(errors="surrogatepass")
    stdin = _sealed(data)
    pipes = {name: os.pipe() for name in ("out", "err", "note", "go")}
    started = time.monotonic()
    keeper = os.fork()
    if keeper == 0:
        _keep(spec, stdin, pipes, as_root=as_root)
    for end in (stdin, pipes["go"][0], *(pipes[name][1] for name in STREAMS)):
        os.close(end)
    watch = Watch(spec, keeper, {name: pipes[name][0] for name in STREAMS}, started + spec["seconds"])
    try:
        watch.until(lambda: b"apart\n" in watch.read["note"])
        if not watch.outcome and watch.open:
            _map_ids(keeper, as_root=as_root)
            os.write(pipes["go"][1], b"x")
        watch.until(lambda: False)
    finally:
        os.close(pipes["go"][1])
        watch.end()
    return watch.answer() | {"time_ms": int(1000 * (time.monotonic() - started))}


class Watch:
    """Collects what a program writes, and stops it at the first limit it crosses."""

    def __init__(self, spec: dict[str, Any], keeper: int, ends: dict[str, int], deadline: float) -> None:
        self.spec, self.keeper, self.ends, self.deadline = spec, keeper, ends, deadline
        self.read = dict.fromkeys(STREAMS, b"")
        self.open = {end: name for name, end in ends.items()}
        self.outcome = ""

    def until(self, met: Callable[[], bool]) -> None:
        """Read on until the condition is met, a limit is crossed, or everything has ended."""
        while self.open and not self.outcome and not met():
            for end in select.select(list(self.open), [], [], POLL_SECONDS)[0]:
                block = os.read(end, 1 << 16)
                self.read[self.open[end]] += block
                if not block:
                    del self.open[end]
            self.outcome = self._crossed()

    def _crossed(self) -> str:
        if max(len(self.read["out"]), len(self.read["err"])) > self.spec["output_bytes"]:
            return "output_limit"
        if time.monotonic() >= self.deadline:
            return "timeout"
        init = int(self.note("init") or 0)
        return "memory" if init and _memory(init) > self.spec["memory_bytes"] else ""

    def note(self, kind: str) -> str:
        """Give what the keeper or init told about this, once the line is whole."""
        for line in self.read["note"].decode(errors="replace").split("\n")[:-1]:
            if line.startswith(kind):
                return line[len(kind) + 1 :]
        return ""

    def end(self) -> None:
        """Leave nothing running: init takes everything along, and the keeper ends once all of it is gone."""
        if self.outcome or self.open:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(self.note("init") or self.keeper), signal.SIGKILL)
        os.waitpid(self.keeper, 0)
        for end in self.ends.values():
            os.close(end)

    def answer(self) -> dict[str, str]:
        """Put together how it went, or raise WallError if the program never came to run."""
        if fault := self.note("fault"):
            raise WallError(fault)
        ended = self.note("ended")
        if not self.outcome and not ended:
            raise WallError("the program was lost before it ended")
        limit = self.spec["output_bytes"]
        out, err = (self.read[name][:limit].decode(errors="replace") for name in ("out", "err"))
        return {
            "stdout": out,
            "stderr": err,
            "outcome": self.outcome or _outcome(int(ended), err, self.spec["fine"]),
        }


# What the runtimes say when a limit, rather than the watch, refused them memory.
MEMORY_SIGNS = ("MemoryError", "out of memory", "Allocation failed", "annot allocate")


def _outcome(status: int, err: str, fine: list[int]) -> str:
    if status in fine:
        return "ok"
    if -status == signal.SIGXCPU:
        return "timeout"
    if -status == signal.SIGKILL or any(sign in err[-2000:] for sign in MEMORY_SIGNS):
        return "memory"
    return "error"


def _memory(root: int) -> int:
    """Add up the memory of all descendants of a process, in bytes."""
    kilobytes, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError):  # it may have ended meanwhile
            with open(f"/proc/{pid}/status", "rb") as file:
                # Lines as `RssAnon:      1234 kB`; files that are merely mapped cost nothing.
                lines = [line.split() for line in file if line.startswith((b"RssAnon", b"RssShmem"))]
            kilobytes += sum(int(line[1]) for line in lines if pid != root)
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                    waiting += map(int, file.read().split())
    return kilobytes * 1024


def _map_ids(keeper: int, *, as_root: bool) -> None:
    """Say who the ids behind the walls are outside; root must never be one a program can have."""
    if as_root:
        tables = dict.fromkeys(("uid_map", "gid_map"), f"0 0 1\n{walls.INSIDE} {walls.NOBODY} 1\n")
    else:
        tables = {
            "setgroups": "deny",
            "uid_map": f"{walls.INSIDE} {os.geteuid()} 1\n",
            "gid_map": f"{walls.INSIDE} {os.getegid()} 1\n",
        }
    for name, table in tables.items():
        with open(f"/proc/{keeper}/{name}", "w", encoding="ascii") as file:
            file.write(table)


def _keep(spec: dict[str, Any], stdin: int, pipes: dict[str, tuple[int, int]], *, as_root: bool) -> NoReturn:
    """Leave the namespaces, start init, wait for it, end."""
    note = pipes["note"][1]
    try:
        kernel.die_with_parent()
        os.close(pipes["go"][1])
        kernel.unshare(NAMESPACES)
        os.write(note, b"apart\n")
        if not os.read(pipes["go"][0], 1):
            os._exit(1)
        life, held = os.pipe()
        init = os.fork()
        if init == 0:
            os.close(held)
            kernel.die_with_parent()
            if select.select([life], [], [], 0)[0]:
                os._exit(1)  # the keeper ended before it could take us along
            _init(spec, stdin, pipes, as_root=as_root)
        os.write(note, b"init %d\n" % init)
        for name in ("out", "err", "note"):
            os.close(pipes[name][1])
        os.waitpid(init, 0)
    except BaseException as error:  # there is nobody above: the note is the only way to tell
        os.write(note, f"fault {error}\n".encode())
    os._exit(0)


def _init(spec: dict[str, Any], stdin: int, pipes: dict[str, tuple[int, int]], *, as_root: bool) -> NoReturn:
    """Build the walls, start the program, and end as soon as it ends."""
    out, err, note = (pipes[name][1] for name in ("out", "err", "note"))
    try:
        walls.build(spec)
        program = os.fork()
        if program == 0:
            os.setpgid(0, 0)  # and no session of its own, which could weigh as much as the service's again
            for target, end in enumerate((stdin, out, err)):
                os.dup2(end, target)
            walls.enclose(spec, as_root=as_root)
            os.execve(spec["command"][0], spec["command"], walls.ENVIRONMENT)  # noqa: S606
        for end in (out, err, stdin):
            os.close(end)
        status = None
        while status is None:
            pid, ended = os.wait()
            if pid == program:
                status = os.waitstatus_to_exitcode(ended)
        os.write(note, b"ended %d\n" % status)
    except BaseException as error:
        os.write(note, f"fault {error}\n".encode())
    os._exit(0)


def _sealed(data: bytes) -> int:
    """Put an input into memory that the program can read and seek, and not change."""
    end = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(end, "wb", closefd=False) as file:
        file.write(data)
    fcntl.fcntl(end, fcntl.F_ADD_SEALS, SEALS)
    os.lseek(end, 0, os.SEEK_SET)
    return end
