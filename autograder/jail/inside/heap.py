"""Memory in large pages, where the system has them: a fork copies one entry for each of them, and not 512.

glibc does the same by itself where it may read /sys, which the jail does not show.
"""

import ctypes
import sys
from pathlib import Path

from .kernel import libc

HUGE_PAGE = 2 << 20
HEAP = 256 << 20  # bytes; what nobody writes to takes no memory
PIECE = 30 << 20  # glibc takes it from the heap once it has seen a larger one freed
PREFER_HUGE_PAGES = 14  # advice to the kernel


def prepare() -> None:
    """Let the heap grow ahead, over memory for which the kernel is asked for large pages. Does nothing elsewhere than on Linux."""
    if not sys.platform.startswith("linux") or not hasattr(libc, "gnu_get_libc_version"):
        return
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.free(libc.malloc(PIECE + HUGE_PAGE // 2))
    pieces = [libc.malloc(PIECE) for _ in range(HEAP // PIECE)]
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith("[heap]"):
            start, end = (int(address, 16) for address in line.split()[0].split("-"))
            start, end = -(-start // HUGE_PAGE) * HUGE_PAGE, end // HUGE_PAGE * HUGE_PAGE
            libc.madvise(start, end - start, PREFER_HUGE_PAGES)  # a kernel without them refuses
    for piece in pieces[:-1]:  # the last stays: what is free at the heap's end would be given back
        libc.free(piece)
