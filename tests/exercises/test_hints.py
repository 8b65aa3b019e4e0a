"""A hint that says where an answer is right stands beside the inputs on which it is wrong."""

import re
from collections import defaultdict

import pytest

from autograder.checks import answer_key
from autograder.checks.comparing import compare
from tests.conftest import ASSIGNMENTS

PROMISES = re.compile(r"you are right|are right where", re.IGNORECASE)
TRUE_ALL_THE_SAME = {
    ("attention.scale", "the root rounded down"): "no public input has a square number of dimensions",
    ("transformer.layer_norm", "no epsilon"): "no public input has a large variance and a tiny epsilon",
    ("gpt.attention", "the first rows of the mask"): "an input asks at once and in pieces",
    ("gpt.shift_loss", "padding counted"): "each public input has padding",
    ("decoders.attention", "positions restart with the cache"): "an input asks at once and in pieces",
    ("decoders.attention", "the mask of the first tokens"): "an input asks at once and in pieces",
}
"""Hints that no public input bears out. Each was read, and why it is true stands beside it."""
HINTS = defaultdict(list)
"""The known mistakes with such a hint, by exercise and name: one for each way in which it is made."""
for _assignment in ASSIGNMENTS.values():
    for _exercise, _key in answer_key.load(_assignment.key).items():
        for _mistake in filter(lambda mistake: PROMISES.search(mistake.hint), _key.mistakes):
            HINTS[_exercise, _mistake.name].append((_mistake, _key))


@pytest.mark.parametrize(("exercise", "name"), sorted(HINTS.keys() - TRUE_ALL_THE_SAME.keys()))
def test_who_reads_where_they_are_right_sees_such_an_input(exercise, name):
    assert all(any(right) for right in _right_on_inputs(exercise, name))


def test_no_exception_is_out_of_date():
    """Each names a hint that is there, and that the test above would refuse."""
    for where in TRUE_ALL_THE_SAME:
        assert where in HINTS
        assert not all(any(right) for right in _right_on_inputs(*where))


def _right_on_inputs(exercise, name):
    """For each way in which the mistake is made, on which public inputs its answer is right."""
    return [
        [
            compare(answer, expected, key.rule) is None
            for answer, expected in zip(mistake.answers, key.expected, strict=True)
        ]
        for mistake, key in HINTS[exercise, name]
    ]
