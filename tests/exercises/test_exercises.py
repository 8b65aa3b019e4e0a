"""Every exercise is complete, and its mistakes are named. tests/autograder/authoring/test_rates.py tries them on many inputs."""

from dataclasses import replace
from functools import cache

import pytest

from autograder.authoring.builder import PUBLIC_SEED
from autograder.authoring.trial import incomplete
from autograder.checks.judging import judge
from autograder.course import named
from autograder.errors import CourseError
from autograder.exercise import EditDoesNotApply, Exercise, Mistake, edited
from autograder.grading import reference
from tests.conftest import ASSIGNMENTS

EXERCISES = [(name, exercise) for name, one in ASSIGNMENTS.items() for exercise in one.exercises]
MISTAKES = [
    (name, exercise, mistake.name)
    for name, exercise in EXERCISES
    for mistake in ASSIGNMENTS[name].exercises[exercise].mistakes
]


@pytest.fixture(scope="session")
def keys(open_server):
    """The public keys by assignment, recorded once."""
    return cache(lambda name: reference.public_keys(open_server, ASSIGNMENTS[name], PUBLIC_SEED))


@pytest.mark.parametrize(("name", "exercise", "mistake"), MISTAKES)
def test_a_mistake_is_named_as_itself(keys, name, exercise, mistake):
    key = keys(name)[exercise]
    ways = [known for known in key.mistakes if known.name == mistake]
    for own in ways:
        verdict = judge(own.answers, key.expected, key.rule, key.mistakes)
        assert (verdict.passed, verdict.mistake) == (False, mistake)
        assert verdict.hint == own.hint
    assert ways


@pytest.mark.parametrize(("name", "exercise"), EXERCISES)
def test_an_exercise_is_complete(name, exercise):
    assert list(incomplete(ASSIGNMENTS[name].exercises[exercise])) == []


def test_an_edit_that_does_not_apply_is_an_error():
    exercise = next(iter(next(iter(ASSIGNMENTS.values())).exercises.values()))
    with pytest.raises(EditDoesNotApply, match="stands 0 times"):
        edited("def f(): ...", exercise, Mistake("gone", "hint", "no such text", ""))
    with pytest.raises(EditDoesNotApply, match="stands 2 times"):
        edited("a + a", exercise, Mistake("twice", "hint", "a", "b"))


def test_a_mistake_is_made_in_one_way():
    cell = "a = 1\nb = 2"
    exercise = next(iter(next(iter(ASSIGNMENTS.values())).exercises.values()))
    assert edited(cell, exercise, Mistake("no b", "hint", "\nb = 2")) == "a = 1"
    assert edited(cell, exercise, Mistake("both", "hint", edits={"1": "3", "2": "4"})) == "a = 3\nb = 4"
    assert edited(cell, exercise, Mistake("another", "hint", code="pass")) == "pass"
    with pytest.raises(CourseError, match="written as edits="):
        Mistake("as before", "hint", {"1": "3"})
    for more in ({}, {"edits": {"1": "3"}, "code": "pass"}):
        with pytest.raises(CourseError, match="needs one of these"):
            Mistake("none, or two", "hint", **more)


def test_an_exercise_is_called_like_its_check():
    notebook = '"grade_id": "topic-mean-check" "grade_id": "topic-mean" "grade_id": "other-total-check"'
    mean, total, bare = (Exercise(lambda draw: (), (), {}, ("a", "b", "c", "d")) for _ in range(3))
    variables = {"mean": mean, "again": mean, "total": total, "bare": bare, "number": 3}
    assert [e.name for e in named(variables, notebook, "folder")] == [
        "topic.mean",
        "other.total",
        "folder.bare",
    ]
    explicit = replace(mean, name="topic.average")
    assert [e.name for e in named({"mean": explicit}, notebook, "folder")] == ["topic.average"]
    with pytest.raises(CourseError, match="may be more.mean and topic.mean"):
        named({"mean": mean}, notebook + '"more-mean-check"', "folder")
