"""tries: print without end
loses: nothing
cell: first
"""

while True:
    print("x" * 10_000)
