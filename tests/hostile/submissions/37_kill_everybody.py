"""tries: kill and stop all processes, the parent, its group
loses: nothing
cell: first
"""

import os
import signal

for number in (signal.SIGKILL, signal.SIGSTOP):
    for pid in (-1, 0, os.getppid(), os.getpid(), *range(2, 300)):
        try:
            os.kill(pid, number)
        except OSError as error:
            print(error)
