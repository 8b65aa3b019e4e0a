"""tries: call the check of an exercise early, with a function of one's own
loses: everything
cell: first
rest: unanswered
"""

from autograder.checks import recording
from coursekit import check

recording.active().expecting = "attention.scale"
check("attention.scale", lambda case: case["scores"] / case["d"] ** 0.5)
