"""tries: take all memory, and go on when the cell is interrupted
loses: everything
says: before this check was answered
cell: first
"""

kept = []
while True:
    try:
        kept.append(b"x" * (1 << 25))
    except BaseException:
        pass
