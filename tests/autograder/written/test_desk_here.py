"""Grading a question over a class: what may be given, undone, and read twice, and what nobody may see."""

import pytest

from autograder.gradebook.by_hand import Mark
from autograder.source import grade_id
from autograder.written.agreement import agreement
from autograder.written.answers import Aliases, WrittenAnswers
from autograder.written.desk import Desk, Refused
from autograder.written.questions import read_questions
from autograder.written.state import MOST_UNDONE, QuestionState
from tests.autograder.here import RIGHT
from tests.autograder.written import class_of
from tests.autograder.written.class_of import give

QUESTION = "steps-question"
TEXTS = {"ada": "Nothing: the sum doubles.", "bob": "nothing the sum doubles", "cem": "They double, I think."}


@pytest.fixture
def graded(graded_copy):
    return graded_copy(**{student: {"question": text} for student, text in TEXTS.items()})


@pytest.fixture
def desk(graded) -> Desk:
    (question,) = read_questions(graded.assignment)
    return Desk(graded.assignment, question, WrittenAnswers(graded.assignment), None)


def marks(course):
    return {student: mark.score for student, mark in class_of.marks(course.assignment, QUESTION).items()}


@pytest.mark.slow
def test_points_to_a_group_of_copies_and_to_another_answer(graded, desk):
    give(desk, "ann", "nothing", 3, ticks=[0, 1])
    give(desk, "ann", "they double", 0)
    assert marks(graded) == {"ada": 3, "bob": 3, "cem": 0}


def test_attached_pictures_are_named_and_other_pictures_make_another_answer(small):
    for student, data in {"ada": "AAAA", "bob": "BBBB", "cem": "AAAA"}.items():
        drawn = small.with_cells(RIGHT | {"steps-question": "![my sketch](attachment:image.png)"})
        for cell in drawn.cells:
            if grade_id(cell) == QUESTION:
                cell.attachments = {"image.png": {"image/png": data}}
        small.hand_in(student, drawn)
    small.grade_class()
    (question,) = read_questions(small.assignment)
    desk = Desk(small.assignment, question, WrittenAnswers(small.assignment), None)
    rows = [row for group in desk.view("ann")["groups"] for row in group["rows"]]
    assert all("[Attached: image.png (" in row["text"] for row in rows)
    assert sorted(len(row["answers"]) for row in rows) == [1, 2]


@pytest.mark.parametrize(
    ("score", "more", "why"),
    [
        (-0.5, {}, "between 0 and 3"),
        (3.5, {}, "between 0 and 3"),
        (float("nan"), {}, "between 0 and 3"),
        (1, {"ticks": [7]}, "no such point"),
        (1, {"comment": "x" * 6000}, "at most 5000 characters"),
    ],
)
def test_what_makes_no_sense_is_refused(graded, desk, score, more, why):
    with pytest.raises(Refused, match=why):
        give(desk, "ann", "nothing", score, **more)
    assert marks(graded) == {"ada": None, "bob": None, "cem": None}


@pytest.mark.slow
def test_undo_gives_back_what_was_there_and_says_what_was_given_where_nothing_was_before(graded, desk):
    """So that ticks and comment need not be typed again."""
    give(desk, "ann", "nothing", 1, ticks=[1], comment="And why?")
    give(desk, "ann", "nothing", 3, ticks=[0, 1])
    assert desk.undo("ann").decision is None, "the page shows what is there again"
    rows = [row for group in desk.view("ann")["groups"] for row in group["rows"]]
    assert [row["decision"]["comment"] for row in rows if row["decision"]] == ["And why?"]
    assert class_of.marks(graded.assignment, QUESTION)["bob"] == Mark(1, "And why?", waiting=False)
    undone = desk.undo("ann")
    assert undone.decision and (undone.decision.ticks, undone.decision.comment) == ((1,), "And why?")
    assert class_of.marks(graded.assignment, QUESTION)["bob"] == Mark()
    assert desk.view("ann")["waiting"] == 3


@pytest.mark.slow
def test_one_s_own_last_action_is_undone(graded, desk):
    give(desk, "ann", "nothing", 3)
    give(desk, "ben", "they double", 1)
    assert desk.undo("ann").what == "3 points to 2 answers"
    assert marks(graded) == {"ada": None, "bob": None, "cem": 1}
    with pytest.raises(Refused):
        desk.undo("ann")


def test_of_many_actions_the_last_can_be_undone(tmp_path):
    state = QuestionState(done=[{"number": n} for n in range(MOST_UNDONE + 5)])
    state.write(tmp_path / "state.json")
    kept = QuestionState.read(tmp_path / "state.json").done
    assert [entry["number"] for entry in kept] == list(range(5, MOST_UNDONE + 5))


@pytest.mark.slow
def test_second_readings_are_blind_and_those_of_another_and_of_oneself_are_told_apart(graded, desk):
    give(desk, "ann", "nothing", 3)
    give(desk, "ben", "they double", 1)
    shown = desk.next_again("ben", share=1)
    assert shown["left"] == 2 and set(shown) == {"left", "answer", "text"}  # ann's come first, and no points
    while (shown := desk.next_again("ben", share=1)).get("answer"):
        desk.give_again("ben", shown["answer"], 1)
    found = desk.agreement()
    assert (found["two people"].count, found["two people"].equal) == (2, 0)
    assert (found["one person twice"].count, found["one person twice"].equal) == (1, 1)
    assert marks(graded) == {"ada": 3, "bob": 3, "cem": 1}, "no grade has changed"
    assert desk.next_again("ben", share=0) == {"left": 0}


def test_half_a_point_apart_is_within_half_a_point():
    found = agreement([(1, 1), (1, 1.5), (0, 2)])
    assert (found.equal, found.within_half) == (pytest.approx(1 / 3), pytest.approx(2 / 3))


def test_points_of_the_guide_have_their_worth(small):
    (question,) = read_questions(small.assignment)
    assert [(point.worth, point.text) for point in question.guide] == [(2, '"nothing"'), (1, "the reason")]


def test_nobody_is_recognised_from_question_to_question(tmp_path):
    aliases = Aliases(tmp_path)
    names = {aliases.alias(question, student) for question in "ab" for student in ("zoe", "mia")}
    assert len(names) == 4 and Aliases(tmp_path).alias("a", "zoe") in names
    assert not any(name in alias for alias in names for name in ("zoe", "mia"))
