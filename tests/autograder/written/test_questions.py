"""Marking guides become points that can be ticked."""

import pytest

from autograder.written.questions import GuidePoint, read_guide, read_questions, without_markup
from tests.conftest import ASSIGNMENTS


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_each_question_of_the_course_has_a_guide_worth_its_points(name):
    questions = read_questions(ASSIGNMENTS[name])
    assert questions
    for question in questions:
        assert len(question.guide) >= 2 and question.prompt and question.model_answer
        assert "Marking" not in question.model_answer
        assert sum(point.worth for point in question.guide) >= question.points


@pytest.mark.parametrize(
    "guide, points",
    [
        ("1 point for *this*; 0.5 points: that.", (GuidePoint(1, "this"), GuidePoint(0.5, "that"))),
        (
            "- two points: a name\n- a point for a number\n",
            (GuidePoint(2, "a name"), GuidePoint(1, "a number")),
        ),
        ("½ point for trying", (GuidePoint(0.5, "trying"),)),
        ("Full marks for whoever says so.", ()),
    ],
)
def test_guides_as_people_write_them(guide, points):
    assert read_guide(guide) == points


def test_lines_are_joined_and_lists_are_kept():
    assert (
        without_markup("# Title\n\none *two*\nthree, 2 * 3 * 4\n\n- a\n- b")
        == "Title\n\none two three, 2 * 3 * 4\n\n- a\n- b"
    )
