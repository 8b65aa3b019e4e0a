"""The page about the whole term: everybody's scores, each assignment, each exercise; sorted by its headings."""

import random
import re
from datetime import datetime
from html import unescape
from pathlib import Path

import pytest

from autograder.course import Assignment
from autograder.report import read_class
from autograder.report.term import contents, summary, write_term
from tests.autograder.commands import command, refusal
from tests.autograder.here import NAME
from tests.autograder.road import grade_all, hand_in

pytestmark = pytest.mark.slow

SECOND = "02_tests"
SCRIPT = "<img src=x onerror=alert(1)>"


def grade_second(small, *students):
    second = Assignment(small.root, SECOND)
    for student in students:
        hand_in(small.root, student, second, second.read_release())
    grade_all(second)


@pytest.fixture
def term(small):
    """Four have handed in the first, of whom dua was late; bob alone the second; zoe nothing."""
    mean = "def total(values):\n    return values.mean()"
    small.hand_in("ada", question="Because.")
    small.hand_in("bob", total=mean)
    small.hand_in(SCRIPT, largest="def largest(values):\n    return 7", question=SCRIPT)
    late = small.hand_in("dua", total=mean, question="I do not know.")
    (late / "timestamp.txt").write_text("2026-10-02 12:00:00 UTC")
    with small.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=datetime(2026, 10, 2))
        gradebook.update_or_create_student("zoe", first_name="<b>Zoë</b>")
    small.grade_class()
    grade_second(small, "bob")
    small.finish("ada")
    return small


def summaries(small):
    return [summary([read_class(Assignment(small.root, name))]) for name in (NAME, SECOND)]


def test_each_assignment_has_its_mean_its_hardest_exercise_and_its_most_frequent_mistake(term):
    first, second = summaries(term)
    assert (len(first.scores), first.late, first.waiting) == (4, 1, 2) and len(second.scores) == 1
    assert first.mean == pytest.approx(sum(score.net for score in first.scores.values()) / 4)
    assert (first.mistake.name, sorted(first.mistake.students)) == (
        "the mean instead of the sum",
        ["bob", "dua"],
    )
    assert (first.hardest.name, first.hardest.right) == ("steps.total", 2)
    assert second.mistake is None


def test_everybody_in_the_gradebook_has_a_row_with_what_is_late_and_what_waits(term):
    first, second = shown = summaries(term)
    rows = {row.student: row for row in contents(term.root, shown)["students"]}
    assert list(rows) == sorted([SCRIPT, "ada", "bob", "dua", "zoe"])
    assert rows["zoe"].scores == [None, None] and rows["zoe"].total == 0
    assert rows["bob"].total == first.scores["bob"].net + second.scores["bob"].net
    assert [rows[name].late for name in ("ada", "bob", "dua")] == [0, 0, 1]
    assert [rows[name].waiting for name in ("ada", "dua")] == [0, 1]


def test_who_has_an_extension_is_not_late(term):
    with term.gradebook() as gradebook:
        gradebook.grant_extension(NAME, "dua", days=1)
        gradebook.db.commit()
    assert summaries(term)[0].late == 0


def test_the_command_writes_the_page_and_every_report_that_it_links_to(term):
    command("report", "--output", "of/the/term.html")
    page = Path("of/the/term.html").read_text()
    links = [href for href in re.findall(r'<a href="([^"#]*)"', page)]
    assert links == [f"reports/{NAME}.html", f"reports/{SECOND}.html"]
    assert all((Path("of/the") / link).exists() for link in links)
    assert SCRIPT not in page and SCRIPT in unescape(page) and "<b>Zoë" not in page
    assert re.findall(r"<script", page) == ["<script"] and "unsafe-inline'; script-src 'sha256-" in page


def test_a_report_of_which_nothing_has_changed_is_not_made_again(term):
    """Looking for likeness takes seconds in a large class."""
    pages = [Path("reports") / f"{name}.html" for name in (NAME, SECOND)]

    def written():
        before = [page.exists() and page.stat().st_ino for page in pages]
        command("report")
        return [page.stat().st_ino != old for page, old in zip(pages, before, strict=True)]

    assert written() == [True, True]
    assert written() == [False, False]
    term.finish("dua")
    assert written() == [True, False]
    grade_second(term, "ada")
    assert written() == [False, True]
    with term.gradebook() as gradebook:
        gradebook.update_or_create_student("yan")
    assert written() == [True, True]
    hints = Assignment(term.root, NAME).exercises_file
    hints.write_text(hints.read_text() + "\n# other hints\n")
    assert written() == [True, False]


def test_an_assignment_that_cannot_be_reported_is_named_and_harms_no_other(term):
    Assignment(term.root, SECOND).release.unlink()
    assert "run `autograder build` first" in " ".join(command("report", status=1).split())
    page = Path("term.html").read_text()
    assert "<b>Left out:</b> 02_tests: " in page and f"reports/{NAME}.html" in page
    assert f"reports/{SECOND}.html" not in page


def test_without_grades_there_is_a_sentence(small):
    assert "Nothing has been graded yet" in refusal("report") and not Path("term.html").exists()


def test_a_small_class_is_grey(term):
    write_term(term.root, summaries(term), Path("term.html"))
    classes = re.findall(r'<td class="([^"]*)" data-name="discrimination"', Path("term.html").read_text())
    assert classes and set(classes) == {"number soft"}


@pytest.fixture
def large(small) -> Path:
    """Forty students; the first column's ids are not in the order of their points."""
    drawn = random.Random(2)
    wrong = {
        "total": "def total(values):\n    return values.mean()",
        "shares": "def shares(values):\n    return values",
    }
    for number in range(40):
        small.hand_in(f"s{number}", **{name: wrong[name] for name in wrong if drawn.random() < 0.4})
    small.grade_class()
    grade_second(small, *(f"s{number}" for number in range(0, 40, 3)))
    write_term(small.root, summaries(small), small.root / "term.html")
    return small.root / "term.html"


@pytest.mark.browser
def test_headings_sort_by_click_and_by_key_and_the_page_fits_and_prints(large, chromium, picture):
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    asked, faults = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(large.as_uri())
    assert asked == [large.as_uri()]
    column = page.locator("#students tbody tr > :first-child")
    assert column.all_inner_texts()[:3] == ["s0", "s1", "s10"]
    student = page.locator("#students th button").first
    student.click()
    assert column.all_inner_texts()[:3] == ["s0", "s1", "s2"]  # numbers in ids count as numbers
    student.focus()
    page.keyboard.press("Enter")
    assert column.all_inner_texts()[0] == "s39"
    assert page.locator("#students th[aria-sort]").get_attribute("aria-sort") == "descending"

    second = page.locator("#students th button").nth(6)
    scores = page.locator("#students tbody tr > :nth-child(7)")
    for _ in ("upwards", "downwards"):
        second.click()
        assert scores.all_inner_texts()[-1] == "–"  # who handed in nothing is last either way
    points = [float(cell) for cell in page.locator("#students td b").all_inner_texts()]
    page.locator("#students th button").nth(2).click()
    assert [float(cell) for cell in page.locator("#students td b").all_inner_texts()] == sorted(points)

    for width in (900, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        picture(page, f"term_{width}", full_page=True)
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) <= 3
    assert faults == []
    page.close()
