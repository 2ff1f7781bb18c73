"""The filter on system calls: a BPF program that refuses what a short program never needs."""

import platform
import struct

# Call -> its number on x86_64 and on aarch64.
REFUSED = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),  # memory that belongs to no process, which the watch cannot see
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "msgget": (68, 186),  # the same as memfd_create
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "semget": (64, 190),  # the same as memfd_create
    "setns": (308, 268),
    "shmget": (29, 194),  # the same as memfd_create
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
SOCKET, CLONE = (41, 198), (56, 220)
CLONE3 = 435  # its flags are behind a pointer; "not implemented" makes the C library use clone
FAMILIES = (1, 2, 10)  # Unix, IPv4, IPv6; vsock, for one, knows no namespaces
NEW_NAMESPACE = 0x7E020000  # every CLONE_NEW… flag but the one for time, which only unshare takes

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # the column above, the audit architecture

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data


def program() -> bytes:
    """Write the filter for this machine, 8 bytes an instruction; raise OSError for an unknown one."""
    if platform.machine() not in MACHINES:
        raise OSError(_ENOSYS, f"no system call filter for {platform.machine()}")
    column, architecture = MACHINES[platform.machine()]
    # An instruction is (what, how many to jump over if so, if not, operand).
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, 0x40000000),  # x32 calls on x86_64: the same kernel under other numbers
        (_RETURN, 0, 0, _KILL),
    ]
    for numbers in REFUSED.values():
        steps += [(_EQUAL, 0, 1, numbers[column]), (_RETURN, 0, 0, _REFUSE | _EPERM)]
    steps += [
        (_EQUAL, 0, 1, CLONE3),
        (_RETURN, 0, 0, _REFUSE | _ENOSYS),
        (_EQUAL, 0, 4, CLONE[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, NEW_NAMESPACE),
        (_RETURN, 0, 0, _REFUSE | _EPERM),
        (_RETURN, 0, 0, _ALLOW),
        (_EQUAL, 1, 0, SOCKET[column]),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        *((_EQUAL, len(FAMILIES) - place, 0, family) for place, family in enumerate(FAMILIES)),
        (_RETURN, 0, 0, _REFUSE | _EAFNOSUPPORT),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
