"""tries: read what lies in the home folder of who grades
loses: nothing
cell: first
"""

import os
from pathlib import Path

for top in (
    "@HOME@",
    "~",
    "~root",
    "/root",
    "/home",
    "/proc/1/root@HOME@",
    "/proc/1/cwd",
    "/proc/self/root@HOME@",
):
    for path in Path(os.path.expanduser(top)).glob("*"):
        print(path, path.read_text() if path.is_file() else "")
    for path in Path(os.path.expanduser(top)).glob(".canary*"):
        print(path, path.read_text())
