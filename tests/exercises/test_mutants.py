"""The checks see small changes of the solutions."""

import pytest
from typer.testing import CliRunner

from autograder.authoring.mutants import Report, mutants, run
from autograder.authoring.tried import FILE
from autograder.cli import app
from tests.conftest import ASSIGNMENTS

SOLUTION = '''
def f(x):
    """A docstring with 1 + 1."""
    ### BEGIN SOLUTION
    if x > 0:
        return x.sum(-1) / 2
    return -x
    ### END SOLUTION
'''


def test_mutants_change_operators_signs_constants_and_comparisons():
    changes = [mutant.change for mutant in mutants("f", SOLUTION)]
    for expected in (
        "if x >= 0",
        "if x > 1",
        "x.sum(-1) * 2",
        "x.sum(0) / 2",
        "x.sum(-2) / 2",
        "x.mean(-1) / 2",
        "/ 3",
        "return x`",
    ):
        assert any(expected in change for change in changes), expected
    assert not any("docstring" in change for change in changes)


MODULE = """
class Halves(nn.Module):
    def __init__(self, p):
        ### BEGIN SOLUTION
        super().__init__()
        self.first, self.second = nn.Linear(p, p // 2), nn.Linear(p // 2, p)
        ### END SOLUTION

    def given(self):
        return 7 + 7

    def forward(self, x):
        ### BEGIN SOLUTION
        return x + self.second(self.first(x).relu())
        ### END SOLUTION
"""


def test_mutants_of_a_module_leave_a_part_out_or_swap_two_in_each_region():
    changes = [mutant.change for mutant in mutants("Halves", MODULE)]
    for expected in (
        "nn.Linear(p, p * 2)",
        "return x - self.second",
        "x + self.first(x).relu()",
        "x + self.second(x.relu())",
        "x + self.first(self.first(x).relu())",
    ):
        assert any(expected in change.split(" → ")[1] for change in changes), expected
    assert not any("7" in change or "6" in change for change in changes)


@pytest.mark.slow
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_checks_catch_the_mutants(name):
    report = Report.of_before(ASSIGNMENTS[name]) or run(ASSIGNMENTS[name])
    assert report.total > 30
    assert report.share >= 0.95, report.survivors
    assert [survivor for survivor in report.survivors if not survivor[2]] == []


@pytest.mark.slow
def test_what_was_found_is_kept_until_something_changes(course):
    one = course("largest = exercise((SMALLEST,))")
    assert Report.of_before(one) is None
    result = CliRunner().invoke(app, ["mutants", "13_lucky"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    kept = Report.of_before(one)
    assert kept.total > 1 and kept.survivors == run(one).survivors, result.exception
    assert Report.of_before(course("largest = exercise((SMALLEST,))\nother = 1")) is None


@pytest.mark.slow
def test_what_was_tried_never_reaches_students(course):
    """It quotes the solution where a change of it survives."""
    one = course("largest = exercise((SMALLEST,))")
    config = one.root / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}\nc.CourseDirectory.ignore = []\n")
    run(one).keep(one)
    assert one.source.with_name(FILE).is_file()
    assert CliRunner().invoke(app, ["build", "13_lucky", "--seeds", "3"]).exit_code == 0
    assert {path.name for path in one.release.parent.iterdir()} == {"13_lucky.ipynb", "13_lucky.key"}
