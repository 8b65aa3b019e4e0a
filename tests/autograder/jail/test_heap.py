"""Memory in large pages: what lies there stays as it is, and a kernel that has them uses them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.jail import inside

SCRIPT = """
import json, re, sys
sys.path.insert(0, sys.argv[1])
from inside import heap

def megabytes(kind):
    found = re.search(rf"{kind}: *([0-9]+) kB", open("/proc/self/smaps_rollup").read())
    return int(found[1]) >> 10

def some_numbers():
    return [str(number) for number in range(300_000)]  # twenty megabytes of small objects

heap.prepare()
before = megabytes("AnonHugePages")
with heap.arenas_in_heap():
    meanwhile = some_numbers()
in_large_pages = megabytes("AnonHugePages") - before
unchanged = meanwhile == some_numbers()  # of which the second lie outside
del meanwhile
in_memory = []
for _ in range(20):
    later = some_numbers()
    in_memory.append(megabytes("Rss"))
print(json.dumps([in_large_pages, unchanged and later == some_numbers(), in_memory[-1] - in_memory[4]]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Linux has such pages")
def test_large_pages_change_nothing_but_where_objects_lie():
    command = [sys.executable, "-c", SCRIPT, str(Path(inside.__file__).parents[1])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    in_large_pages, unchanged, more = json.loads(done.stdout)
    assert unchanged
    assert more < 30, "what is made and dropped again and again takes no more memory each time"
    if not any(choice in Path(SETTING).read_text() for choice in ("[always]", "[madvise]")):
        pytest.skip("this system gives no large pages")
    assert in_large_pages >= 10


SETTING = "/sys/kernel/mm/transparent_hugepage/enabled"
