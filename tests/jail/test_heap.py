"""Memory in large pages: what lies there stays as it is, and a kernel that has them uses them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.jail import inside

SCRIPT = """
import ctypes, json, mmap, re, sys
sys.path.insert(0, sys.argv[1])
from inside import heap

def in_large_pages():
    found = re.search(r"AnonHugePages: *([0-9]+) kB", open("/proc/self/smaps_rollup").read())
    return int(found[1]) << 10

def are_to_be_had():
    room = mmap.mmap(-1, 4 * heap.HUGE_PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    room.write(bytes(len(room)))
    start = ctypes.addressof(ctypes.c_char.from_buffer(room))
    return heap.libc.madvise(ctypes.c_void_p(start + -start % heap.HUGE_PAGE), ctypes.c_size_t(heap.HUGE_PAGE), heap.GATHER) == 0

if not are_to_be_had():
    print("null")
    sys.exit()
numbers = [str(number) for number in range(300_000)]
before = in_large_pages()
heap.gather()
print(json.dumps([before, in_large_pages(), numbers == [str(number) for number in range(300_000)]]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has such pages")
def test_gathering_changes_nothing_but_the_pages():
    command = [sys.executable, "-c", SCRIPT, str(Path(inside.__file__).parents[1])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    if found is None:
        pytest.skip("the kernel has no large pages to give")
    before, after, unchanged = found
    assert unchanged
    assert after > before + (4 << 20), "twenty megabytes of small objects are in ordinary pages"
