"""tries: read the null pointer
loses: everything
says: process stopped
cell: first
"""

import ctypes

ctypes.string_at(0)
