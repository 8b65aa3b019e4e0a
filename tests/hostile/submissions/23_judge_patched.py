"""tries: a judge that lets everything pass
loses: everything
cell: first
rest: unanswered
"""

import autograder.checks.checking
from autograder.checks import comparing, judging

passed = judging.Verdict("passed")
judging.judge = autograder.checks.checking.judge = lambda *arguments: passed
judging.compare = comparing.compare = comparing._compare_arrays = lambda *arguments: None
judging.Verdict.passed = property(lambda self: True)
