"""What a student's commands remember and show: hints, checks, and files that are whole or not there."""

import numpy as np
import pytest

from autograder.checks import answer_key, hinting, journal
from autograder.checks.checking import check
from autograder.checks.exceptions import CheckFailed, Unanswered, WrongCall
from autograder.checks.storing import write_aside
from autograder.checks.tracebacks import student_traceback
from tests.autograder.here import NAME


@pytest.fixture
def shown(small, monkeypatch):
    """What a notebook of the small course shows; it runs beside its key."""
    notes = []
    monkeypatch.setattr(hinting, "display", notes.append)
    monkeypatch.setattr("autograder.checks.checking.display", notes.append)
    monkeypatch.setattr(hinting, "_shown", set())
    monkeypatch.chdir(small.root / "release" / NAME)
    return notes


@pytest.mark.slow
def test_after_a_restart_the_first_hint_is_where_one_was(shown, monkeypatch):
    hinting.hint("steps.total", 3)
    monkeypatch.setattr(hinting, "_shown", set())
    hinting.hint("total")
    assert shown[-1].title == "Hint 3 of 4 for steps.total"
    with pytest.raises(WrongCall, match="hints 1 to 4"):
        hinting.hint("steps.total", 5)


def test_what_was_not_begun_is_neither_right_nor_wrong(shown):
    def total(values):
        raise NotImplementedError

    with pytest.raises((Unanswered, CheckFailed)):
        check("steps.total", lambda case: total(case["values"]))
    assert journal.checks() == {"steps.total": None}
    with pytest.raises(CheckFailed):
        check("steps.total", lambda case: 0)
    assert journal.checks() == {"steps.total": False}
    check("steps.total", lambda case: case["values"].sum())
    assert journal.checks() == {"steps.total": True}


def test_the_end_of_a_deep_error_is_shown(monkeypatch):
    source = "def f(n):\n    return f(n - 1) if n else 1 / 0\n\ndef g():\n    return f(20)\n\ng()"
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile(source, "<cell 1>", "exec"), {})
    lines = student_traceback(caught.value).splitlines()
    assert lines[-1] == "ZeroDivisionError: division by zero" and len(lines) == 7
    assert all(line.startswith("  in f, line 2") for line in lines[:-1])


def test_an_error_outside_the_student_s_code_is_shown_without_the_way_to_it():
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile("(lambda case: divide(case))(0)", "<cell 1>", "eval"), {"divide": lambda case: 1 / case})
    assert student_traceback(caught.value).endswith("ZeroDivisionError: division by zero")
    error = caught.value
    error.__traceback__ = error.__traceback__.tb_next.tb_next  # from the check's lambda on
    assert student_traceback(error) == "ZeroDivisionError: division by zero"


def test_a_write_that_fails_leaves_the_file_as_it_was_and_nothing_beside_it(tmp_path, monkeypatch):
    write_aside(tmp_path / "a.json", "before")
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_aside(tmp_path / "a.json", "after")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "before"


def test_a_mistake_made_in_two_ways_has_two_fingerprints(small):
    key = answer_key.load.__wrapped__(small.assignment.key)["steps.total"]
    assert answer_key.numbered(["a", "b", "a", "a"]) == ["a", "b", "a (2)", "a (3)"]
    assert [mistake.name for mistake in key.mistakes] == [
        "the mean instead of the sum",
        "the first value is left out",
    ]
    means = [case["values"].mean() for case in key.cases]
    assert np.allclose([answer.arrays[""] for answer in key.mistakes[0].answers], means)
