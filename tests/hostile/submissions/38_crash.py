"""tries: read the null pointer
loses: everything
says: process ended
cell: first
"""

import ctypes

ctypes.string_at(0)
