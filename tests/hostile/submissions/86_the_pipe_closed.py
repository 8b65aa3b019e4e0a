"""tries: close the answer pipe, or make it one that does not wait
loses: everything
says: process stopped
cell: first
"""

import os

os.set_blocking(3, False)
os.close(3)
