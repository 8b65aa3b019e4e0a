"""tries: fork without end
loses: anything
cell: first
"""

import os

while True:
    try:
        os.fork()
    except OSError:
        pass
