"""tries: open as many files as it can, and keep them
loses: nothing
cell: last
"""

kept = []
try:
    while True:
        kept.append(open("/dev/null"))
except OSError as error:
    print(error)
