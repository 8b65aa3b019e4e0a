"""tries: leave the answers where another submission finds them
loses: nothing
cell: first
"""

import coursekit

coursekit.left_behind = True
for folder in (".", "/tmp", "/dev/shm", "/job", "@HOME@", "@COURSE@"):
    try:
        open(f"{folder}/left_behind", "w").write("all the answers")
    except OSError as error:
        print(error)
