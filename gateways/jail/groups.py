"""Control groups: the kernel's own count of all memory and processes of one run, where this machine lets us have any.

Version 1 or 2, whichever holds memory and processes here. Every kind of memory counts there: that of processes,
what pipes and sockets hold, files in the small folder, the kernel's own tables.
"""

import contextlib
import os
import signal
from typing import NamedTuple

NAME = "hiring-run"
MOUNTS, OWN = "/proc/self/mountinfo", "/proc/self/cgroup"
HIGHEST = 1 << 50
EVERYTHING = "+memory +pids"


class Groups(NamedTuple):
    """Where the groups of runs are made: a folder for each controller, both the same in version 2."""

    version: int
    memory: str
    pids: str

    def make(self, memory_bytes: int, processes: int) -> "Group":
        """Make the group of one run; raises OSError."""
        group = Group(
            self, tuple(dict.fromkeys(f"{base}/{NAME}-{os.getpid()}" for base in (self.memory, self.pids)))
        )
        try:
            for folder in group.folders:
                os.mkdir(folder)
            memory, pids = group.folders[0], group.folders[-1]
            if self.version == 1:
                _write(f"{memory}/memory.limit_in_bytes", memory_bytes)
                with contextlib.suppress(OSError):  # only where swap is counted
                    _write(f"{memory}/memory.memsw.limit_in_bytes", memory_bytes)
            else:
                _write(f"{memory}/memory.max", memory_bytes)
                with contextlib.suppress(OSError):
                    _write(f"{memory}/memory.swap.max", 0)
                _write(f"{memory}/memory.oom.group", 1)
            _write(f"{pids}/pids.max", processes)
        except OSError:
            group.remove()
            raise
        return group


class Group(NamedTuple):
    """The group of one run."""

    groups: Groups
    folders: tuple[str, ...]

    def add(self, pid: int) -> None:
        """Count a process, and all that it will start, from now on."""
        for folder in self.folders:
            _write(f"{folder}/cgroup.procs", pid)

    def overflowed(self) -> bool:
        """Say whether the kernel had to end anything for want of memory."""
        name = "memory.oom_control" if self.groups.version == 1 else "memory.events"
        with contextlib.suppress(OSError), open(f"{self.folders[0]}/{name}", "rb", buffering=0) as file:
            for line in file.read().split(b"\n"):
                if line.startswith(b"oom_kill "):
                    return int(line.split()[1]) > 0
        return False

    def remove(self) -> None:
        """Give it up; nothing runs in it any more."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                os.rmdir(folder)


def find() -> Groups | str:
    """Find where groups can be made, by making one and putting a process into it; or say why there is no place."""
    try:
        reasons = []
        for one in _places():
            try:
                _try(one)
            except OSError as error:
                reasons.append(f"{error.filename or one.memory}: {error.strerror}")
            else:
                _sweep(one)
                return one
        return "; ".join(reasons) or "no control group holds memory and processes here"
    except (OSError, ValueError, LookupError) as error:
        return f"control groups cannot be read here: {error}"


def _places() -> list[Groups]:
    """List where they could be, best first."""
    with open(MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
        mounts = [line.split() for line in file]
    with open(OWN, encoding="utf-8", errors="surrogateescape") as file:
        own = [line.rstrip("\n").split(":", 2) for line in file]
    folders: dict[str, tuple[str, str]] = {}  # by controller, "" for version 2: ours, and where it is mounted
    for number, controllers, path in own:
        for name in controllers.split(",") if number != "0" else [""]:
            for mount in mounts:
                kind, _, options = mount[mount.index("-") + 1 :][:3]
                if kind == ("cgroup" if name else "cgroup2") and (not name or name in options.split(",")):
                    folders.setdefault(name, (_below(mount[4], mount[3], path), mount[4]))
    found = []
    if "memory" in folders and "pids" in folders:
        found.append(Groups(1, folders["memory"][0], folders["pids"][0]))
    if "" in folders:
        ours, top = folders[""]
        # A group that has members cannot divide what it has: there one beside ours may do.
        found += [Groups(2, one, one) for one in (ours, os.path.dirname(ours)) if one.startswith(top)]
    return found


def _below(mount: str, root: str, path: str) -> str:
    """Find our group in what a mount shows of the hierarchy, which in a container is our part of it alone."""
    if root != "/" and path.startswith(root):
        path = path[len(root) :]
    folder = f"{mount}/{path.strip('/')}".rstrip("/")
    return folder if os.path.isdir(folder) else mount


def _try(groups: Groups) -> None:
    if groups.version == 2:
        with open(f"{groups.memory}/cgroup.subtree_control", encoding="ascii") as file:
            if not {"memory", "pids"} <= set(file.read().split()):
                _write(f"{groups.memory}/cgroup.subtree_control", EVERYTHING)
    group = groups.make(64 << 20, 16)
    held, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        os.read(held, 1)
        os._exit(0)
    try:
        group.add(child)
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(end)
        os.close(held)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        group.remove()


def _sweep(groups: Groups) -> None:
    """Remove what supervisors that were killed left behind."""
    for base in {groups.memory, groups.pids}:
        for name in os.listdir(base):
            if name.startswith(f"{NAME}-") and not os.path.exists(f"/proc/{name.rpartition('-')[2]}"):
                with contextlib.suppress(OSError):
                    os.rmdir(f"{base}/{name}")


def _write(path: str, value: object) -> None:
    # One call, unbuffered: each write is an order of its own.
    end = os.open(path, os.O_WRONLY)
    try:
        os.write(end, str(value).encode())
    except OSError as error:
        error.filename = path
        raise
    finally:
        os.close(end)
