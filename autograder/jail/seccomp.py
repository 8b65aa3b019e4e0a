"""The system calls a submission may not make, as a raw BPF filter for x86-64 and aarch64.

The namespaces already take away what these calls could reach. The filter takes away the kernel's own surface:
code that only a privileged process normally exercises, and where most escapes of recent years began.
"""

import ctypes
import errno
import os
import struct

from .kernel import call, libc

MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Call numbers, x86-64 and aarch64 (None: the machine has no such call).
DENIED = {
    # mounts
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    # namespaces (clone and clone3 are treated below)
    "unshare": (272, 97),
    "setns": (308, 268),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    # keyrings
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # programs and queues inside the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "fanotify_init": (300, 262),
    # memory and messages that no limit of ours counts
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmctl": (31, 195),
    "shmat": (30, 196),
    "shmdt": (67, 197),
    "semget": (64, 190),
    "semctl": (66, 191),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgctl": (71, 187),
    "msgrcv": (70, 188),
    "msgsnd": (69, 189),
    "mq_open": (240, 180),
    # files by handle, past every directory's permissions
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # the machine itself
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "vhangup": (153, 58),
    "personality": (135, 92),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
}
CLONE = {"x86_64": 56, "aarch64": 220}
CLONE3 = {"x86_64": 435, "aarch64": 435}
SOCKET = {"x86_64": 41, "aarch64": 198}
SOCKETPAIR = {"x86_64": 53, "aarch64": 199}

NAMESPACE_FLAGS = 0x7E020080  # CLONE_NEW: USER PID NET IPC UTS CGROUP, NS, TIME
SOCKET_FAMILIES = (1, 2)  # UNIX and INET; the network namespace they act in is empty
X32 = 0x40000000  # the bit that marks the x32 calls of an x86-64 kernel, which have numbers of their own

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCH, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data; the lower half of the argument
ALLOW, KILL = 0x7FFF0000, 0x80000000

Instruction = tuple[int, int, int, int]
"""Operation, instructions to skip when true, when false, operand."""


def program(machine: str) -> list[Instruction]:
    """The filter for `machine` ("x86_64" or "aarch64")."""
    column = list(AUDIT_ARCH).index(machine)
    lines = [
        (LOAD, 0, 0, ARCH),
        (EQUAL, 1, 0, AUDIT_ARCH[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
    ]
    if machine == "x86_64":
        lines += [(AT_LEAST, 0, 1, X32), _refuse(errno.EPERM)]
    for numbers in DENIED.values():
        if numbers[column] is not None:
            lines += [(EQUAL, 0, 1, numbers[column]), _refuse(errno.EPERM)]
    # clone3 passes its flags by pointer, where a filter cannot look; libc then falls back to clone.
    lines += [(EQUAL, 0, 1, CLONE3[machine]), _refuse(errno.ENOSYS)]
    lines += _when(CLONE[machine], [(ANY_BIT, 0, 1, NAMESPACE_FLAGS), _refuse(errno.EPERM)])
    for number in (SOCKET[machine], SOCKETPAIR[machine]):
        lines += _when(number, _only_families())
    return [*lines, (RETURN, 0, 0, ALLOW)]


def install() -> None:
    """Put the filter on this process and all its descendants, for good. Needs no_new_privs."""
    machine = MACHINES.get(os.uname().machine)
    if machine is None:
        raise OSError(f"no system call filter is written for the machine type {os.uname().machine}")
    lines = program(machine)
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *line) for line in lines))
    pointer = struct.pack("@HP", len(lines), ctypes.addressof(code))
    call(libc.prctl, "seccomp", 22, 2, ctypes.create_string_buffer(pointer), 0, 0)


def _refuse(error: int) -> Instruction:
    return (RETURN, 0, 0, 0x00050000 | error)


def _when(number: int, lines: list[Instruction]) -> list[Instruction]:
    """Run `lines` on the call's first argument, then allow; skip them all for any other call."""
    body = [(LOAD, 0, 0, FIRST_ARGUMENT), *lines, (RETURN, 0, 0, ALLOW)]
    return [(EQUAL, 0, len(body), number), *body]


def _only_families() -> list[Instruction]:
    count = len(SOCKET_FAMILIES)
    tests = [(EQUAL, count - i, 0, family) for i, family in enumerate(SOCKET_FAMILIES)]
    return [*tests, _refuse(errno.EAFNOSUPPORT)]
