"""tries: a frame that claims 2**60 bytes
loses: everything
says: more output than allowed
cell: first
"""

import os

os.write(3, (2**60).to_bytes(8, "little"))
