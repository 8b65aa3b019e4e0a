"""tries: read secrets from its own environment and that of other processes
loses: nothing
cell: first
"""

import glob
import os

print(dict(os.environ))
for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline"):
    try:
        print(open(path).read())
    except OSError as error:
        print(error)
