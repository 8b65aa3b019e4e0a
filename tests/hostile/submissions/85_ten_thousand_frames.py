"""tries: more frames than any notebook has cells
loses: everything
says: more output than allowed
cell: first
"""

import os

while True:
    os.write(3, bytes(8) * 500)
