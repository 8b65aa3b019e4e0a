"""tries: replace check by a function that always passes
loses: everything
cell: first
rest: unanswered
"""

import coursekit
import autograder.checks.checking


def passed(name, call):
    print("all right:", name)


coursekit.check = autograder.checks.checking.check = check = passed
