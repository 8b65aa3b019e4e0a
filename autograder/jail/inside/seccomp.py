"""The system calls a submission may make, as a raw BPF filter for x86-64 and aarch64.

The namespaces already take away what other calls could reach. The filter takes away the kernel's own surface:
code that only a privileged process normally exercises, and where most escapes of recent years began.

What is in ALLOWED may be called: what ordinary programs call, much as in the lists of container engines. What is in DENIED is
an error of permission, with the reason beside it. Whatever else there is, and whatever a newer kernel will bring, does not
exist (ENOSYS); libraries that try a new call go on with an older one then.
"""

import ctypes
import errno
import os
import struct

from .kernel import call, libc

MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Call numbers, x86-64 and aarch64 (None: the machine has no such call).
# fmt: off
ALLOWED = {
    # files
    "read": (0, 63), "write": (1, 64), "open": (2, None), "openat": (257, 56), "openat2": (437, 437),
    "creat": (85, None), "close": (3, 57), "close_range": (436, 436), "lseek": (8, 62), "pread64": (17, 67),
    "pwrite64": (18, 68), "readv": (19, 65), "writev": (20, 66), "preadv": (295, 69), "pwritev": (296, 70),
    "preadv2": (327, 286), "pwritev2": (328, 287), "stat": (4, None), "lstat": (6, None), "fstat": (5, 80),
    "newfstatat": (262, 79), "statx": (332, 291), "access": (21, None), "faccessat": (269, 48),
    "faccessat2": (439, 439), "readlink": (89, None), "readlinkat": (267, 78), "getdents": (78, None),
    "getdents64": (217, 61), "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50), "rename": (82, None),
    "renameat": (264, 38), "renameat2": (316, 276), "mkdir": (83, None), "mkdirat": (258, 34),
    "rmdir": (84, None), "link": (86, None), "linkat": (265, 37), "symlink": (88, None), "symlinkat": (266, 36),
    "unlink": (87, None), "unlinkat": (263, 35), "mknod": (133, None), "mknodat": (259, 33),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "umask": (95, 166),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "truncate": (76, 45), "ftruncate": (77, 46), "fallocate": (285, 47), "fadvise64": (221, 223),
    "readahead": (187, 213), "fsync": (74, 82), "fdatasync": (75, 83), "sync_file_range": (277, 84),
    "sendfile": (40, 71), "copy_file_range": (326, 285), "splice": (275, 76), "tee": (276, 77),
    "statfs": (137, 43), "fstatfs": (138, 44), "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24),
    "pipe": (22, None), "pipe2": (293, 59), "ioctl": (16, 29), "getxattr": (191, 8), "lgetxattr": (192, 9),
    "fgetxattr": (193, 10), "listxattr": (194, 11), "llistxattr": (195, 12), "flistxattr": (196, 13),
    # waiting
    "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72),
    "epoll_create": (213, None), "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, None),
    "epoll_pwait": (281, 22), "epoll_pwait2": (441, 441), "eventfd": (284, None), "eventfd2": (290, 19),
    "timerfd_create": (283, 85), "timerfd_settime": (286, 86), "timerfd_gettime": (287, 87),
    "signalfd": (282, None), "signalfd4": (289, 74), "inotify_init": (253, None), "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27), "inotify_rm_watch": (255, 28), "pause": (34, None), "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115), "futex": (202, 98), "futex_waitv": (449, 449), "restart_syscall": (219, 128),
    # memory
    "brk": (12, 214), "mmap": (9, 222), "munmap": (11, 215), "mremap": (25, 216), "mprotect": (10, 226),
    "madvise": (28, 233), "msync": (26, 227), "mincore": (27, 232), "mlock": (149, 228), "mlock2": (325, 284),
    "munlock": (150, 229), "mlockall": (151, 230), "munlockall": (152, 231), "membarrier": (324, 283),
    "pkey_alloc": (330, 289), "pkey_free": (331, 290), "pkey_mprotect": (329, 288), "mbind": (237, 235),
    "get_mempolicy": (239, 236), "set_mempolicy": (238, 237), "set_mempolicy_home_node": (450, 450),
    # processes and threads
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281), "exit": (60, 93),
    "exit_group": (231, 94), "wait4": (61, 260), "waitid": (247, 95), "kill": (62, 129), "tkill": (200, 130),
    "tgkill": (234, 131), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "getpid": (39, 172),
    "getppid": (110, 173), "gettid": (186, 178), "getpgid": (121, 155), "getpgrp": (111, None),
    "setpgid": (109, 154), "getsid": (124, 156), "setsid": (112, 157), "set_tid_address": (218, 96),
    "set_robust_list": (273, 99), "get_robust_list": (274, 100), "rseq": (334, 293), "arch_prctl": (158, None),
    "prctl": (157, 167), "getpriority": (140, 141), "setpriority": (141, 140), "ioprio_get": (252, 31),
    "ioprio_set": (251, 30), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "sched_setaffinity": (203, 122), "sched_getparam": (143, 121), "sched_setparam": (142, 118),
    "sched_getscheduler": (145, 120), "sched_setscheduler": (144, 119), "sched_getattr": (315, 275),
    "sched_setattr": (314, 274), "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126),
    "sched_rr_get_interval": (148, 127), "getcpu": (309, 168), "getrlimit": (97, 163), "setrlimit": (160, 164),
    "prlimit64": (302, 261), "getrusage": (98, 165), "times": (100, 153), "seccomp": (317, 277),
    "capget": (125, 90), "capset": (126, 91),
    # signals
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136), "rt_sigsuspend": (130, 133), "rt_sigtimedwait": (128, 137),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "sigaltstack": (131, 132),
    "alarm": (37, None), "getitimer": (36, 102), "setitimer": (38, 103), "timer_create": (222, 107),
    "timer_settime": (223, 110), "timer_gettime": (224, 108), "timer_getoverrun": (225, 109),
    "timer_delete": (226, 111),
    # who and when
    "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177),
    "getresuid": (118, 148), "getresgid": (120, 150), "getgroups": (115, 158), "setuid": (105, 146),
    "setgid": (106, 144), "setreuid": (113, 145), "setregid": (114, 143), "setresuid": (117, 147),
    "setresgid": (119, 149), "setfsuid": (122, 151), "setfsgid": (123, 152), "setgroups": (116, 159),
    "uname": (63, 160), "sysinfo": (99, 179), "time": (201, None), "gettimeofday": (96, 169),
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "getrandom": (318, 278),
    # sockets
    "bind": (49, 200), "listen": (50, 201), "accept": (43, 202), "accept4": (288, 242), "connect": (42, 203),
    "getsockname": (51, 204), "getpeername": (52, 205), "getsockopt": (55, 209), "setsockopt": (54, 208),
    "sendto": (44, 206), "recvfrom": (45, 207), "sendmsg": (46, 211), "recvmsg": (47, 212),
    "sendmmsg": (307, 269), "recvmmsg": (299, 243), "shutdown": (48, 210),
}
# fmt: on

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
    # requests that wait in the kernel, of which the whole machine has a fixed number
    "io_setup": (206, 0),
    "io_destroy": (207, 1),
    "io_submit": (209, 2),
    "io_cancel": (210, 3),
    "io_getevents": (208, 4),
    "io_pgetevents": (333, 292),
    # locks on files that others use, too: one submission would make them wait, or signal to another
    "flock": (73, 32),
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
FCNTL = {"x86_64": 72, "aarch64": 25}
SOCKETPAIR = {"x86_64": 53, "aarch64": 199}

