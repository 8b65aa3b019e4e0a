"""tries: end the process before any check is reached
loses: everything
says: no readable answers
cell: first
"""

import os

os._exit(80)
