"""tries: mount, unshare, trace, load a module, become root
loses: nothing
cell: first
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
print(libc.unshare(0x10000000), libc.mount(b"none", b"/tmp", b"tmpfs", 0, None), libc.ptrace(16, 1, 0, 0))
print(libc.setuid(0), libc.chroot(b"/proc/1/root"), libc.umount2(b"/job", 2), libc.syscall(321, 0, 0, 0))
for path in (
    "/proc/sys/kernel/core_pattern",
    "/proc/1/mem",
    "/proc/self/uid_map",
    "/dev/mem",
    "/proc/sysrq-trigger",
):
    try:
        os.write(os.open(path, os.O_WRONLY), b"x")
        print("wrote", path)
    except OSError as error:
        print(error)
