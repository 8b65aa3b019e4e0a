"""What is made from a source: keys, what is lent, what is packed, and what would be missed."""

from datetime import UTC, datetime, timedelta

import pytest

from autograder.authoring.builder import stale
from autograder.authoring.lending import lent_bytes, published_key
from autograder.authoring.minutes import in_fives
from autograder.authoring.mutants import mutants
from autograder.authoring.student_zip import zip_bytes
from autograder.checks.asking import Answer
from autograder.checks.status import Problem
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.generating import require_current
from autograder.grading.reference import exercise_keys, faults
from tests.autograder.here import NAME, Servers


def set_in(course, *lines):
    settings = course.root / "nbgrader_config.py"
    settings.write_text("\n".join([settings.read_text(), *lines]))


@pytest.mark.parametrize(
    ("days", "early", "refused"), [(1, False, True), (-1, False, False), (1, True, False)]
)
def test_a_key_is_published_from_its_day_on(small, days, early, refused):
    when = (datetime.now(UTC) + timedelta(days=days)).isoformat()
    set_in(small, 'c.Autograder.lend = "key"', f'c.Autograder.lend_from = {{"{NAME}": "{when}"}}')
    assignment = Assignment(small.root, NAME)
    assignment.lent.write_bytes(lent_bytes(assignment))
    if refused:
        with pytest.raises(CourseError, match="can be borrowed from"):
            published_key(assignment, early)
    else:
        assert len(published_key(assignment, early)) == 43


@pytest.mark.parametrize(
    ("who", "alone", "lent"),
    [("alone", True, True), ("alone", False, False), ("never", True, False), ("always", False, True)],
)
def test_who_may_borrow_has_the_functions_in_the_release(small, who, alone, lent):
    set_in(small, f'c.Autograder.lend = "{who}"')
    assert (lent_bytes(small.assignment, alone) is not None) == lent


def test_a_mistake_that_is_right_on_some_inputs_is_still_recognised(small):
    exercises = small.assignment.exercises_file
    sometimes = '.sum()", "[np.argsort(-values)].sum() * (len(values) > 4 or 2)"'
    exercises.write_text(exercises.read_text().replace('.sum()", ".mean()"', sometimes))
    keys = exercise_keys(Servers(), small.assignment, seed=3)
    assert [mistake.name for mistake in keys["steps.total"].mistakes][0] == "the mean instead of the sum"


def test_a_mistake_without_numbers_has_no_credit(small):
    from dataclasses import replace

    key = exercise_keys(Servers(), small.assignment, seed=3)["steps.shares"]
    nothing = tuple(Answer(problem=Problem.NONE) for _ in key.cases)
    mistake = replace(key.mistakes[0], answers=nothing, credit=0.5)
    assert any(
        "any answer that fails in this way would earn the partial credit" in fault
        for fault in faults(replace(key, mistakes=(mistake,)))
    )


def test_mutants_count_up_and_down():
    changes = [mutant.change for mutant in mutants("f", "def f(x):\n    return x[3]")]
    assert [change.partition("→ ")[2] for change in changes] == ["`return x[4]`", "`return x[2]`"]


def test_minutes_are_rounded_to_the_nearest_five():
    assert [in_fives(value) for value in (1, 8, 12, 13)] == [5, 10, 10, 15]


@pytest.mark.parametrize("mark", ["### BEGIN SOLUTION", "### BEGIN HIDDEN TESTS"])
def test_no_solution_and_no_hidden_test_is_packed_for_students(mark):
    with pytest.raises(CourseError, match="a.py contains a solution"):
        zip_bytes({"a.py": f"x = 1\n{mark}\n".encode()}, "course", {})


def test_a_release_that_was_not_built_again_is_told(small):
    assert not list(stale(Servers(), small.assignment))
    small.correct('-total-check", "locked": true, "points": 2', '-total-check", "locked": true, "points": 3')
    assert "differs from what its source generates" in next(stale(Servers(), small.assignment))
    with pytest.raises(CourseError, match="is older than its source"):
        require_current(small.assignment)
