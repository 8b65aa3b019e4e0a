"""tries: fork, so that the rest of the notebook runs twice
loses: nothing
cell: first
"""

import os

os.fork()
os.fork()
