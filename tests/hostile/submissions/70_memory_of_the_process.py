"""tries: search the whole memory of the process for the text of a solution or of an earlier submission
loses: nothing
cell: first
"""

import re

word = b"THE-" + b"CANARY"
found = 0
for line in open("/proc/self/maps"):
    start, end, rights = re.match("([0-9a-f]+)-([0-9a-f]+) (....)", line).groups()
    if rights[0] != "r" or rights[1] != "w" or int(end, 16) - int(start, 16) > 1 << 26:
        continue
    try:
        with open("/proc/self/mem", "rb") as memory:
            memory.seek(int(start, 16))
            piece = memory.read(int(end, 16) - int(start, 16))
    except (OSError, OverflowError):
        continue
    found += len(re.findall(word + b"-[0-9a-f]{32}", piece))
if found:
    print("leak found")
