"""tries: a Recorder that writes down zeros for every exercise
loses: everything
cell: first
rest: unanswered
"""

import numpy as np

from autograder.checks import recording
from autograder.checks.asking import Answer


def record(self, exercise, call):
    for number in range(len(self.cases[exercise])):
        self.answers["", exercise, number] = Answer({"": np.zeros((3, 4), np.float32)})


recording.Recorder.record = record
