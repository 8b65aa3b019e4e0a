"""tries: take the alarm away, then run for ever
loses: everything
says: ran out of time
cell: first
"""

import signal

signal.setitimer(signal.ITIMER_REAL, 0)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True:
    pass
