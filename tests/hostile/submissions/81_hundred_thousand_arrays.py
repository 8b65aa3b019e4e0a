"""tries: a frame with a hundred thousand empty arrays
loses: nothing
cell: last
"""

import json
import os

header = {str(number): {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for number in range(100_000)}
words = {"cell": 0, "answers": [], "outputs": [], "seconds": 0, "problem": ""}
head = json.dumps(header | {"__metadata__": {"words": json.dumps(words)}}).encode()
frame = len(head).to_bytes(8, "little") + head
pipe = open(3, "wb", closefd=False)
pipe.write(len(frame).to_bytes(8, "little") + frame)
pipe.flush()
