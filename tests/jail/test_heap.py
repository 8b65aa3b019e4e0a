"""Memory in large pages: what lies there stays as it is, and a kernel that has them uses them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.jail import inside

CHOICE = Path("/sys/kernel/mm/transparent_hugepage/enabled")
SCRIPT = """
import json, re, sys
sys.path.insert(0, sys.argv[1])
from inside import heap

def in_large_pages():
    found = re.search(r"AnonHugePages: *([0-9]+) kB", open("/proc/self/smaps_rollup").read())
    return int(found[1]) << 10

numbers = [str(number) for number in range(300_000)]
before = in_large_pages()
heap.gather()
print(json.dumps([before, in_large_pages(), numbers == [str(number) for number in range(300_000)]]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has such pages")
def test_gathering_changes_nothing_but_the_pages():
    command = [sys.executable, "-c", SCRIPT, str(Path(inside.__file__).parents[1])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, after, unchanged = json.loads(done.stdout)
    assert unchanged
    if CHOICE.exists() and "[never]" not in CHOICE.read_text():
        assert after > before + (4 << 20), "twenty megabytes of small objects are in ordinary pages"
