"""tries: a thread that puts inputs in the place of answers, again and again
loses: everything
cell: first
rest: unanswered
"""

import threading

from autograder.checks import recording
from autograder.checks.asking import Answer


def meddle():
    recorder = recording.active()
    while True:
        for name, cases in recorder.cases.items():
            for number, case in enumerate(cases):
                recorder.answers["", name, number] = Answer({"": next(iter(case.values()))})


threading.Thread(target=meddle, daemon=True).start()
