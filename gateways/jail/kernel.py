"""The system calls that Python has no name for, through the C library."""

import contextlib
import ctypes
import os
import signal
import struct

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 1 << 17, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30

RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
MNT_DETACH = 2

_SET_PDEATHSIG, _SET_DUMPABLE, _SET_SECCOMP, _SET_NO_NEW_PRIVS = 1, 4, 22, 38
_CAPABILITIES = 0x20080522  # the third version of capset's header
_MOUNT_SETATTR = 442  # the same number on every architecture
_CLONE = {"x86_64": 56, "aarch64": 220}
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000

_libc = ctypes.CDLL(None, use_errno=True)


def fork_apart(flags: int) -> int:
    """Fork into namespaces named by flags, where the child is the first process: 0 there, its id here.

    The C library and the interpreter are not told. So there may be one thread only, and the child may do no more than
    system calls and fork again.
    """
    number = _CLONE[os.uname().machine]
    return _check(
        "clone", _libc.syscall(number, ctypes.c_ulong(flags | signal.SIGCHLD), None, None, None, None)
    )


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount source at target."""
    names = [text.encode() or None for text in (source, target, kind)]
    _check(f"mount {target}", _libc.mount(*names, ctypes.c_ulong(flags), options.encode() or None))


def unmount(target: str) -> None:
    """Detach a mount and everything below it."""
    _check(f"unmount {target}", _libc.umount2(target.encode(), MNT_DETACH))


def pivot_root(new: str, old: str) -> None:
    """Make new the root; the former root appears at old."""
    _check("pivot_root", _libc.pivot_root(new.encode(), old.encode()))


def make_readonly(target: str) -> None:
    """Make target and every mount below it read-only and deaf to set-user-id bits (Linux 5.12)."""
    attributes = struct.pack("QQQQ", RDONLY | NOSUID, 0, 0, 0)
    arguments = (_AT_FDCWD, target.encode(), _AT_RECURSIVE, attributes, ctypes.c_size_t(len(attributes)))
    _check(f"mount_setattr {target}", _libc.syscall(_MOUNT_SETATTR, *arguments))


def die_with_parent() -> None:
    """Be killed when the parent ends, however it ends."""
    _check("prctl", _libc.prctl(_SET_PDEATHSIG, 9, 0, 0, 0))


def give_way(pid: int, niceness: int) -> None:
    """Have a session let others go first, where the kernel shares time between sessions before it does in them."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as file:
        file.write(str(niceness))


def drop_capabilities() -> None:
    """Give up every capability, and let this process look at its own files in /proc again."""
    header, nothing = struct.pack("Ii", _CAPABILITIES, 0), bytes(24)
    _check("capset", _libc.capset(header, nothing))
    _check("prctl", _libc.prctl(_SET_DUMPABLE, 1, 0, 0, 0))


def forbid_privileges() -> None:
    """Give up gaining rights by executing anything, for good."""
    _check("prctl", _libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def filter_calls(program: bytes) -> None:
    """Let a BPF program judge every system call from now on, for good."""
    buffer = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: the number of instructions, then where they are.
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    _check("seccomp", _libc.prctl(_SET_SECCOMP, 2, header, 0, 0))


def _check(what: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
