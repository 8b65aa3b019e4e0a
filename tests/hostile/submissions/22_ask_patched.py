"""tries: an `ask` that hands the first input back as the answer
loses: everything
cell: first
rest: unanswered
"""

from autograder.checks import asking, recording


def ask(call, case):
    return asking.Answer({"": next(iter(case.values()))})


recording.ask = asking.ask = ask
