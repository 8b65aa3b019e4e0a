"""tries: append to configuration, code, other submissions, and everything else in the course
loses: nothing
cell: first
"""

import os
from pathlib import Path

changed = 0
for top in ("@COURSE@", "@HOME@", "@ROOT@/tests", "/etc", "/opt", "/var"):
    for place, _, files in os.walk(top):
        for name in files[:50]:
            try:
                with open(Path(place) / name, "ab") as file:
                    file.write(b"x")
                changed += 1
            except OSError:
                pass
    try:
        (Path(top) / "planted").write_text("x")
    except OSError as error:
        print(error)
print(changed)
