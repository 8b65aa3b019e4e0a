"""tries: a forged frame whose array belongs to case number 111…1, of five thousand digits
loses: nothing
cell: last
"""

import os

import numpy as np

from autograder.checks import answers

for number in ("1" * 5000, "٣", "²", "-1", "1e9"):
    words = {"cell": 70, "answers": [], "outputs": [], "seconds": 0, "problem": ""}
    frame = answers.pack({f"answer||attention.softmax|{number}|": np.ones(3)}, words)
    os.write(3, len(frame).to_bytes(8, "little") + frame)