NAMESPACE_FLAGS = 0x7E020080  # CLONE_NEW: USER PID NET IPC UTS CGROUP, NS, TIME
SOCKET_FAMILIES = (1, 2)  # UNIX and INET; the network namespace they act in is empty
NETLINK = (
    16  # refused with an error of its own, with which ZeroMQ goes on: it would end the process of a kernel
)
HELD_FROM_OTHERS = (1024, 1026)  # fcntl's leases and notices, which hold up whoever opens the file next
X32 = 0x40000000  # the bit that marks the x32 calls of an x86-64 kernel, which have numbers of their own

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCH, FIRST_ARGUMENT, SECOND_ARGUMENT = (
    0,
    4,
    16,
    24,
)  # offsets in struct seccomp_data; the arguments' lower halves
ALLOW, KILL = 0x7FFF0000, 0x80000000

Instruction = tuple[int, int, int, int]
"""Operation, instructions to skip when true, when false, operand."""


def this_machine() -> str:
    """The type of this machine. Raises OSError for one that the tables above lack."""
    name = os.uname().machine
    if name not in MACHINES:
        raise OSError(f"the jail does not support machines of type {name}")
    return MACHINES[name]


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
        if (number := numbers[column]) is not None:
            lines += [(EQUAL, 0, 1, number), _refuse(errno.EPERM)]
    # clone3 passes its flags by pointer, where a filter cannot look; libc then falls back to clone.
    lines += [(EQUAL, 0, 1, CLONE3[machine]), _refuse(errno.ENOSYS)]
    lines += _when(CLONE[machine], [(ANY_BIT, 0, 1, NAMESPACE_FLAGS), _refuse(errno.EPERM)])
    for number in (SOCKET[machine], SOCKETPAIR[machine]):
        lines += _when(number, _only_families())
    commands = [
        line for command in HELD_FROM_OTHERS for line in ((EQUAL, 0, 1, command), _refuse(errno.EPERM))
    ]
    lines += _when(FCNTL[machine], commands, SECOND_ARGUMENT)
    for numbers in ALLOWED.values():
        if (number := numbers[column]) is not None:
            lines += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    return [*lines, _refuse(errno.ENOSYS)]


def install() -> None:
    """Put the filter on this process and all its descendants, for good. Needs no_new_privs."""
    lines = program(this_machine())
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *line) for line in lines))
    pointer = struct.pack("@HP", len(lines), ctypes.addressof(code))
    call(libc.prctl, "seccomp", 22, 2, ctypes.create_string_buffer(pointer), 0, 0)


def _refuse(error: int) -> Instruction:
    return (RETURN, 0, 0, 0x00050000 | error)


def _when(number: int, lines: list[Instruction], argument: int = FIRST_ARGUMENT) -> list[Instruction]:
    """Run `lines` on one of the call's arguments, then allow; skip them all for any other call."""
    body = [(LOAD, 0, 0, argument), *lines, (RETURN, 0, 0, ALLOW)]
    return [(EQUAL, 0, len(body), number), *body]


def _only_families() -> list[Instruction]:
    refused = [(EQUAL, 0, 1, NETLINK), _refuse(errno.EOPNOTSUPP), _refuse(errno.EAFNOSUPPORT)]
    after = len(SOCKET_FAMILIES) + len(refused) - 1
    tests = [(EQUAL, after - i, 0, family) for i, family in enumerate(SOCKET_FAMILIES)]
    return [*tests, *refused]
