"""tries: act when the interpreter ends or an object is collected
loses: nothing
cell: last
"""

import atexit
import os
import weakref


class Last:
    pass


last = Last()
weakref.finalize(last, os.write, 3, b"garbage")
atexit.register(os.write, 3, b"garbage")
del last
atexit._run_exitfuncs()
