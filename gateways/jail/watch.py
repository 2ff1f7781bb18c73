"""The watch over one program: what it writes, how long it takes, and its memory where no control group counts it."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from typing import Any

from gateways.jail.groups import Group

POLL_SECONDS = 0.015  # where the watch alone holds memory
PATIENT_SECONDS = 0.05  # where the kernel does
STREAMS = ("out", "err", "note")


class WallError(Exception):
    """The walls could not be built here."""


class Watch:
    """Collects what a program writes, and stops it at the first limit it crosses or when nobody waits any more."""

    def __init__(
        self, spec: dict[str, Any], init: int, ends: dict[str, int], deadline: float, listener: int
    ) -> None:
        self.spec, self.init, self.ends, self.deadline = spec, init, ends, deadline
        self.listener = listener
        self.group: Group | None = None
        self.read = {name: bytearray() for name in STREAMS}
        self.open = {end: name for name, end in ends.items()}
        self.outcome = ""

    def until_end(self) -> None:
        """Read on until a limit is crossed, or everything has ended."""
        while self.open and not self.outcome:
            wait = PATIENT_SECONDS if self.group else POLL_SECONDS
            for end in select.select([*self.open, self.listener], [], [], wait)[0]:
                if end == self.listener:
                    self.outcome = "gone"
                    return
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
        return "memory" if self._overflows() else ""

    def _overflows(self) -> bool:
        if self.group:
            return self.group.overflowed()
        limit: int = self.spec["memory_bytes"]
        # What processes share counts once, which takes longer to find out and is looked at when it matters.
        return _memory(self.init, _resident) > limit and _memory(self.init, _proportional) > limit

    def note(self, kind: str) -> str:
        """Give what init told about this, once the line is whole."""
        for line in self.read["note"].decode(errors="replace").split("\n")[:-1]:
            if line.startswith(kind):
                return line[len(kind) + 1 :]
        return ""

    def until_noted(self, kind: str, seconds: float) -> None:
        """Wait for init to tell this, and for nothing else; raises WallError where it does not."""
        until = time.monotonic() + seconds
        note = self.ends["note"]
        while not self.note(kind):
            ready = select.select([note], [], [], max(0, until - time.monotonic()))[0]
            block = os.read(note, 1 << 16) if ready else b""
            self.read["note"] += block
            if fault := self.note("fault"):
                raise WallError(fault)
            if not block:
                raise WallError(f"the program is not {kind}")

    def end(self) -> None:
        """Leave nothing running: init takes everything along, and has ended once all of it is gone."""
        if self.outcome or self.open:
            os.kill(self.init, signal.SIGKILL)
        os.waitpid(self.init, 0)
        for end in self.ends.values():
            os.close(end)
        if self.group and not self.outcome and self.group.overflowed():
            self.outcome = "memory"  # too fast for the watch

    def answer(self) -> tuple[dict[str, Any], tuple[bytes, bytes]]:
        """Put together how it went, or raise WallError if the program never came to run."""
        if fault := self.note("fault"):
            raise WallError(fault)
        ended = self.note("ended")
        if not self.outcome and not ended:
            raise WallError("the program was lost before it ended")
        limit = self.spec["output_bytes"]
        out, err = (bytes(self.read[name][:limit]) for name in ("out", "err"))
        outcome = self.outcome or _outcome(int(ended), err, self.spec["fine"])
        return {"outcome": outcome, "exit_code": None if self.outcome else int(ended)}, (out, err)


# What the runtimes say when a limit, rather than the watch, refused them memory.
MEMORY_SIGNS = (
    b"MemoryError",
    b"out of memory",
    b"OutOfMemoryError",
    b"Allocation failed",
    b"annot allocate",
)


def _outcome(status: int, err: bytes, fine: list[int]) -> str:
    if status in fine:
        return "ok"
    if -status == signal.SIGXCPU:
        return "timeout"
    if -status == signal.SIGKILL or any(sign in err[-4000:] for sign in MEMORY_SIGNS):
        return "memory"
    return "error"


def _memory(root: int, measure: Callable[[int], int]) -> int:
    """Add up the memory of all descendants of a process, in bytes."""
    kilobytes, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError):  # it may have ended meanwhile
            kilobytes += measure(pid) if pid != root else 0
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                    waiting += map(int, file.read().split())
    return kilobytes * 1024


def _resident(pid: int) -> int:
    """Read lines as `RssAnon:      1234 kB`; files that are merely mapped cost nothing."""
    return _sum(f"/proc/{pid}/status", (b"RssAnon", b"RssShmem"))


def _proportional(pid: int) -> int:
    try:
        return _sum(f"/proc/{pid}/smaps_rollup", (b"Pss_Anon", b"Pss_Shmem"))
    except PermissionError:
        return _resident(pid)


def _sum(path: str, names: tuple[bytes, ...]) -> int:
    with open(path, "rb") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith(names))
