"""tries: recursion that Python does not count
loses: everything
says: process stopped
cell: first
"""

import itertools

nested = iter([])
for _ in range(10**6):
    nested = itertools.chain(nested, [])
next(nested)
