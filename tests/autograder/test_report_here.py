"""What the report says of a small class."""

import random
import re
import sys
from dataclasses import replace

import pytest
from nbformat.v4 import new_code_cell

from autograder.gradebook.queries import Score
from autograder.report import _bars, contents, read_class, write_report
from autograder.report.pages import write_page
from tests.autograder.commands import command, refusal
from tests.autograder.here import NAME, RIGHT


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_command_writes_the_page_which_calls_a_question_by_its_heading(graded):
    command("report", NAME, "--output", "here.html")
    page = (graded.root / "here.html").read_text()
    assert NAME in page and '<td><span title="steps-question">Question</span></td>' in page


@pytest.mark.slow
def test_who_was_graded_by_something_else_is_named(graded):
    (graded.root / ".autograder" / "results" / NAME / "bob.json").write_text("{")
    write_report(graded.assignment, graded.root / "report.html")
    assert contents(read_class(graded.assignment))["unknown"] == ["bob"]


def test_without_grades_there_is_a_sentence(small):
    assert f"Nobody's {NAME} has been graded" in refusal("report", NAME)


@pytest.mark.slow
def test_without_the_extra_the_report_says_what_is_missing(graded, monkeypatch):
    for name in ("scipy", "sklearn"):
        monkeypatch.setitem(sys.modules, name, None)
    write_report(graded.assignment, graded.root / "report.html")
    page = (graded.root / "report.html").read_text()
    assert "The answers were not compared" in page
    assert "pip install &#39;autograder-notebooks[similarity]&#39;" in page
    assert "We chose these limits" not in page


def test_every_score_is_in_a_bar_the_highest_too():
    scores = [Score(raw, 0.0, waiting, None) for raw, waiting in ((0, False), (9.9, True), (10, False))]
    made = _bars(scores, 10)
    assert sum(bar.finished + bar.waiting for bar in made) == sum(bar.before for bar in made) == 3
    assert (made[0].finished, made[-1].finished, made[-1].waiting) == (1, 1, 1) and made[-1].high == 10


def test_a_bar_knows_how_many_there_were_before_late_penalties():
    made = _bars([Score(10, 4.0, False, None), Score(6, 0.0, False, None)], 10)
    assert [(bar.low, bar.finished, bar.before) for bar in made if bar.finished or bar.before] == [
        (6, 2, 1),
        (9.5, 0, 1),
    ]


@pytest.mark.slow
def test_a_mistake_has_an_example_and_a_sentence_to_say(small):
    """The example is the shortest of the answers: it has the least beside the mistake."""
    wrong = "def total(values):\n    return values.mean()"
    small.hand_in("ada", total=wrong.replace("return", "# <b>why?</b>\n    return"))
    small.hand_in("bob", total=wrong)
    small.grade_class()
    row = contents(read_class(small.assignment))["mistakes"][0]
    assert (row.name, row.example, len(row.students)) == ("the mean instead of the sum", wrong, 2)
    write_report(small.assignment, small.root / "report.html")
    page = (small.root / "report.html").read_text()
    assert (
        "The hint that these students got, which you may also give in class: Your answer does not grow with n."
        in page
    )
    assert "<pre>def total" in page


def a_class(small, count):
    """Students of all abilities: the better, the more is right."""
    chance = random.Random(1)
    mistaken = {
        "total": [
            "def total(values):\n    return values.mean()",
            "def total(values):\n    return values[1:].sum()",
        ],
        "shares": [
            "def shares(values):\n    return values",
            "def shares(values):\n    return values / values.max()",
        ],
        "largest": [
            "def largest(values):\n    return shares(values).min()",
            "def largest(values):\n    return 7",
        ],
    }
    for number in range(count):
        wrong = [name for name in mistaken if chance.random() > (number + 0.3 * count) / (1.3 * count)]
        small.hand_in(f"s{number:03}", **{name: chance.choice(mistaken[name]) for name in wrong})
    small.grade_class()
    return small


@pytest.mark.slow
def test_an_exercise_says_how_well_it_separates_students(small):
    """It is grey in a class that is too small to tell, and a dash where it is not defined."""
    small.hand_in("nobody", small.assignment.read_release())
    shown = contents(read_class(a_class(small, 10).assignment))
    assert {row.discrimination.students for row in shown["exercises"] if row.discrimination} == {10}
    found = [row.discrimination for row in shown["exercises"]]
    assert all(one is None or (-1 <= one.low <= one.value <= one.high <= 1) for one in found)
    assert any(found) and not any(one.certain for one in found if one)
    write_report(small.assignment, small.root / "report.html")
    cells = re.findall(
        r'<td class="([^"]*)" data-name="discrimination">', (small.root / "report.html").read_text()
    )
    assert cells == ["number soft"] * len(found)


@pytest.mark.slow
@pytest.mark.browser
def test_the_report_of_two_hundred_fits_on_two_printed_pages_and_in_a_narrow_window(small, chromium, picture):
    output = a_class(small, 200).root / "report.html"
    write_report(small.assignment, output)
    page = chromium.new_page()
    page.goto(output.as_uri())
    for width in (900, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        picture(page, f"report_{width}", full_page=True)
    rows = page.locator("#exercises td[data-name=discrimination]:not(.soft)")
    assert rows.count() >= 3
    assert printed_pages(page) <= 2

    unchanged = {"changes": None, "days": 7, "kept_since": "today", "made_of": ""}
    shown = contents(read_class(small.assignment)) | unchanged
    exercise, mistake, written = (shown[rows][0] for rows in ("exercises", "mistakes", "written"))
    long = {
        "exercises": 14 * [replace(exercise, name="attention.mended_heads")],
        "mistakes": 20 * [replace(mistake, name="division by the largest score instead of subtraction")],
        "written": 6 * [written],
    }
    write_page(small.root, output, "report.html", shown | long)
    page.goto(output.as_uri())
    assert page.locator("#exercises tbody tr").count() == 20
    assert printed_pages(page) <= 2, (
        "a notebook with as many exercises and questions as the longest of the course"
    )
    page.close()


def printed_pages(page) -> int:
    """On A4 paper, with the margins that browsers propose."""
    margins = dict.fromkeys(("top", "bottom", "left", "right"), "15mm")
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", margin=margins)))


@pytest.mark.slow
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
    assert "Repaired before grading" in page and "stopped with ValueError: &lt;b&gt;mine" in page
