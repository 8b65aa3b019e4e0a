"""tries: read and write through every open descriptor
loses: nothing
cell: first
"""

import os

for number in range(200):
    if number != 3:
        for act in (
            lambda n: os.read(n, 100),
            lambda n: os.write(n, b"@COURSE@"),
            lambda n: os.pread(n, 100, 0),
        ):
            try:
                print(number, act(number))
            except OSError:
                pass
print(os.listdir("/proc/self/fd"))
