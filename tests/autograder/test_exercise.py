"""How an exercise is written: edits that apply once, one way for each mistake, a name like its check's."""

from dataclasses import replace

import pytest

from autograder.course import named_exercises
from autograder.errors import CourseError
from autograder.exercise import EditDoesNotApply, Exercise, Mistake, edited
from tests.conftest import ASSIGNMENTS


def test_an_edit_that_does_not_apply_is_an_error():
    exercise = next(iter(next(iter(ASSIGNMENTS.values())).exercises.values()))
    with pytest.raises(EditDoesNotApply, match="occurs 0 times"):
        edited("def f(): ...", exercise, Mistake("gone", "hint", "no such text", ""))
    with pytest.raises(EditDoesNotApply, match="occurs 2 times"):
        edited("a + a", exercise, Mistake("twice", "hint", "a", "b"))


def test_a_mistake_is_made_in_one_way():
    cell = "a = 1\nb = 2"
    exercise = next(iter(next(iter(ASSIGNMENTS.values())).exercises.values()))
    assert edited(cell, exercise, Mistake("no b", "hint", "\nb = 2")) == "a = 1"
    assert edited(cell, exercise, Mistake("both", "hint", edits={"1": "3", "2": "4"})) == "a = 3\nb = 4"
    assert edited(cell, exercise, Mistake("another", "hint", code="pass")) == "pass"
    with pytest.raises(CourseError, match="write .* as edits="):
        Mistake("as before", "hint", {"1": "3"})
    for more in ({}, {"edits": {"1": "3"}, "code": "pass"}):
        with pytest.raises(CourseError, match="needs one of these"):
            Mistake("none, or two", "hint", **more)


def test_an_exercise_is_called_like_its_check():
    notebook = '"grade_id": "topic-mean-check" "grade_id": "topic-mean" "grade_id": "other-total-check"'
    mean, total, bare = (Exercise(lambda draw: (), (), {}, ("a", "b", "c", "d")) for _ in range(3))
    variables = {"mean": mean, "again": mean, "total": total, "bare": bare, "number": 3}
    assert [e.name for e in named_exercises(variables, notebook, "folder")] == [
        "topic.mean",
        "other.total",
        "folder.bare",
    ]
    explicit = replace(mean, name="topic.average")
    assert [e.name for e in named_exercises({"mean": explicit}, notebook, "folder")] == ["topic.average"]
    with pytest.raises(CourseError, match="could be any of more.mean and topic.mean"):
        named_exercises({"mean": mean}, notebook + '"more-mean-check"', "folder")
