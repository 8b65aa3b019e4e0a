"""A wrong function costs its own points, not those of the functions that call it."""

from dataclasses import replace

import pytest
from nbformat.v4 import new_code_cell

from autograder.checks.status import Status
from tests.autograder.here import RIGHT, by_name

MEAN = "def total(values):\n    return values.mean()"
STUB = "def total(values):\n    raise NotImplementedError  # your turn"
STOPS = "def total(values):\n    return values.nothing()"
WITHOUT = "def shares(values):\n    total(values)\n    return values"


@pytest.fixture
def graded(small):
    """Verdicts by name, and the jobs that were run for them."""

    def grade(seconds=None, **cells):
        small.hand_in("ada", **cells)
        with small.engine() as engine:
            if seconds:
                limits = replace(engine.settings.limits, notebook_seconds=seconds)
                engine.settings = replace(engine.settings, limits=limits)
            return by_name(engine.grade(small.read("ada"))), engine.pool.sent

    return grade


@pytest.mark.parametrize("total", [MEAN, STUB, STOPS, "def total(:"])
def test_who_calls_an_own_wrong_function_keeps_the_points(graded, total):
    verdicts, jobs = graded(total=total)
    assert verdicts["total"].score == 0
    for name in ("shares", "largest"):
        assert verdicts[name].status == Status.PASSED and verdicts[name].score == verdicts[name].max_score
        assert (
            verdicts[name].reason == "Your answer is right if it uses the solution's total instead of yours."
        )
    assert verdicts["largest"].extra == 2
    assert len(jobs) == 2


def test_an_exercise_is_never_asked_in_a_run_that_holds_its_solution(graded):
    _, (first, second) = graded(total=MEAN)
    assert not any("values.sum()" in cell["source"] for cell in first.cells)
    assert any("values.sum()" in cell["source"] for cell in second.cells)
    assert {cell["exercise"] for cell in second.cells} - {""} == {"steps.shares", "steps.largest"}


def test_a_mistake_of_one_s_own_stays_one_and_says_what_it_builds_on(graded):
    verdicts, _ = graded(total=MEAN, shares="def shares(values):\n    return 3 * total(values) * values")
    assert verdicts["total"].score == verdicts["shares"].score == 0
    assert "This exercise builds on total, which is not right." in verdicts["shares"].reason
    assert "solution's" not in verdicts["shares"].reason
    assert verdicts["largest"].reason.startswith("Your answer is right if it uses the solution's shares")


@pytest.mark.parametrize(
    ("total", "shares"),
    [(STOPS, WITHOUT), (MEAN, "def shares(values):\n    return values * (total(values) / values.sum())")],
)
def test_a_share_of_the_points_that_shows_with_a_right_function_only_is_earned(graded, total, shares):
    verdicts, _ = graded(total=total, shares=shares)
    assert verdicts["total"].score == 0
    assert (verdicts["shares"].score, verdicts["shares"].mistake) == (2, "not divided")
    assert "With the solution's total instead of yours, your answer earns 50%" in verdicts["shares"].reason


def test_a_right_dependant_of_nothing_wrong_is_run_once(graded):
    verdicts, jobs = graded(largest="def largest(values):\n    return 0")
    assert len(jobs) == 1 and "builds on" not in verdicts["largest"].reason


def test_a_stub_that_calls_nothing_builds_on_nothing(graded):
    stub = "def shares(values):\n    raise NotImplementedError  # your turn"
    verdicts, _ = graded(total=MEAN, shares=stub)
    assert verdicts["shares"].status == Status.MISSING and "builds on" not in verdicts["shares"].reason


def test_whoever_could_not_be_judged_again_in_time_is_told_so(graded):
    verdicts, jobs = graded(
        seconds=0.1, total=MEAN, shares="def shares(values):\n    return 3 * total(values) * values"
    )
    said = "There was no time left to grade your answer with the solution's version."
    assert len(jobs) == 2
    assert said in verdicts["largest"].reason and said not in verdicts["shares"].reason


def test_what_an_exercise_declares_to_use_counts_also_through_a_helper(graded):
    """No name of the earlier function stands in the cell."""
    helped = "def shares(values):\n    return values / _helper(values)"
    verdicts, _ = graded(total=f"{MEAN}\n\ndef _helper(values):\n    return total(values)", shares=helped)
    assert verdicts["total"].status == Status.FAILED
    assert (
        verdicts["shares"].reason == "Your answer is right if it uses the solution's total instead of yours."
    )


def test_whoever_calls_a_wrong_function_without_need_keeps_the_points(graded):
    """`largest` declares to use `shares` alone, which is right here without `total`."""
    alone = "def shares(values):\n    return values / values.sum()"
    verdicts, _ = graded(
        total=STOPS,
        shares=alone,
        largest="def largest(values):\n    total(values)\n    return max(shares(values))",
    )
    assert verdicts["total"].score == 0 and verdicts["shares"].status == Status.PASSED
    assert (
        verdicts["largest"].reason == "Your answer is right if it uses the solution's total instead of yours."
    )


ODD = """
class Odd(float):
    __array_ufunc__ = None


def total(values):
    return Odd(values.sum())
"""


def test_right_functions_that_do_not_go_together_cost_once_what_needs_both(graded):
    """The solution's `shares` stops at what the student's `total` gives, which is right alone: both are lent."""
    verdicts, jobs = graded(total=ODD, shares="def shares(values):\n    return 3.5 * values")
    assert verdicts["total"].status == Status.PASSED and verdicts["shares"].score == 0
    assert (
        verdicts["largest"].reason
        == "Your answer is right if it uses the solution's shares and total instead of yours."
    )
    assert len(jobs) == 3


def test_who_builds_on_a_function_that_is_right_with_a_note_loses_nothing(graded):
    """What `total` gives was converted for its own check; `shares` cannot divide by it."""
    verdicts, jobs = graded(total=ODD)
    assert all(verdicts[name].status == Status.PASSED for name in ("total", "shares", "largest"))
    assert verdicts["shares"].reason == (
        "Your answer is right if it uses the solution's total instead of yours. Your version is right as well, but returns a different type, which "
        "this function cannot use."
    )
    assert len(jobs) == 2


def test_a_mistake_behind_such_a_function_stays_one_without_blaming_it(graded):
    verdicts, _ = graded(total=ODD, shares="def shares(values):\n    return 3 * (values / total(values))")
    assert verdicts["shares"].status == Status.ERROR and "builds on" not in verdicts["shares"].reason


@pytest.mark.parametrize(
    "shares",
    [
        'def shares(values):\n    """Divided by total(values)."""\n    return 3 * values',
        "def shares(values, total=3):\n    return total * values",
        "def shares(values):\n    total = 3  # not the function\n    return total * values",
    ],
)
def test_only_what_is_called_is_said_to_be_built_on(graded, shares):
    verdicts, _ = graded(total=MEAN, shares=shares)
    assert verdicts["shares"].status == Status.FAILED and "builds on" not in verdicts["shares"].reason


def test_what_is_called_through_a_cell_of_the_student_s_own_is_built_on(small):
    notebook = small.with_cells(
        RIGHT | {"steps-total": MEAN, "steps-shares": "def shares(values):\n    return 3 * helped(values)"}
    )
    place = next(n for n, cell in enumerate(notebook.cells) if "def shares" in cell.source)
    notebook.cells.insert(place, new_code_cell("def helped(values):\n    return values / total(values)"))
    small.hand_in("ada", notebook)
    with small.engine() as engine:
        verdicts = by_name(engine.grade(small.read("ada")))
    assert "This exercise builds on total, which is not right." in verdicts["shares"].reason
