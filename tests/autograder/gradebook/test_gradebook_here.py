"""What is written into a gradebook beside the scores: points that changed, extensions, marks of a person, files."""

from datetime import datetime, timedelta

import pytest
from nbgrader.apps import NbGraderAPI

from autograder.course import Assignment
from autograder.generating import release_bytes
from autograder.gradebook import feedback
from autograder.gradebook.by_hand import Mark, read_marks, write_marks
from autograder.gradebook.gradebook import register
from autograder.gradebook.history import read_history
from autograder.gradebook.queries import CellMean, cell_means, scored_by_hand
from autograder.gradebook.rows import SubmissionRow
from autograder.settings import course_directory, load
from tests.autograder.here import NAME

QUESTION = "steps-question"


@pytest.fixture
def graded(small):
    for student in ("ada", "bob", "cem"):
        small.hand_in(student, question=f"Nothing, says {student}.")
    small.hand_in("dua")
    small.grade_class()
    return small


@pytest.mark.parametrize(
    ("extension", "late"), [(None, 3600), (timedelta(minutes=30), 1800), (timedelta(hours=2), 0)]
)
def test_an_extension_moves_the_due_date(extension, late):
    row = SubmissionRow("id", False, None, datetime(2026, 10, 1, 13), extension)
    assert row.seconds_late(datetime(2026, 10, 1, 12)) == late and row.seconds_late(None) == 0


def test_changed_points_reach_the_gradebook(small):
    small.correct('-total-check", "locked": true, "points": 2', '-total-check", "locked": true, "points": 5')
    assignment = Assignment(small.root, NAME)
    assignment.release.write_bytes(release_bytes(assignment))
    register(assignment)
    with small.gradebook() as gradebook:
        assert gradebook.find_graded_cell("steps-total-check", NAME, NAME).max_score == 5


def test_a_corrected_check_reaches_the_gradebook(small):
    """nbgrader's own Autograde puts it back from there."""
    small.correct("lambda case: total(", "lambda given: total(")
    small.correct('total(case["values"])', 'total(given["values"])')
    assignment = Assignment(small.root, NAME)
    assignment.release.write_bytes(release_bytes(assignment))
    register(assignment)
    with small.gradebook() as gradebook:
        assert "given" in gradebook.find_source_cell("steps-total-check", NAME, NAME).source


def test_what_a_person_gives_and_takes_back(graded):
    with graded.gradebook() as gradebook:
        assert read_marks(gradebook, graded.assignment, QUESTION)["dua"] == Mark(None, "", False, blank=True)
        write_marks(
            gradebook, graded.assignment, QUESTION, {"ada": Mark(2, "good", False), "bob": Mark(0, "", False)}
        )
        given = read_marks(gradebook, graded.assignment, QUESTION)
        assert given["ada"] == Mark(2, "good", False) and given["bob"] == Mark(0, "", False)
        assert given["cem"].waiting
        write_marks(gradebook, graded.assignment, QUESTION, {"ada": Mark(None, "", False)})
        assert read_marks(gradebook, graded.assignment, QUESTION)["ada"] == Mark(None, "", True)


def test_a_mean_is_that_of_the_answers_that_are_graded(graded):
    with graded.gradebook() as gradebook:
        write_marks(
            gradebook, graded.assignment, QUESTION, {"ada": Mark(2, "", False), "bob": Mark(1, "", False)}
        )
        means = cell_means(gradebook, NAME, NAME)
        assert means[QUESTION] == CellMean(3, 1.0)  # with the blank one
        assert scored_by_hand(gradebook, NAME, NAME) == {"ada": {QUESTION}, "bob": {QUESTION}}


def test_reasons_answers_and_times_are_kept_beside_it(graded):
    kept = read_history(graded.assignment, "ada")
    assert (
        kept.answers[QUESTION] == "Nothing, says ada." and kept.hand_ins[0].timestamp == "2026-10-01 12:00:00"
    )
    assert read_history(graded.assignment, "stranger") is None


def grade_of(small, student, cell):
    with small.gradebook() as gradebook:
        grade = gradebook.find_grade(cell, NAME, NAME, student)
        return grade.auto_score, grade.extra_credit, grade.needs_manual_grade


def test_what_a_person_gave_stays_and_is_looked_at_again_when_the_answer_changes(small):
    small.hand_in("ada", question="Nothing happens.")
    small.grade_class()
    small.finish("ada", points=2)
    small.grade_class(fresh=True)
    assert small.scores() == {"ada": 11} and not grade_of(small, "ada", "steps-question")[2]
    small.hand_in("ada", question="They double.")
    small.grade_class()
    assert small.scores() == {"ada": 11} and grade_of(small, "ada", "steps-question")[2]


def test_extra_credit_that_a_person_typed_in_stays(small):
    small.hand_in("ada")
    small.grade_class()
    with small.gradebook() as gradebook:
        gradebook.find_grade("steps-largest-check", NAME, NAME, "ada").extra_credit = 0.5
        gradebook.db.commit()
    small.hand_in("ada", largest="def largest(values):\n    return 0")
    small.grade_class()
    assert grade_of(small, "ada", "steps-largest-check") == (0, 0.5, False)


def test_the_extra_credit_that_we_gave_is_taken_back(small):
    small.hand_in("ada")
    small.grade_class()
    small.hand_in("ada", largest="def largest(values):\n    return 0")
    small.grade_class()
    assert grade_of(small, "ada", "steps-largest-check") == (0, 0, False)


def test_unanswered_questions_are_commented_as_nbgrader_does(small):
    small.hand_in("ada", question="Nothing.")
    small.hand_in("bob")
    small.grade_class()
    with small.gradebook() as gradebook:
        comments = {
            student: gradebook.find_comment("steps-question", NAME, NAME, student).auto_comment
            for student in ("ada", "bob")
        }
    assert comments == {"ada": None, "bob": "No response."}


@pytest.mark.slow
def test_a_student_whose_id_nbgrader_would_take_for_a_pattern_gets_the_own_feedback(small):
    for student, total in (("a", "0"), ("[ab]", "values.sum()"), ("?", "values.sum()"), ("*", "1")):
        small.hand_in(student, total=f"def total(values):\n    return {total}")
    small.grade_class()
    made, left = feedback.make_pages(small.assignment)
    assert (sorted(made), left) == (["*", "?", "[ab]", "a"], [])
    pages = {student: feedback.page_of(small.assignment, student) for student in made}
    before = {student: page.stat().st_mtime_ns for student, page in pages.items()}
    feedback.make_pages(small.assignment, ["*"])
    assert {student for student in made if pages[student].stat().st_mtime_ns != before[student]} == {"*"}
    api = NbGraderAPI(course_directory(small.root), config=load(small.root))
    pages["[ab]"].unlink()
    assert api.generate_feedback(NAME, "[ab]")["success"] and pages["[ab]"].exists(), "formgrader's button"
