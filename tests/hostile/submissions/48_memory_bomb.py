"""tries: take all memory
loses: everything
says: memory
cell: first
"""

kept = []
while True:
    kept.append(bytearray(b"x" * (1 << 25)))
