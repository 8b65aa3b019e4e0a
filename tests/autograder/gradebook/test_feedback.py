"""A student's feedback begins with what to do: exercises by name, their mistakes with links, what waits for a person."""

import base64
import re
from html import unescape

import pytest

from autograder.gradebook.feedback import make_pages, page_of
from autograder.untrusted.pages import NOT_RUN
from tests.autograder import here
from tests.autograder.commands import refusal
from tests.autograder.small_class import FIRST, FORMULA, NAME, SCRIPT, SECOND, WRITTEN

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pages(graded_class):
    """The class's feedback, made as `autograder feedback` makes it."""
    students = ["ada", "cem", "dua", "gil", "hao", "ian", SCRIPT, FORMULA]
    made, left = make_pages(graded_class.assignment, students)
    assert made == students and not left
    return {student: page_of(graded_class.assignment, student).read_text() for student in students}


def top(page: str) -> str:
    """What stands above the notebook."""
    return re.search(r'<div id="toc".*?</div>', page, re.S)[0]


def text(html: str) -> str:
    return " ".join(unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", html, flags=re.S)).split())


def row_of(shown: str, cell: str) -> str:
    """The line of the list that leads to a cell."""
    (row,) = (row for row in re.findall(r"<li>.*?</li>", shown, re.S) if f'href="#{cell}"' in row)
    return row


def test_points_so_far_and_what_waits(pages):
    assert re.search(
        r"\d+ of 18 points so far\s*, including 1 for extensions\s*; 4 points are still to be graded by hand",
        text(top(pages["ada"])),
    )


def test_a_wrong_exercise_has_its_name_its_mistake_and_a_link_to_its_cell(pages, graded_class):
    shown = top(pages["dua"])
    assert "Look at these again" in shown
    row = row_of(shown, f"{FIRST}-check")
    mistake = graded_class.failing["dua"].lower()
    assert "similarities" in text(row) and mistake in text(row).lower() and "0 of" in text(row)
    assert f'name="{FIRST}-check"' in pages["dua"]  # where the link leads
    assert "Test cell" not in shown


def test_what_is_right_is_not_among_what_to_look_at_again(pages):
    assert "Look at these again" not in top(pages["ada"])
    assert f'href="#{SECOND}-check"' in top(pages["ada"])


def test_a_follow_on_says_what_to_mend_first(small):
    wrong = "def shares(values):\n    return values * 9 * total(values)"
    small.hand_in("dua", total="def total(values):\n    return 0", shares=wrong)
    small.grade_class()
    make_pages(small.assignment, ["dua"])
    row = text(row_of(top(page_of(small.assignment, "dua").read_text()), "steps-shares-check"))
    assert "numbers differ from the expected ones" in row
    assert "This exercise builds on total, which is not right. Correct the earlier answer first." in row


def test_an_unanswered_question_and_one_that_waits_are_told_apart(pages):
    assert "No answer was written" in text(top(pages["gil"]))
    assert "still to be graded by hand" in text(top(pages["ada"])) and WRITTEN in top(pages["ada"])


def test_a_written_answer_is_called_as_in_the_notebook(pages):
    """In the list and over the answer; the grade id is where a pointer rests."""
    heading = "Question 2 · How attention contextualises"
    assert heading in text(top(pages["ada"])) and WRITTEN not in text(top(pages["ada"]))
    below = pages["ada"].partition(top(pages["ada"]))[2]
    assert f'<span class="nbgrader-label" title="{WRITTEN}">{heading}</span>' in below
    assert f'title="{FIRST}-check">Check of similarities</span>' in below and "Grade cell:" not in below


def test_extensions_stand_apart(pages, graded_class):
    extra = [
        exercise.name.partition(".")[2]
        for cell in graded_class.assignment.read_release().cells
        if cell.metadata.get("course", {}).get("extra_credit")
        for exercise in [graded_class.assignment.by_check_id[cell.metadata.nbgrader.grade_id]]
    ]
    shown = text(top(pages["gil"]))
    again, extensions = shown.partition("Extensions")[::2]
    assert extra and all(name in extensions and f"{name}:" not in again for name in extra)


def test_a_file_that_is_no_notebook_says_so_on_top(pages):
    assert "not a notebook" in text(top(pages["hao"]))


def test_a_hand_graded_score_and_comment_are_on_top(small):
    small.hand_in("ada", question="Nothing.")
    small.grade_class()
    small.finish("ada", points=0.0)
    with small.gradebook() as gradebook:
        gradebook.find_comment("steps-question", here.NAME, here.NAME, "ada").manual_comment = "Why?"
        gradebook.db.commit()
    make_pages(small.assignment, ["ada"])
    row = row_of(top(page_of(small.assignment, "ada").read_text()), "steps-question")
    assert "0 of 3" in text(row) and 'href="#comment-steps-question"' in row and "waits" not in row


PICTURE = re.compile(r'<img src="data:image/png;base64,([\w+/=]+)" width="\d+" height="\d+" alt="[^"<>]+">')


def test_nothing_of_a_student_is_html_on_top(pages):
    for page in pages.values():
        assert "<script" not in top(page) and "<img" not in PICTURE.sub("", top(page))


def test_a_wrong_exercise_has_its_numbers_beside_the_expected_ones(pages, graded_class):
    shown = top(pages["dua"])
    row = row_of(shown, f"{FIRST}-check")
    found = PICTURE.findall(row)
    assert all(base64.b64decode(picture).startswith(b"\x89PNG") for picture in found)
    assert [title for title in ("yours 2", "expected 2", "|difference|") if title in text(row)] and len(
        found
    ) == 3
    assert PICTURE.findall(shown) == found, "of what is wrong, and of nothing else"
    assert not PICTURE.findall(top(pages["ada"]))


def test_a_demonstration_that_was_not_run_says_where_its_figure_is(pages):
    assert NOT_RUN.strip() in unescape(pages["ada"])


def test_the_command_names_who_cannot_have_a_page(own_class):
    assert "not graded yet" in refusal("feedback", NAME, "nobody")
