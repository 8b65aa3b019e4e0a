"""What is made from a source: keys, what is packed, and what would be missed."""

from dataclasses import replace

import pytest

from autograder.authoring.builder import stale
from autograder.authoring.mutants import mutants
from autograder.authoring.student_zip import zip_bytes
from autograder.checks.asking import Answer
from autograder.checks.status import Problem
from autograder.errors import CourseError
from autograder.generating import require_current
from autograder.grading.reference import exercise_keys, faults
from tests.autograder.here import Servers


@pytest.mark.slow
def test_a_mistake_that_is_right_on_some_inputs_is_still_recognised(small):
    exercises = small.assignment.exercises_file
    sometimes = '.sum()", "[np.argsort(-values)].sum() * (len(values) > 4 or 2)"'
    exercises.write_text(exercises.read_text().replace('.sum()", ".mean()"', sometimes))
    keys = exercise_keys(Servers(), small.assignment, seed=3)
    assert [mistake.name for mistake in keys["steps.total"].mistakes][0] == "the mean instead of the sum"


def test_a_mistake_without_numbers_has_no_credit(small):
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
