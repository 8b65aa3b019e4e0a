"""tries: recursion without a limit
loses: everything
says: process stopped
cell: first
"""

import sys

sys.setrecursionlimit(10**9)


class Deep:
    def __repr__(self):
        return repr(self)


Deep()
