"""tries: a forged frame whose outputs hold scripts, false pictures and colour codes that stop nbconvert
loses: nothing
cell: last
"""

import os

from autograder.checks import answers

script = "<script>alert(1)</script>"
codes = "\x1b[38m \x1b[38;5;999m \x1b[48;2m \x1b[" + "9" * 5000 + "m [/b]"
picture = "iVBORw0KGgo="
shown = [
    {"output_type": "stream", "name": "stdout", "text": codes + script},
    {
        "output_type": "display_data",
        "data": {"text/html": script, "text/plain": codes + script},
        "metadata": {},
    },
    {"output_type": "display_data", "data": {"image/svg+xml": f"<svg>{script}</svg>"}, "metadata": {}},
    {"output_type": "display_data", "data": {"image/png": picture}, "metadata": {}},
    {"output_type": "error", "ename": script, "evalue": codes, "traceback": [codes, script]},
]
false = {
    "output_type": "display_data",
    "data": {"image/png": picture + "' onerror='alert(1)"},
    "metadata": {},
}
for cell in (1, 2, 3, 60, 61, 62, 63, 64):
    for outputs in ([false], shown):
        words = {"cell": cell, "answers": [], "outputs": outputs, "seconds": 0, "problem": "error"}
        frame = answers.pack({}, words)
        os.write(3, len(frame).to_bytes(8, "little") + frame)
