"""tries: replace check by a function that always passes
loses: everything
cell: first
rest: unanswered
"""

import coursekit
import coursekit.checking


def passed(name, call):
    print("all right:", name)


coursekit.check = coursekit.checking.check = check = passed
