"""What a report says of the time since an earlier one."""

from datetime import date, timedelta

import pytest

from autograder.report import changes, write_report
from autograder.report.everybody import read_class

TODAY = date(2026, 11, 27)
MEAN = "def total(values):\n    return values.mean()"


def numbers(small):
    return changes.numbers_of([read_class(small.assignment)])


@pytest.fixture
def graded(graded_copy):
    return graded_copy(ada={"question": "Because."}, bob={"total": MEAN}, cem={"total": MEAN})


@pytest.mark.slow
def test_scores_mistakes_and_written_questions_are_compared(graded):
    before = numbers(graded)
    changes.keep(graded.assignment, before, TODAY - timedelta(7))
    graded.hand_in("bob")
    graded.hand_in("dua")
    graded.grade_class()
    graded.finish("ada", points=1.5)
    after = numbers(graded)
    found = changes.changes_since(graded.assignment, after, today=TODAY)
    assert found.since == TODAY - timedelta(7)
    assert [(one.name, one.before, one.after) for one in found.new] == [("dua", None, after["scores"]["dua"])]
    assert [(one.name, one.before, one.after) for one in found.scores] == [
        (name, before["scores"][name], after["scores"][name]) for name in ("ada", "bob")
    ]
    (mistake,) = found.mistakes
    assert (mistake.exercise, mistake.before, mistake.after) == ("steps.total", 2, 1)
    (question,) = found.written
    graded_before, graded_now = question.before[0], question.after[0]
    assert (
        question.name == "steps-question" and graded_now == graded_before + 2
    )  # ada's, and dua wrote nothing


@pytest.mark.parametrize(
    "ages, days, used",
    [((1, 6), 7, None), ((1, 7, 30), 7, 7), ((1, 8, 30), 7, 8), ((1, 8), 1, 1), ((0,), 1, None)],
)
def test_it_is_the_last_report_that_is_old_enough(graded, ages, days, used):
    now = numbers(graded)
    for age in ages:
        changes.keep(graded.assignment, now, TODAY - timedelta(age))
    found = changes.changes_since(graded.assignment, now, days, TODAY)
    assert (found and (TODAY - found.since).days) == used
    assert not (found and found.anything)
    assert changes.kept_since(graded.assignment) == TODAY - timedelta(max(ages))


def test_who_is_gone_and_a_damaged_file_do_no_harm(graded):
    now = numbers(graded)
    folder = graded.root / ".autograder" / "reports" / graded.assignment.name
    changes.keep(graded.assignment, now | {"scores": now["scores"] | {"zoe": 3.0}}, TODAY - timedelta(9))
    (folder / f"{TODAY - timedelta(8)}.json").write_text('{"scores": ')
    (folder / "notes.json").write_text("{}")
    (change,) = changes.changes_since(graded.assignment, now, today=TODAY).scores
    assert (change.name, change.before, change.after) == ("zoe", 3.0, None)


@pytest.mark.slow
def test_the_page_says_since_when(graded):
    output = graded.root / "report.html"
    write_report(graded.assignment, output)
    first = " ".join(output.read_text().split())
    assert "no report on this assignment is at least 7 days old" in first
    (kept,) = (graded.root / ".autograder" / "reports" / graded.assignment.name).iterdir()
    old = date.fromisoformat(kept.stem) - timedelta(7)
    kept.rename(kept.with_name(f"{old}.json"))
    write_report(graded.assignment, output)
    assert f"Nothing has changed since the report of {old}" in output.read_text()
    graded.hand_in("bob")
    graded.grade_class()
    write_report(graded.assignment, output)
    page = " ".join(output.read_text().split())
    assert f"Compared with the report of {old} (UTC), the most recent one that is at least 7 days old" in page
    assert "The score of 1 student is different" in page
