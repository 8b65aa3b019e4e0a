"""tries: import the autograder and draw its cases and solutions
loses: everything
cell: first
rest: unanswered
"""

import sys

sys.path += ["@COURSE@", "@ROOT@"]
import autograder
from autograder.course import Assignment

print(autograder, Assignment("@COURSE@", "02_attention").exercises)
