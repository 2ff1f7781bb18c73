"""The filter on system calls: a BPF program that knows what short programs and their runtimes need, and nothing else.

Everything that is not listed is "not implemented", which the C library and the runtimes know how to go on from; the
calls of another machine type or numbering end the program. Later kernels' calls wait until somebody needs them.
"""

import functools
import platform
import struct
from collections.abc import Iterable

# Call -> its number on x86_64 and on aarch64, where it may be known by a later one alone.
ALLOWED: dict[str, tuple[int, int | None]] = {
    # Files: what is open, and what a path names.
    "access": (21, None),
    "chdir": (80, 49),
    "chmod": (90, None),
    "chown": (92, None),
    "close": (3, 57),
    "close_range": (436, 436),
    "copy_file_range": (326, 285),
    "creat": (85, None),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "fadvise64": (221, 223),
    "fallocate": (285, 47),
    "fchdir": (81, 50),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "fcntl": (72, 25),
    "fdatasync": (75, 83),
    "fgetxattr": (193, 10),
    "flistxattr": (196, 13),
    "flock": (73, 32),
    "fstat": (5, 80),
    "fstatfs": (138, 44),
    "fsync": (74, 82),
    "ftruncate": (77, 46),
    "futimesat": (261, None),
    "getcwd": (79, 17),
    "getdents": (78, None),
    "getdents64": (217, 61),
    "getxattr": (191, 8),
    "ioctl": (16, 29),
    "lchown": (94, None),
    "lgetxattr": (192, 9),
    "link": (86, None),
    "linkat": (265, 37),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "lseek": (8, 62),
    "lstat": (6, None),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "newfstatat": (262, 79),
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "pread64": (17, 67),
    "preadv": (295, 69),
    "preadv2": (327, 286),
    "pwrite64": (18, 68),
    "pwritev": (296, 70),
    "pwritev2": (328, 287),
    "read": (0, 63),
    "readahead": (187, 213),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "readv": (19, 65),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "rmdir": (84, None),
    "sendfile": (40, 71),
    "splice": (275, 76),
    "stat": (4, None),
    "statfs": (137, 43),
    "statx": (332, 291),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "sync_file_range": (277, 84),
    "tee": (276, 77),
    "truncate": (76, 45),
    "umask": (95, 166),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
    "write": (1, 64),
    "writev": (20, 66),
    # Waiting for several at once, and pipes.
    "epoll_create": (213, None),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_pwait": (281, 22),
    "epoll_pwait2": (441, 441),
    "epoll_wait": (232, None),
    "eventfd": (284, None),
    "eventfd2": (290, 19),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "poll": (7, None),
    "ppoll": (271, 73),
    "pselect6": (270, 72),
    "select": (23, None),
    "signalfd": (282, None),
    "signalfd4": (289, 74),
    # Sockets, of the families below.
    "accept": (43, 202),
    "accept4": (288, 242),
    "bind": (49, 200),
    "connect": (42, 203),
    "getpeername": (52, 205),
    "getsockname": (51, 204),
    "getsockopt": (55, 209),
    "listen": (50, 201),
    "recvfrom": (45, 207),
    "recvmmsg": (299, 243),
    "recvmsg": (47, 212),
    "sendmmsg": (307, 269),
    "sendmsg": (46, 211),
    "sendto": (44, 206),
    "setsockopt": (54, 208),
    "shutdown": (48, 210),
    # Memory.
    "brk": (12, 214),
    "get_mempolicy": (239, 236),
    "madvise": (28, 233),
    "membarrier": (324, 283),
    "mincore": (27, 232),
    "mlock": (149, 228),
    "mlock2": (325, 284),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "msync": (26, 227),
    "munlock": (150, 229),
    "munmap": (11, 215),
    "pkey_alloc": (330, 289),
    "pkey_free": (331, 290),
    "pkey_mprotect": (329, 288),
    # Processes and threads.
    "arch_prctl": (158, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "fork": (57, None),
    "futex": (202, 98),
    "futex_waitv": (449, 449),
    "get_robust_list": (274, 100),
    "getcpu": (309, 168),
    "getpgid": (121, 155),
    "getpgrp": (111, None),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getpriority": (140, 141),
    "getsid": (124, 156),
    "gettid": (186, 178),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "prctl": (157, 167),
    "rseq": (334, 293),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "sched_getaffinity": (204, 123),
    "sched_getattr": (315, 275),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_rr_get_interval": (148, 127),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_yield": (24, 124),
    "set_robust_list": (273, 99),
    "set_tid_address": (218, 96),
    "setpgid": (109, 154),
    "setpriority": (141, 140),
    "setsid": (112, 157),
    "vfork": (58, None),
    "wait4": (61, 260),
    "waitid": (247, 95),
    # Signals and time.
    "alarm": (37, None),
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "getitimer": (36, 102),
    "gettimeofday": (96, 169),
    "kill": (62, 129),
    "nanosleep": (35, 101),
    "pause": (34, None),
    "restart_syscall": (219, 128),
    "rt_sigaction": (13, 134),
    "rt_sigpending": (127, 136),
    "rt_sigprocmask": (14, 135),
    "rt_sigqueueinfo": (129, 138),
    "rt_sigreturn": (15, 139),
    "rt_sigsuspend": (130, 133),
    "rt_sigtimedwait": (128, 137),
    "rt_tgsigqueueinfo": (297, 240),
    "setitimer": (38, 103),
    "sigaltstack": (131, 132),
    "tgkill": (234, 131),
    "time": (201, None),
    "times": (100, 153),
    "tkill": (200, 130),
    # Who and where it is, and its limits.
    "capget": (125, 90),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getgroups": (115, 158),
    "getrandom": (318, 278),
    "getresgid": (120, 150),
    "getresuid": (118, 148),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "getuid": (102, 174),
    "prlimit64": (302, 261),
    "setfsgid": (123, 152),
    "setfsuid": (122, 151),
    "setgid": (106, 144),
    "setregid": (114, 143),
    "setresgid": (119, 149),
    "setresuid": (117, 147),
    "setreuid": (113, 145),
    "setrlimit": (160, 164),
    "setuid": (105, 146),
    "sysinfo": (99, 179),
    "uname": (63, 160),
}
# By their first argument: a socket's family, and what a process or thread does not share with whoever starts it.
SOCKETS, CLONE = ((41, 198), (53, 199)), (56, 220)
FAMILIES = (1, 2, 10)  # Unix, IPv4, IPv6; vsock, for one, knows no namespaces
NEW_NAMESPACE = 0x7E020000  # every CLONE_NEW… flag but the one for time, which only unshare takes

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # the column above, the audit architecture

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data


@functools.cache
def program(machine: str = "") -> bytes:
    """Write the filter for this machine, 8 bytes an instruction; raise OSError for an unknown one."""
    machine = machine or platform.machine()
    if machine not in MACHINES:
        raise OSError(_ENOSYS, f"no system call filter for {machine}")
    column, architecture = MACHINES[machine]
    plain = {numbers[column] for numbers in ALLOWED.values()}
    sockets, clone = {pair[column] for pair in SOCKETS}, CLONE[column]
    # An instruction is (what, how many to jump over if so, if not, operand).
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, 0x40000000),  # x32 calls on x86_64: the same kernel under other numbers
        (_RETURN, 0, 0, _KILL),
    ]
    for first, last in _spans(number for number in plain if number is not None):
        steps += [(_AT_LEAST, 0, 2, first), (_AT_LEAST, 1, 0, last + 1), (_RETURN, 0, 0, _ALLOW)]
    steps += [
        (_EQUAL, 0, 4, clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, NEW_NAMESPACE),
        (_RETURN, 0, 0, _REFUSE | _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    for number in sorted(sockets):
        steps += [
            (_EQUAL, 0, len(FAMILIES) + 3, number),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            *((_EQUAL, len(FAMILIES) - place, 0, family) for place, family in enumerate(FAMILIES)),
            (_RETURN, 0, 0, _REFUSE | _EAFNOSUPPORT),
            (_RETURN, 0, 0, _ALLOW),
        ]
    steps += [(_RETURN, 0, 0, _REFUSE | _ENOSYS)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def _spans(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Put numbers that follow each other together: (first, last)."""
    spans: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return spans
