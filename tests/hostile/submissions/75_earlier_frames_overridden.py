"""tries: send the frames of earlier cells a second time, with other answers
loses: nothing
cell: last
"""

import os

from autograder.checks import answers

for cell in range(80):
    words = {"cell": cell, "answers": [], "outputs": [], "seconds": 0, "problem": "timeout"}
    frame = answers.pack({}, words)
    os.write(3, len(frame).to_bytes(8, "little") + frame)
