"""What an answer key knows of an exercise beside arrays."""

import numpy as np

from autograder.checks import answer_key
from autograder.checks.asking import Answer
from autograder.checks.comparing import Rule
from autograder.checks.judging import judge
from autograder.grading.reference import arguments_of

SOLUTION = '''
def helper(pad):
    def inner(hidden):
        return hidden
    return inner(pad)


class Layer(Base):
    """Takes `nothing`."""

    def __init__(self, dim, heads=2):
        self.dim = dim

    def forward(self, x, *, keep):
        return x
'''
X = np.arange(6.0).reshape(2, 3)


def test_the_arguments_of_a_solution_are_those_of_its_functions_and_methods():
    assert arguments_of(SOLUTION) == ("pad", "dim", "heads", "x", "keep")


def test_sentences_speak_only_of_what_the_function_takes(tmp_path):
    """The check's own `beside` and `config` are none of a student's, what `config` holds for `__init__` is."""
    cases = ({"config": {"heads": 1}, "beside": X, "x": X}, {"config": {"heads": 2}, "x": X})
    expected = tuple(Answer({"": X}) for _ in cases)
    key = answer_key.ExerciseKey("demo.layer", Rule(), (), (), cases, expected, (), arguments_of(SOLUTION))
    (tmp_path / "00_demo.key").write_bytes(answer_key.to_bytes([key]))
    read = answer_key.load(tmp_path / "00_demo.key")["demo.layer"]
    assert [set(case) for case in read.received] == [{"heads", "x"}] * 2
    reasons = [
        judge([Answer({"": X * X + 1}), Answer({"": X})], expected, key.rule, cases=told).reason
        for told in (read.cases, read.received)
    ]
    assert "`beside`" not in reasons[1] and "It is wrong exactly where `heads` is 1." in reasons[1]
