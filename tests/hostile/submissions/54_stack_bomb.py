"""tries: recursion without a limit
loses: everything
says: process ended
cell: first
"""

import sys

sys.setrecursionlimit(10**9)


class Deep:
    def __repr__(self):
        return repr(self)


Deep()
