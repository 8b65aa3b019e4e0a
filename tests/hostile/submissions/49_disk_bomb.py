"""tries: fill every place that can be written to
loses: nothing
cell: first
"""

import os
from pathlib import Path

for folder in (".", "/tmp", "/dev/shm", "/job", "/var/tmp", "/run"):
    try:
        with open(f"{folder}/big", "wb") as file:
            while True:
                file.write(bytes(1 << 20))
    except OSError as error:
        print(folder, error)
for number in range(100_000):
    try:
        Path(f"file{number}").touch()
    except OSError as error:
        print(number, error)
        break
print(os.listdir("."))
