"""tries: a frame that is shorter than it claims, so that the next ones are swallowed
loses: anything
cell: first
"""

import os

os.write(3, (1000).to_bytes(8, "little") + b"short")
