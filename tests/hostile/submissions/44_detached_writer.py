"""tries: a process in the background that keeps writing into the answers
loses: everything
cell: first
rest: unanswered
"""

import os

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            os.write(3, (5).to_bytes(8, "little") + b"hello")
    os._exit(0)
