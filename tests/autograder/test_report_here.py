"""What the report says of a small class."""

import pytest
from nbformat.v4 import new_code_cell

from autograder.gradebook.queries import Score
from autograder.report import _bars, contents, read_class, write_report
from tests.autograder.here import RIGHT


@pytest.fixture
def graded(small):
    small.hand_in("ada")
    for student, number in (("bob", 7.5), ("cem", 8.25)):
        small.hand_in(student, largest=f"def largest(values):\n    return {number}")
    wrong = "def shares(values):\n    return values * 9 * total(values)"
    small.hand_in("dua", total="def total(values):\n    return 0", shares=wrong)
    notebook = small.perfect
    notebook.cells.append(new_code_cell("def helper():\n    return 7"))
    small.hand_in("eva", notebook)
    small.grade_class()
    return small


def test_the_report_gathers_what_is_wrong_in_one_way(graded):
    """Whatever the numbers in the sentence are. What follows from an earlier mistake is not among it."""
    shown = contents(read_class(graded.assignment))
    rows = {row.name: row for row in shown["exercises"]}
    assert rows["steps.largest"].right == 3 and dict(rows["steps.largest"].statuses) == {"failed": 2}
    assert rows["steps.shares"].inherited == 1 and rows["steps.largest"].inherited == 0
    assert [(row.exercise, row.students) for row in shown["unnamed"]] == [
        ("steps.largest", ["bob", "cem"]),
        ("steps.total", ["dua"]),
    ]
    assert shown["mean"] == pytest.approx((9 + 6 + 6 + 3 + 9) / 5) and shown["median"] == 6


def test_a_written_question_is_called_by_its_heading(graded):
    output = graded.root / "report.html"
    write_report(graded.assignment, output)
    assert '<td><span title="steps-question">Question</span></td>' in output.read_text()


def test_every_score_is_in_a_bar_the_highest_too():
    scores = [Score(raw, 0.0, waiting, None) for raw, waiting in ((0, False), (9.9, True), (10, False))]
    made = _bars(scores, 10)
    assert sum(bar.finished + bar.waiting for bar in made) == 3
    assert (made[0].finished, made[-1].finished, made[-1].waiting) == (1, 1, 1) and made[-1].high == 10


def test_what_was_put_right_is_named_as_text(small):
    notebook = small.with_cells(
        RIGHT | {"steps-total": "def total(values: np.ndarray):\n    return values.sum()"}
    )
    setup = next(cell for cell in notebook.cells if cell.source.startswith("import numpy"))
    setup.source = "raise ValueError('<b>mine</b>')"
    small.hand_in("ada", notebook)
    small.grade_class()
    output = small.root / "report.html"
    write_report(small.assignment, output)
    page = output.read_text()
    assert "Put right before they were graded" in page and "stopped with ValueError: &lt;b&gt;mine" in page
