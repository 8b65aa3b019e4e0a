"""Memory in large pages, where the system has them: a fork copies one entry for each of them, and not 512.

glibc does the same for its heap by itself where it may read /sys, which the jail does not show. Python's own memory for
small objects lies in ordinary pages, and is gathered when everything is imported.
"""

import ctypes
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from .kernel import libc

HUGE_PAGE = 2 << 20
HEAP = 256 << 20  # bytes; what nobody writes to takes no memory
PIECE = 30 << 20  # glibc takes it from the heap once it has seen a larger one freed
PREFER_HUGE_PAGES, GATHER = 14, 25  # advice to the kernel; the second since Linux 6.1


def prepare() -> None:
    """Let the heap grow ahead, over memory for which the kernel is asked for large pages. Does nothing elsewhere than on Linux."""
    if not is_linux():
        return
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]
    libc.free(libc.malloc(PIECE + HUGE_PAGE // 2))
    pieces = [libc.malloc(PIECE) for _ in range(HEAP // PIECE)]
    for start, size in large_pages(lambda name: name == "[heap]"):
        advise(start, size, PREFER_HUGE_PAGES)
    for piece in pieces[:-1]:  # the last stays: what is free at the heap's end would be given back
        libc.free(piece)


def gather() -> None:
    """Move what lies in ordinary pages now into large ones. For a process that forks often: each takes a millisecond or two."""
    if not is_linux():
        return
    for start, size in large_pages(lambda name: not name):
        advise(start, size, PREFER_HUGE_PAGES)
        advise(start, size, GATHER)


def is_linux() -> bool:
    """With the C library that this is written for."""
    return sys.platform.startswith("linux") and hasattr(libc, "gnu_get_libc_version")


def large_pages(of: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Where whole large pages fit, and how many bytes, in memory that is written to and whose name `of` accepts; "" is no file's."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, *_, name = (*line.split(maxsplit=5), "")[:6]
        start, end = (int(address, 16) for address in addresses.split("-"))
        start, end = -(-start // HUGE_PAGE) * HUGE_PAGE, end // HUGE_PAGE * HUGE_PAGE
        if rights.startswith("rw") and of(name) and start < end:
            yield start, end - start


def advise(start: int, size: int, advice: int) -> None:
    """A kernel that cannot follow refuses, and nothing is lost."""
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.madvise(start, size, advice)
