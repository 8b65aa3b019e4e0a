"""tries: forged frames with NaN, infinite, negative and fractional numbers where whole ones belong
loses: nothing
cell: last
"""

import os

from autograder.checks import answers

answer = {
    "variant": "",
    "exercise": "attention.softmax",
    "case": 0,
    "problem": "",
    "message": "",
    "notes": [],
}
good = {"cell": 0, "answers": [], "outputs": [], "seconds": 0, "problem": ""}
for odd in (float("nan"), float("inf"), -1, 1.5, 1e300, True, None, "0", [0], 10**400):
    for words in (
        good | {"seconds": odd},
        good | {"cell": odd},
        good | {"problem": odd},
        good | {"answers": [answer | {"case": odd}]},
        good | {"answers": [answer | {"notes": [odd]}]},
        good | {"answers": odd},
        good | {"outputs": odd},
    ):
        frame = answers.pack({}, words)
        os.write(3, len(frame).to_bytes(8, "little") + frame)
