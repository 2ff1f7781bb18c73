"""The supervisor: a small process that puts one program behind walls, once, and watches it.

It is forked from the fork server, which has neither threads nor anything to hide, and gets its order, with one input
and no other, over a socket. Who ordered and hangs up ends it all.

    fork server ── supervisor ── init (in new namespaces, first of its PIDs, builds the walls) ── program

When init ends, the kernel ends everything that was started behind the walls.
"""

import contextlib
import fcntl
import os
import signal
import socket
import time
from typing import Any, NoReturn

from gateways.jail import boxes, frames, kernel, walls, warm
from gateways.jail.groups import Groups
from gateways.jail.watch import STREAMS, WallError, Watch

NAMESPACES = kernel.NEWUSER | kernel.NEWNS | kernel.NEWPID | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS
OVERHEAD = 16 << 20  # what init and the walls take of a group's memory
OURS = 1  # process of a group that is not the program's
SEALS = 0x2 | 0x4 | 0x8  # neither shrinks nor grows nor changes


READY_SECONDS = 10.0  # for a process that waits for a program, to be there and to take it
TOO_LARGE = 1  # the status of a build that left more than may be kept


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
    stdin, kept = _in_memory("input", os.MFD_ALLOW_SEALING), _in_memory("kept")
    if "waits" not in spec:
        _seal(stdin, given)
    pipes = {name: os.pipe() for name in ("out", "err", "note", "go")}
    started = time.monotonic()
    try:
        init = kernel.fork_apart(NAMESPACES)
    except OSError as error:
        raise WallError(f"unshare: {error}") from error
    if init == 0:
        os.close(end.detach())
        _init(spec, box, (stdin, kept), pipes, as_root=as_root)
    for one in (pipes["go"][0], *(pipes[name][1] for name in STREAMS)):
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
            os.read(ends["note"], 1)  # it has a session of its own now, or has ended
            kernel.give_way(init, walls.NICENESS)  # and the watch need not
            os.write(pipes["go"][1], b"x")
            if "waits" in spec:
                started = _give_program(end, watch, stdin, kept, pipes["go"][1])
            watch.until_end()
        finally:
            os.close(stdin)
            os.close(pipes["go"][1])
            watch.end()
        answer, blocks = watch.answer()
    finally:
        if group:
            group.remove()
    answer["time_ms"] = int(1000 * (time.monotonic() - started))
    return answer, (*blocks, _whole(kept))


def _give_program(end: socket.socket, watch: Watch, stdin: int, kept: int, go: int) -> float:
    """Have the process wait for a program, and give it that; return when."""
    watch.until_noted("ready", READY_SECONDS)
    frames.send(end, {"ready": True})
    order, (given, box) = frames.receive(end)
    started = time.monotonic()
    watch.deadline = started + order["seconds"]
    _seal(stdin, given)
    _fill(kept, box)
    os.write(go, b"x")
    watch.until_noted("begun", READY_SECONDS)
    os.ftruncate(kept, 0)
    frames.send(end, {"begun": True})
    return started


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
        os.setsid()
        os.write(note, b"\n")
        _be_first_to_go()
        os.close(pipes["go"][1])
        if not os.read(pipes["go"][0], 1):
            os._exit(1)  # the supervisor ended before it could take us along
        walls.build(spec, box)
        program = os.fork()
        if program == 0:
            os.setpgid(0, 0)  # and no session of its own, which could weigh as much as the service's
            for target, end in enumerate((stdin, out, err)):
                os.dup2(end, target)
            _program(spec, note, as_root=as_root)
        for end in (out, stdin):
            os.close(end)
        if "waits" in spec:
            _wait_for_program(spec["waits"], kept, pipes["go"][0], note)
        status = _until_ended(program)
        if spec.get("keep") and status in spec["fine"]:
            status = _keep_box(kept, err)
        os.write(note, b"ended %d\n" % status)
    except warm.Become:
        raise
    except BaseException as error:
        os.write(note, f"fault {error}\n".encode())
    os._exit(0)


def _until_ended(program: int) -> int:
    """Wait for a program and for whatever it left to init meanwhile; return its status."""
    while True:
        pid, ended = os.wait()
        if pid == program:
            return os.waitstatus_to_exitcode(ended)


def _wait_for_program(path: str, kept: int, go: int, note: int) -> None:
    """Have a process wait in its opening of the program's file, until there is a program; the pipe is gone by then."""
    with open(os.open(path, os.O_WRONLY), "wb", buffering=0) as pipe:
        os.write(note, b"ready 1\n")
        if not os.read(go, 1):
            os._exit(1)
        os.unlink(path)
        boxes.unpack(_whole(kept), walls.BOX)
        with open(path, "rb") as file:
            text = memoryview(file.read())
        while text:
            text = text[pipe.write(text) :]
    os.write(note, b"begun 1\n")


def _program(spec: dict[str, Any], note: int, *, as_root: bool) -> NoReturn:
    """Become the program: in this interpreter if it is one of its own, else by executing it."""
    command, environment = spec["command"], walls.ENVIRONMENT | spec.get("environment", {})
    start = warm.starting(command) if spec.get("warm") else None
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


def _in_memory(name: str, flags: int = 0) -> int:
    return os.memfd_create(name, os.MFD_CLOEXEC | flags)


def _fill(end: int, data: bytes) -> None:
    with open(end, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(end, 0, os.SEEK_SET)


def _seal(end: int, data: bytes) -> None:
    """Put an input into memory that the program can read and seek, and not change."""
    _fill(end, data)
    fcntl.fcntl(end, fcntl.F_ADD_SEALS, SEALS)
