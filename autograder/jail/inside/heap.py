"""Memory in large pages, where the system has them: a fork copies one entry for each of them, and not 512.

glibc does the same for its heap by itself where it may read /sys, which the jail does not show. Python takes memory for
small objects in arenas of its own, from the system: while everything is imported it takes them from that heap.
"""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .kernel import libc

HUGE_PAGE = 2 << 20
HEAP = 256 << 20  # bytes; what nobody writes to takes no memory
PIECE = 30 << 20  # glibc takes it from the heap once it has seen a larger one freed
RAW = 0  # PYMEM_DOMAIN_RAW: Python's name for malloc
PREFER_HUGE_PAGES = 14  # advice to the kernel


class RawAllocator(ctypes.Structure):
    """https://docs.python.org/3/c-api/memory.html#c.PyMemAllocatorEx"""

    _fields_ = [(name, ctypes.c_void_p) for name in ("ctx", "malloc", "calloc", "realloc", "free")]


class ArenaAllocator(ctypes.Structure):
    """https://docs.python.org/3/c-api/memory.html#c.PyObjectArenaAllocator"""

    _fields_ = [(name, ctypes.c_void_p) for name in ("ctx", "alloc", "free")]


def prepare() -> None:
    """Let the heap grow ahead, over memory for which the kernel is asked for large pages. Does nothing elsewhere than on Linux."""
    if not is_linux():
        return
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]
    libc.free(libc.malloc(PIECE + HUGE_PAGE // 2))
    pieces = [libc.malloc(PIECE) for _ in range(HEAP // PIECE)]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for start, size in large_pages_of_heap():  # a kernel that cannot follow refuses, and nothing is lost
        libc.madvise(start, size, PREFER_HUGE_PAGES)
    for piece in pieces[:-1]:  # the last stays: what is free at the heap's end would be given back
        libc.free(piece)


@contextmanager
def arenas_in_heap() -> Iterator[None]:
    """Meanwhile Python takes its arenas from the heap. Those that are given back later stay there, unused."""
    if not is_linux():
        yield
        return
    api, usual, raw = ctypes.pythonapi, ArenaAllocator(), RawAllocator()
    api.PyObject_GetArenaAllocator(ctypes.byref(usual))
    api.PyMem_GetAllocator(RAW, ctypes.byref(raw))
    # An arena's `free` is called with its size besides, which raw's does not look at.
    api.PyObject_SetArenaAllocator(ctypes.byref(ArenaAllocator(raw.ctx, raw.malloc, raw.free)))
    yield
    # From now on as ever. An arena of the heap is no mapping of its own, and the system does not take it back.
    api.PyObject_SetArenaAllocator(ctypes.byref(usual))


def is_linux() -> bool:
    """With the C library that this is written for."""
    return sys.platform.startswith("linux") and hasattr(libc, "gnu_get_libc_version")


def large_pages_of_heap() -> Iterator[tuple[int, int]]:
    """Where whole large pages fit in the heap, and how many bytes."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, *_, name = (*line.split(maxsplit=5), "")[:6]
        start, end = (int(address, 16) for address in addresses.split("-"))
        start, end = -(-start // HUGE_PAGE) * HUGE_PAGE, end // HUGE_PAGE * HUGE_PAGE
        if rights.startswith("rw") and name == "[heap]" and start < end:
            yield start, end - start
