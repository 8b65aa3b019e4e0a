"""tries: find what an earlier submission left behind
loses: nothing
cell: first
"""

import os

import coursekit

if hasattr(coursekit, "left_behind"):
    print("leak found")
for folder in (".", "/tmp", "/dev/shm", "/job", "@HOME@", "@COURSE@"):
    if os.path.exists(f"{folder}/left_behind"):
        print("leak found")
