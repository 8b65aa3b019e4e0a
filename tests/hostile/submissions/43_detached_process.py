"""tries: a process that leaves its parent, group and session, and stays
loses: nothing
cell: first
"""

import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
