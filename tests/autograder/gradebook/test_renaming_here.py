"""A question gets another grade id in the middle of the term, and nobody loses anything."""

import json

import nbformat
import pytest

from autograder.gradebook.feedback import make_pages, page_of
from autograder.gradebook.gradebook import keep_up
from autograder.gradebook.history import read_history
from autograder.grading.regrade import regrade
from autograder.grading.run import Options, find_submissions
from autograder.report import contents, read_class
from autograder.source import grade_id
from autograder.written.answers import WrittenAnswers
from autograder.written.desk import Desk
from autograder.written.questions import read_questions
from autograder.written.room import Room
from tests.autograder.here import NAME, Servers

OLD, NEW = "steps-question", "steps-first-question"


@pytest.fixture
def renamed(small):
    """Graded, also by hand, and then released anew with another id."""
    from autograder.authoring import builder
    from autograder.course import Assignment
    from autograder.generating import generate

    small.hand_in("ada", question="Nothing.")
    small.hand_in("bob", question="They double.")
    small.grade_class()
    (question,) = read_questions(small.assignment)
    desk = Desk(small.assignment, question, WrittenAnswers(small.assignment), None)
    for group in desk.view("ann")["groups"]:
        answers = {alias: tag for row in group["rows"] for alias, tag in row["answers"].items()}
        desk.give("ann", answers, 2.5, ticks=[0], comment="Why?")
    small.correct(f'"grade_id": "{OLD}", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}}',
                  f'"grade_id": "{NEW}", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}} course={{"formerly": "{OLD}"}}')  # fmt: skip
    assignment = Assignment(small.root, NAME)
    builder.put(builder.products(Servers(), assignment, generate(assignment)))
    assert small.assignment.title(NEW) == "Question"
    return small


def marks(small):
    with small.gradebook() as gradebook:
        return {
            student: (grade.manual_score, grade.needs_manual_grade, comment.comment)
            for student in ("ada", "bob")
            for grade in [gradebook.find_grade(NEW, NAME, NAME, student)]
            for comment in [gradebook.find_comment(NEW, NAME, NAME, student)]
        }


KEPT = dict.fromkeys(("ada", "bob"), (2.5, False, "Why?"))


@pytest.mark.slow
def test_points_comments_and_groups_stay_and_old_hand_ins_are_graded(renamed):
    before = renamed.scores()
    renamed.grade_class()
    assert marks(renamed) == KEPT and renamed.scores() == before
    assert read_history(renamed.assignment, "ada").answers[NEW] == "Nothing."
    autograded = nbformat.read(renamed.assignment.autograded("ada") / f"{NAME}.ipynb", 4)
    assert {grade_id(cell): cell.source for cell in autograded.cells}[NEW] == "Nothing."


@pytest.mark.slow
def test_every_command_that_reads_the_gradebook_first_finds_everything(renamed):
    """Before anything is graded again: the page for written answers, the report and the feedback."""
    room = Room(renamed.assignment, None, 0.1)
    (row,) = room.overview()
    assert (row["name"], row["title"], row["count"], row["waiting"]) == (NEW, "Question", 2, 0)
    decisions = [r["decision"] for g in room.desks[NEW].view("ann")["groups"] for r in g["rows"]]
    assert {(one["comment"], one["ticks"], one["by"]) for one in decisions} == {("Why?", (0,), "ann")}
    (written,) = contents(read_class(renamed.assignment))["written"]
    assert (written.name, written.written, written.mean.students) == (NEW, 2, 2)
    made, left = make_pages(renamed.assignment, ["ada"])
    assert made == ["ada"] and not left
    assert "2.5 of 3" in page_of(renamed.assignment, "ada").read_text()
    assert marks(renamed) == KEPT


@pytest.mark.slow
def test_regrading_finds_nothing_to_change(renamed):
    folders = find_submissions(renamed.assignment, renamed.assignment.submitted, [])
    done = regrade(renamed.assignment, folders, Options("none"), lambda result: None, lambda changes: False)
    assert done.changes == [] and marks(renamed) == KEPT


@pytest.mark.slow
def test_a_damaged_file_stops_nothing(renamed):
    kept = renamed.root / ".autograder" / "results" / NAME / "bob.json"
    kept.write_text("{")
    keep_up(renamed.assignment)
    assert kept.read_text() == "{" and marks(renamed) == KEPT
    answers = json.loads((renamed.root / ".autograder" / "answers" / NAME / "ada.json").read_text())
    assert NEW in answers["answers"] and OLD not in answers["answers"]
