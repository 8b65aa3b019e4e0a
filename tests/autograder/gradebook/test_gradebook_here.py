"""What is written into a gradebook, with how much reading, and beside the scores: changed points, extensions, marks, files."""

import shutil
from datetime import datetime, timedelta

import pytest
from nbgrader.api import Grade
from nbgrader.apps import NbGraderAPI
from sqlalchemy import event

from autograder.course import Assignment
from autograder.generating import release_bytes
from autograder.gradebook import feedback
from autograder.gradebook.by_hand import Mark, read_marks, write_marks
from autograder.gradebook.gradebook import GradebookWriter, RecordedCells, register
from autograder.gradebook.history import read_history
from autograder.gradebook.queries import CellMean, cell_means, scored_by_hand, seconds_late
from autograder.results import Result
from autograder.settings import course_directory, load
from tests.autograder.here import NAME

QUESTION, EXTENSION = "steps-question", "steps-largest-check"
WITHOUT_EXTENSION = "def largest(values):\n    return 0"


@pytest.fixture
def graded(graded_copy):
    written = {name: {"question": f"Nothing, says {name}."} for name in ("ada", "bob", "cem")}
    return graded_copy(**written, dua={})


@pytest.mark.parametrize(
    ("extension", "late"), [(None, 3600), (timedelta(minutes=30), 1800), (timedelta(hours=2), 0)]
)
def test_an_extension_moves_the_due_date(extension, late):
    handed_in = datetime(2026, 10, 1, 13)
    assert seconds_late(handed_in, datetime(2026, 10, 1, 12), extension) == late
    assert seconds_late(handed_in, None, extension) == 0


@pytest.mark.slow
def test_changed_points_reach_the_gradebook(small):
    small.correct('-total-check", "locked": true, "points": 2', '-total-check", "locked": true, "points": 5')
    assignment = Assignment(small.root, NAME)
    assignment.release.write_bytes(release_bytes(assignment))
    register(assignment)
    with small.gradebook() as gradebook:
        assert gradebook.find_graded_cell("steps-total-check", NAME, NAME).max_score == 5


@pytest.mark.slow
def test_a_corrected_check_reaches_the_gradebook(small):
    """nbgrader's own Autograde puts it back from there."""
    small.correct("lambda case: total(", "lambda given: total(")
    small.correct('total(case["values"])', 'total(given["values"])')
    assignment = Assignment(small.root, NAME)
    assignment.release.write_bytes(release_bytes(assignment))
    register(assignment)
    with small.gradebook() as gradebook:
        assert "given" in gradebook.find_source_cell("steps-total-check", NAME, NAME).source


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_a_person_gave_stays_and_is_looked_at_again_when_the_answer_changes(small):
    small.hand_in("ada", question="Nothing happens.")
    small.grade_class()
    small.finish("ada", points=2)
    small.grade_class(fresh=True)
    assert small.scores() == {"ada": 11} and not grade_of(small, "ada", QUESTION)[2]
    small.hand_in("ada", question="They double.")
    small.grade_class()
    assert small.scores() == {"ada": 11} and grade_of(small, "ada", QUESTION)[2]


@pytest.mark.slow
def test_extra_credit_that_a_person_typed_in_stays(small):
    small.hand_in("ada")
    small.grade_class()
    with small.gradebook() as gradebook:
        gradebook.find_grade(EXTENSION, NAME, NAME, "ada").extra_credit = 0.5
        gradebook.db.commit()
    small.hand_in("ada", largest=WITHOUT_EXTENSION)
    small.grade_class()
    assert grade_of(small, "ada", EXTENSION) == (0, 0.5, False)


@pytest.mark.slow
@pytest.mark.parametrize("file_is_gone", [False, True])
def test_the_extra_credit_that_we_gave_is_taken_back(small, file_is_gone):
    """Also when the file beside the gradebook is gone in which it was noted."""
    small.hand_in("ada")
    small.grade_class()
    assert grade_of(small, "ada", EXTENSION) == (1, 2, False)
    if file_is_gone:
        shutil.rmtree(small.root / ".autograder" / "answers")
    small.hand_in("ada", largest=WITHOUT_EXTENSION)
    small.grade_class()
    assert grade_of(small, "ada", EXTENSION) == (0, 0, False)


