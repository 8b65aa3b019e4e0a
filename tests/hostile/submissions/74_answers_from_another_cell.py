"""tries: right answers, sent in the frame of a cell that is no check
loses: everything
cell: last
rest: unanswered
"""

import os

import numpy as np

from autograder.checks import answers, recording

cases = recording.active().cases["attention.split_heads"]
arrays, listed = {}, []
for number, case in enumerate(cases):
    x, heads = case["x"], case["heads"]
    right = x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)
    arrays[f"answer||attention.split_heads|{number}|"] = np.ascontiguousarray(right)
    listed.append(
        {
            "variant": "",
            "exercise": "attention.split_heads",
            "case": number,
            "problem": "",
            "message": "",
            "notes": [],
        }
    )
words = {"cell": 0, "answers": listed, "outputs": [], "seconds": 0, "problem": ""}
frame = answers.pack(arrays, words)
os.write(3, len(frame).to_bytes(8, "little") + frame)
