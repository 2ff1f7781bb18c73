"""What a program in the jail can see: a file system of its own, and limits on everything."""

import contextlib
import os
import resource
from typing import Any

from gateways.jail import boxes, calls, kernel

BOX = "/box"
INSIDE = 1000  # the user and group id a program believes to have
NOBODY = 65534  # who that is outside when the service runs as root
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": BOX, "TMPDIR": BOX, "LANG": "C.UTF-8"}
DEVICES = ("null", "zero", "full", "random", "urandom")

PROCESSES = 128  # and threads, of one program
BOX_MIB, SHARED_MIB = 16, 8

NICENESS = 10  # requests and the watch come first

_SPACE = kernel.NOSUID | kernel.NODEV


def build(spec: dict[str, Any], box: bytes = b"") -> None:
    """Make the jail's file system the root of this process, the first one in new namespaces."""
    # Links on the way to what is shown lead somewhere as long as the root is the machine's.
    real = {path: os.path.realpath(os.path.dirname(path)) for _, path in spec["walls"]}
    kernel.mount("none", "/", flags=kernel.REC | kernel.PRIVATE)
    # /tmp is only where the new root is hung up: once it is the root, the real /tmp is back at /.old/tmp.
    kernel.mount("tmpfs", "/tmp", "tmpfs", _SPACE, "mode=0755,size=1m")  # noqa: S108 - a mount point
    os.chdir("/tmp")  # noqa: S108
    os.mkdir(".old")
    kernel.pivot_root(".", ".old")
    os.chdir("/")

    for action, path in spec["walls"]:
        _ACTIONS[action](path, real[path])
    os.mkdir("/dev")
    for name in DEVICES:
        _bind(f"/dev/{name}", "/dev")
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{target}", f"/dev/{name}")
    _write("/etc/passwd", f"box:x:{INSIDE}:{INSIDE}::{BOX}:/bin/sh\n")
    _write("/etc/group", f"box:x:{INSIDE}:\n")
    os.mkdir(BOX)
    if not os.path.exists("/tmp"):  # noqa: S108 - it does where something shown lies below it
        os.symlink(BOX, "/tmp")  # noqa: S108
    os.mkdir("/proc")
    # Only while the real /proc is still below /.old does the kernel let us mount another. A container that
    # masks parts of /proc allows none at all; programs do without.
    with contextlib.suppress(PermissionError):
        kernel.mount("proc", "/proc", "proc", _SPACE | kernel.NOEXEC)

    kernel.unmount("/.old")
    os.rmdir("/.old")
    os.mkdir("/dev/shm")  # noqa: S108 - where locks between processes live
    kernel.make_readonly("/")
    own = f"uid={INSIDE},gid={INSIDE},nr_inodes"
    size = spec.get("box_mib", BOX_MIB) + (len(box) >> 20)
    kernel.mount("tmpfs", BOX, "tmpfs", _SPACE, f"mode=0700,size={size}m,{own}={size * 64}")
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", _SPACE, f"mode=0700,size={SHARED_MIB}m,{own}=256")  # noqa: S108
    os.chdir(BOX)
    if box:
        boxes.unpack(box, BOX)
    for name, text in spec["files"].items():
        _write(name, text)
    if "waits" in spec:
        os.mkfifo(spec["waits"])
        os.chmod(spec["waits"], 0o644)


def enclose(spec: dict[str, Any], *, as_root: bool) -> None:
    """Take the limits, then give up every right; nothing may run after it but the program."""
    for name, value in spec["limits"].items():
        limit = getattr(resource, name)
        _, hard = resource.getrlimit(limit)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)  # noqa: PLW2901
        resource.setrlimit(limit, (value, value))
    os.nice(NICENESS)
    if as_root:
        os.setgroups([])
        os.setresgid(INSIDE, INSIDE, INSIDE)
        os.setresuid(INSIDE, INSIDE, INSIDE)
    kernel.drop_capabilities()  # executing anything would; a program in this interpreter does not
    kernel.forbid_privileges()
    kernel.filter_calls(calls.program())


def _bind(path: str, real: str) -> None:
    """Show a file or folder of the machine at its own path; a link is copied, what is missing left out.

    `real` is the folder that holds it, without a link.
    """
    source = f"/.old{real}/{os.path.basename(path)}"
    if os.path.islink(source):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.lexists(path):
            os.symlink(os.readlink(source), path)
        return
    if os.path.isdir(source):
        os.makedirs(path, exist_ok=True)
    elif os.path.exists(source):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.exists(path):
            _write(path, "")
    else:
        return
    kernel.mount(source, path, flags=kernel.BIND | kernel.REC)


def _hide(path: str, _: str) -> None:
    """Cover a folder that became visible with another one."""
    if os.path.isdir(path):
        kernel.mount("tmpfs", path, "tmpfs", _SPACE, "mode=0755,size=1m")


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)
    os.chmod(path, 0o644)


_ACTIONS = {"bind": _bind, "hide": _hide}
