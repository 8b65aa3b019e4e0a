"""What is written into a gradebook beside the scores: points that changed, extensions, marks of a person, files."""

from datetime import datetime, timedelta

import pytest
from nbformat.v4 import new_code_cell

from autograder.authoring import builder
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.files import course_lock
from autograder.gradebook.by_hand import Mark, read_marks, write_marks
from autograder.gradebook.gradebook import register
from autograder.gradebook.queries import CellMean, cell_means, scored_by_hand
from autograder.gradebook.rows import SubmissionRow
from autograder.grading.history import recall
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
    assignment.release.write_bytes(builder.release_bytes(assignment))
    register(assignment)
    with small.gradebook() as gradebook:
        assert gradebook.find_graded_cell("steps-total-check", NAME, NAME).max_score == 5


def test_a_corrected_check_reaches_the_gradebook(small):
    """nbgrader's own Autograde puts it back from there."""
    small.correct("lambda case: total(", "lambda given: total(")
    small.correct('total(case["values"])', 'total(given["values"])')
    assignment = Assignment(small.root, NAME)
    assignment.release.write_bytes(builder.release_bytes(assignment))
    register(assignment)
    with small.gradebook() as gradebook:
        assert "given" in gradebook.find_source_cell("steps-total-check", NAME, NAME).source


def test_what_a_person_gives_and_takes_back(graded):
    with graded.gradebook() as gradebook:
        assert read_marks(gradebook, NAME, QUESTION)["dua"] == Mark(None, "", False, blank=True)
        write_marks(gradebook, NAME, QUESTION, {"ada": Mark(2, "good", False), "bob": Mark(0, "", False)})
        given = read_marks(gradebook, NAME, QUESTION)
        assert given["ada"] == Mark(2, "good", False) and given["bob"] == Mark(0, "", False)
        assert given["cem"].waiting
        write_marks(gradebook, NAME, QUESTION, {"ada": Mark(None, "", False)})
        assert read_marks(gradebook, NAME, QUESTION)["ada"] == Mark(None, "", True)


def test_a_mean_is_that_of_the_answers_that_are_graded(graded):
    with graded.gradebook() as gradebook:
        write_marks(gradebook, NAME, QUESTION, {"ada": Mark(2, "", False), "bob": Mark(1, "", False)})
        means = cell_means(gradebook, NAME)
        assert means[QUESTION] == CellMean(3, 1.0)  # with the blank one
        assert scored_by_hand(gradebook, NAME) == {"ada": {QUESTION}, "bob": {QUESTION}}


def test_reasons_answers_and_times_are_kept_beside_it(graded):
    kept = recall(graded.assignment, "ada")
    assert (
        kept.answers[QUESTION] == "Nothing, says ada." and kept.hand_ins[0].timestamp == "2026-10-01 12:00:00"
    )
    assert recall(graded.assignment, "stranger") is None


def test_helpers_that_a_student_has_added_are_kept(small):
    notebook = small.perfect
    notebook.cells.append(new_code_cell("def helper():\n    return 7"))
    small.hand_in("ada", notebook)
    small.grade_class()
    assert recall(small.assignment, "ada").added == "def helper():\n    return 7"


def test_only_one_run_at_a_time_writes_a_gradebook(small):
    refused = pytest.raises(CourseError, match="Another run is grading this course")
    with course_lock(small.root), refused, course_lock(small.root):
        pass
    with course_lock(small.root):
        pass
