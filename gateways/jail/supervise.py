"""The supervisor: a small process that puts one program behind walls, once, and watches it.

It is forked from the fork server, which has neither threads nor anything to hide, and gets its order, with one input
and no other, over a socket. Who ordered and hangs up ends it all.

    fork server ── supervisor ── init (in new namespaces, first of its PIDs, builds the walls) ── program

When init ends, the kernel ends everything that was started behind the walls.
"""

import contextlib
import fcntl
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Any, NoReturn

from gateways.jail import boxes, frames, kernel, walls, warm
from gateways.jail.groups import Group, Groups

NAMESPACES = kernel.NEWUSER | kernel.NEWNS | kernel.NEWPID | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS
POLL_SECONDS = 0.015  # where the watch alone holds memory
PATIENT_SECONDS = 0.05  # where the kernel does
OVERHEAD = 16 << 20  # what init and the walls take of a group's memory
OURS = 1  # process of a group that is not the program's
STREAMS = ("out", "err", "note")
SEALS = 0x2 | 0x4 | 0x8  # neither shrinks nor grows nor changes


TOO_LARGE = 1  # the status of a build that left more than may be kept


class WallError(Exception):
    """The walls could not be built here."""


def main(end: socket.socket, groups: Groups | None) -> NoReturn:
    """Carry out one order and answer; the process of the program itself leaves by `warm.Become`."""
    kernel.die_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        frames.send(end, {"begun": True})
        spec, (given, box) = frames.receive(end)
        try:
            answer, blocks = run(spec, given, box, end, groups)
            frames.send(end, answer, *blocks)
        except (WallError, OSError) as error:
            frames.send(end, {"fault": str(error)})
    except (frames.GoneError, OSError):  # nobody listens any more
        os._exit(1)
    os._exit(0)


def run(
    spec: dict[str, Any], given: bytes, box: bytes, end: socket.socket, groups: Groups | None
) -> tuple[dict[str, Any], tuple[bytes, bytes, bytes]]:
    """Run the program once, on one input; answer how it ended and its time, then its output and what it built."""
    as_root = os.geteuid() == 0
    stdin, kept = _sealed(given), os.memfd_create("kept", os.MFD_CLOEXEC)
    pipes = {name: os.pipe() for name in ("out", "err", "note", "go")}
    started = time.monotonic()
    try:
        init = kernel.fork_apart(NAMESPACES)
    except OSError as error:
        raise WallError(f"unshare: {error}") from error
    if init == 0:
        os.close(end.detach())
        _init(spec, box, (stdin, kept), pipes, as_root=as_root)
    for one in (stdin, pipes["go"][0], *(pipes[name][1] for name in STREAMS)):
        os.close(one)
    group = None
    ends = {name: pipes[name][0] for name in STREAMS}
    try:
        watch = Watch(spec, init, ends, started + spec["seconds"], end.fileno())
        try:
            if groups:
                watch.group = group = groups.make(spec["memory_bytes"] + OVERHEAD, walls.PROCESSES + OURS)
                group.add(init)
            _map_ids(init, as_root=as_root)
            os.write(pipes["go"][1], b"x")
            watch.until_end()
        finally:
            os.close(pipes["go"][1])
            watch.end()
        answer, blocks = watch.answer()
    finally:
        if group:
            group.remove()
    answer["time_ms"] = int(1000 * (time.monotonic() - started))
    return answer, (*blocks, _whole(kept))


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
        return {"outcome": self.outcome or _outcome(int(ended), err, self.spec["fine"])}, (out, err)


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
    if -status == signal.SIGKILL or any(sign in err[-2000:] for sign in MEMORY_SIGNS):
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


def _map_ids(init: int, *, as_root: bool) -> None:
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
        with open(f"/proc/{init}/{name}", "w", encoding="ascii") as file:
            file.write(table)


def _init(
    spec: dict[str, Any],
    box: bytes,
    files: tuple[int, int],
    pipes: dict[str, tuple[int, int]],
    *,
    as_root: bool,
) -> NoReturn:
    """Build the walls, start the program, and end as soon as it ends, with what it built if that is wanted."""
    out, err, note = (pipes[name][1] for name in ("out", "err", "note"))
    stdin, kept = files
    try:
        kernel.die_with_parent()
        _be_first_to_go()
        os.close(pipes["go"][1])
        if not os.read(pipes["go"][0], 1):
            os._exit(1)  # the supervisor ended before it could take us along
        walls.build(spec, box)
        program = os.fork()
        if program == 0:
            os.setpgid(0, 0)  # and no session of its own, which could weigh as much as the service's again
            for target, end in enumerate((stdin, out, err)):
                os.dup2(end, target)
            _program(spec, note, as_root=as_root)
        for end in (out, stdin):
            os.close(end)
        status = None
        while status is None:
            pid, ended = os.wait()
            if pid == program:
                status = os.waitstatus_to_exitcode(ended)
        if spec.get("keep") and status in spec["fine"]:
            status = _keep_box(kept, err)
        os.write(note, b"ended %d\n" % status)
    except warm.Become:
        raise
    except BaseException as error:
        os.write(note, f"fault {error}\n".encode())
    os._exit(0)


def _program(spec: dict[str, Any], note: int, *, as_root: bool) -> NoReturn:
    """Become the program: in this interpreter if it is one of its own, else by executing it."""
    command, environment = spec["command"], walls.ENVIRONMENT | spec.get("environment", {})
    start = warm.starting(command, environment) if spec.get("warm") else None
    walls.enclose(spec, as_root=as_root)
    if start:
        os.closerange(3, 1 << 16)
        raise warm.Become(start)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(command[0], command, environment)  # noqa: S606
    except OSError as error:
        os.write(note, f"fault {error}\n".encode())
    os._exit(127)


def _keep_box(kept: int, err: int) -> int:
    """Keep what the program left in its box; return its status, which is no success where that is too much."""
    _end_the_rest()
    try:
        with open(kept, "wb", closefd=False) as file:
            file.write(boxes.pack(walls.BOX))
    except boxes.BoxError as error:
        os.write(err, f"{error}\n".encode())
        return TOO_LARGE
    return 0


def _end_the_rest() -> None:
    """End whatever the program left running, so that nothing changes its files any more; only init may do so."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def _be_first_to_go() -> None:
    """Have the kernel end these before anybody else when the machine has no memory left."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


def _whole(end: int) -> bytes:
    """Read what was written to a file in memory, and close it."""
    os.lseek(end, 0, os.SEEK_SET)
    with open(end, "rb") as file:
        return file.read()


def _sealed(data: bytes) -> int:
    """Put an input into memory that the program can read and seek, and not change."""
    end = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(end, "wb", closefd=False) as file:
        file.write(data)
    fcntl.fcntl(end, fcntl.F_ADD_SEALS, SEALS)
    os.lseek(end, 0, os.SEEK_SET)
    return end
