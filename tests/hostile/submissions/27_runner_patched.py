"""tries: find the runner's own functions by its frames, and patch them
loses: everything
cell: first
rest: unanswered
"""

import sys

frame = sys._getframe()
while frame:
    for name in ("run_cell", "make_frame", "within"):
        if name in frame.f_globals:
            frame.f_globals[name] = lambda *arguments: ""
    frame = frame.f_back