@pytest.mark.slow
def test_extra_credit_of_a_check_is_ours_after_a_kill_in_between(small, monkeypatch):
    """Killed between the gradebook's commit and the file beside it; then something worse is handed in."""
    small.hand_in("ada", largest=WITHOUT_EXTENSION)
    small.grade_class()
    assert grade_of(small, "ada", EXTENSION)[1] == 0

    def killed(recorded: RecordedCells) -> None:
        raise KeyboardInterrupt

    small.hand_in("ada")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(RecordedCells, "save", killed)
        small.grade_class()
    assert grade_of(small, "ada", EXTENSION)[1] == 2, "the gradebook has it"
    small.hand_in("ada", largest=WITHOUT_EXTENSION)
    small.grade_class()
    assert grade_of(small, "ada", EXTENSION)[1] == 0


def last_of(small, student):
    """A student's submission and the result that was recorded."""
    return small.read(student), Result(student, read_history(small.assignment, student).verdicts, 0.0)


def scores_of_cells(gradebook, student):
    """As the database has them, and not the session."""
    gradebook.db.expire_all()
    return {
        grade.name: grade.auto_score
        for grade in gradebook.find_submission_notebook(NAME, NAME, student).grades
    }


def test_a_row_that_is_missing_is_made(graded):
    with graded.gradebook() as gradebook:
        before = scores_of_cells(gradebook, "ada")
        gradebook.db.delete(gradebook.find_grade("steps-total-check", NAME, NAME, "ada"))
        gradebook.db.commit()
        GradebookWriter(gradebook, graded.assignment).record([last_of(graded, "ada")])
        assert scores_of_cells(gradebook, "ada") == before and before["steps-total-check"] == 2


def test_of_several_students_all_or_none_are_committed(graded):
    """The second has no verdict for its cells, which is our error."""
    good, (submission, _) = last_of(graded, "ada"), last_of(graded, "bob")
    with graded.gradebook() as gradebook:
        gradebook.db.query(Grade).update({"auto_score": 0.125})
        gradebook.db.commit()
        with pytest.raises(KeyError):
            GradebookWriter(gradebook, graded.assignment).record([good, (submission, Result("bob", (), 0.0))])
        gradebook.db.rollback()
        assert {grade.auto_score for grade in gradebook.db.query(Grade)} == {0.125}


def test_recording_a_student_reads_no_whole_table(graded):
    """Or a class of two thousand would take longer for each than a class of twenty."""
    asked = []
    with graded.gradebook() as gradebook:
        writer = GradebookWriter(gradebook, graded.assignment)
        event.listen(gradebook.engine, "before_cursor_execute", lambda *call: asked.append(call[2:4]))
        submission, result = last_of(graded, "ada")
        writer.set_rows(submission, result.verdicts)
        gradebook.db.query(Grade).filter(Grade.auto_score == 1).all()  # this one does
        connection = gradebook.engine.raw_connection()
        plans = [
            [row[3] for row in connection.cursor().execute(f"EXPLAIN QUERY PLAN {statement}", parameters)]
            for statement, parameters in asked
            if statement.startswith(("SELECT", "UPDATE"))
        ]
        connection.close()
    *plans, of_all = plans
    assert any("SCAN" in step for step in of_all)
    assert len(plans) >= 3
    assert not [step for plan in plans for step in plan if "SCAN" in step]


def test_unanswered_questions_are_commented_as_nbgrader_does(small):
    small.hand_in("ada", question="Nothing.")
    small.hand_in("bob")
    small.grade_class()
    with small.gradebook() as gradebook:
        comments = {
            student: gradebook.find_comment(QUESTION, NAME, NAME, student).auto_comment
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
