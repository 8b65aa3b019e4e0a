"""tries: take all memory, and hear no alarm meanwhile
loses: everything
says: before this check was answered
cell: first
"""

import signal

signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
kept = []
while True:
    kept.append(b"x" * (1 << 25))
