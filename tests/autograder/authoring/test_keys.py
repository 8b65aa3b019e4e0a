"""An answer key that was made on another processor is kept: a fresh clone is neither stale nor changed by a build."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from autograder.authoring import builder
from autograder.checks import answer_key
from autograder.course import Assignment
from autograder.generating import generate
from autograder.grading.reference import own_server
from tests.conftest import ASSIGNMENTS, ROOT, TWO_NOTEBOOKS

NAME = "01_describing"


read = answer_key.load.__wrapped__  # without what it remembers


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("statistics") / "course"
    shutil.copytree(ROOT / "examples" / "statistics", folder)
    return folder


@pytest.fixture(scope="module")
def server(course):
    with own_server(course) as server:
        yield server


@pytest.fixture
def assignment(course):
    one = Assignment(course, NAME)
    before = one.key.read_bytes()
    yield one
    one.key.write_bytes(before)


def moved(key: answer_key.ExerciseKey, share: float) -> answer_key.ExerciseKey:
    """The key with all floats of its answers larger by that share of the rule's tolerance, inputs by a hundredth of that."""

    def larger(value, by):
        is_float = isinstance(value, np.ndarray) and value.dtype.kind == "f"
        return (value * (1 + by)).astype(value.dtype) if is_float else value

    def answer(one):
        arrays = {part: larger(array, share * key.rule.tolerance) for part, array in one.arrays.items()}
        return replace(one, arrays=arrays)

    cases = tuple(
        {name: larger(value, share * key.rule.tolerance / 100) for name, value in case.items()}
        for case in key.cases
    )
    mistakes = tuple(replace(one, answers=tuple(map(answer, one.answers))) for one in key.mistakes)
    return replace(key, cases=cases, expected=tuple(map(answer, key.expected)), mistakes=mistakes)


def move(assignment: Assignment, share: float) -> bytes:
    keys = read(assignment.key)
    assignment.key.write_bytes(answer_key.to_bytes(moved(key, share) for key in keys.values()))
    return assignment.key.read_bytes()


def built(server, assignment: Assignment) -> bytes:
    return builder.products(server, assignment, generate(assignment))[assignment.key]


@pytest.mark.slow
def test_answers_that_agree_are_kept_to_the_last_bit(server, assignment):
    before = assignment.key.read_bytes()
    there = move(assignment, share=0.4)
    assert there != before
    assert list(builder.stale(server, assignment)) == []
    assert built(server, assignment) == there


@pytest.mark.slow
def test_answers_that_do_not_agree_are_made_anew(server, assignment):
    there = move(assignment, share=3)
    assert any("the answers of" in words for words in builder.stale(server, assignment))
    made = built(server, assignment)
    assert made != there
    assignment.key.write_bytes(made)
    assert list(builder.stale(server, assignment)) == []


@pytest.mark.slow
def test_a_mistake_may_enlarge_the_rounding_and_a_right_answer_may_not(server, assignment):
    keys = read(assignment.key)
    far = {name: moved(key, share=4) for name, key in keys.items()}
    for_mistakes = [replace(key, mistakes=far[name].mistakes) for name, key in keys.items()]
    assignment.key.write_bytes(answer_key.to_bytes(for_mistakes))
    assert list(builder.stale(server, assignment)) == []
    for_right_answers = [replace(key, expected=far[name].expected) for name, key in keys.items()]
    assignment.key.write_bytes(answer_key.to_bytes(for_right_answers))
    assert list(builder.stale(server, assignment))


@pytest.mark.slow
def test_other_inputs_are_a_change_even_where_the_answers_are_the_same(server, assignment):
    keys = dict(read(assignment.key))
    name, key = next(iter(keys.items()))
    first = {
        part: value + 1 if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value
        for part, value in key.cases[0].items()
    }
    keys[name] = replace(key, cases=(first, *key.cases[1:]))
    assignment.key.write_bytes(answer_key.to_bytes(keys.values()))
    assert [words for words in builder.stale(server, assignment) if f"the inputs of {name}" in words]


def test_the_inputs_of_a_case_come_in_the_same_order_at_each_reading():
    """A message names the first input that explains it: a student should not be told something else the next time."""
    key = ASSIGNMENTS["01_static_embeddings"].key
    orders = {tuple(tuple(case) for one in read(key).values() for case in one.cases) for _ in range(5)}
    assert len(orders) == 1


@pytest.mark.slow
def test_a_damaged_key_is_made_anew(server, assignment):
    before = assignment.key.read_bytes()
    assignment.key.write_bytes(before[: len(before) // 2])
    assert list(builder.stale(server, assignment))
    assert built(server, assignment) != assignment.key.read_bytes()


@pytest.mark.parametrize("name", TWO_NOTEBOOKS)
def test_reading_and_writing_a_key_changes_no_byte(name):
    path = ASSIGNMENTS[name].key
    assert answer_key.to_bytes(read(path).values()) == path.read_bytes()
