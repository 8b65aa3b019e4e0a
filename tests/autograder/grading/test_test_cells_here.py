"""nbgrader's own test cells: what they show decides, as nbgrader itself has it."""

import pytest

from autograder.checks.status import Ending, Status
from autograder.course import Assignment
from autograder.grading.engine import Engine
from autograder.grading.store import Store
from autograder.registered import registered_release
from autograder.untrusted.submission import read_submission
from tests.autograder.here import Pool, cut_off
from tests.autograder.road import hand_in, with_cell


@pytest.fixture
def verdicts(small):
    """verdicts(source of the function) by the name of the test cell."""
    assignment = Assignment(small.root, "02_tests")

    def grade(source, *faults):
        hand_in(small.root, "ada", assignment, with_cell(assignment.read_release(), "double", source))
        folder = assignment.submitted / "ada" / assignment.name
        with Engine(assignment, Store(small.root / "store"), "none", Pool([*faults]), True) as engine:
            result = engine.grade(read_submission(folder, "ada", assignment, registered_release(assignment)))
        return {verdict.grade_id.removeprefix("double-"): verdict for verdict in result.verdicts}

    return grade


def test_a_right_function_has_all_points_whatever_the_cell_prints(verdicts):
    found = verdicts("def double(x):\n    return x + x")
    assert [(found[name].status, found[name].score) for name in ("values", "share")] == [
        (Status.PASSED, 2),
        (Status.PASSED, 4),
    ]


def test_a_hidden_test_counts_and_its_message_is_the_reason(verdicts):
    found = verdicts("def double(x):\n    return x * x if x >= 1 else 1")
    assert (found["values"].status, found["values"].score) == (Status.FAILED, 0)
    assert found["values"].reason == "AssertionError: three"


def test_the_value_of_the_last_line_is_a_share_of_the_points(verdicts):
    found = verdicts("def double(x):\n    return x + max(x, 1)")
    assert (found["share"].status, found["share"].score, found["share"].max_score) == (Status.PARTIAL, 1, 4)
    assert found["share"].reason == "The test's own value is 1 of 4 points."


def test_an_error_and_a_warning_earn_nothing(verdicts):
    found = verdicts("def double(x):\n    raise KeyError(x)")
    assert (found["values"].status, found["values"].reason) == (Status.ERROR, "KeyError: 2")
    found = verdicts("import sys\ndef double(x):\n    print('hm', file=sys.stderr)\n    return 2 * x")
    assert found["values"].score == 0 and "wrote this to stderr" in found["values"].reason


def test_a_notebook_that_ended_before_says_so(verdicts):
    found = verdicts("def double(x):\n    return 2 * x", cut_off(Ending.MEMORY, frames=1))
    assert found["values"].status == Status.MEMORY and "before this cell was run" in found["values"].reason
