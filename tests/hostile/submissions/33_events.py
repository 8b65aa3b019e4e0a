"""tries: hooks before and after each cell that fill in answers
loses: everything
cell: first
rest: unanswered
"""

from autograder.checks import recording
from autograder.checks.asking import Answer


def fill(*arguments):
    recorder = recording.active()
    for name, cases in recorder.cases.items():
        for number, case in enumerate(cases):
            recorder.answers["", name, number] = Answer({"": next(iter(case.values()))})


for event in ("pre_execute", "pre_run_cell", "post_run_cell", "post_execute"):
    get_ipython().events.register(event, fill)
