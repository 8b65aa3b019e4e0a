"""What is written into nbgrader's tables, and with how much reading."""

import shutil

import pytest
from nbgrader.api import Grade
from sqlalchemy import event

from autograder.gradebook.gradebook import GradebookWriter, RecordedCells, open_gradebook
from autograder.gradebook.history import read_history
from autograder.results import Result
from autograder.untrusted.submission import read_submission
from tests.autograder.road import hand_in, perfect_notebook, with_cell

pytestmark = pytest.mark.slow


def last_of(own_class, student: str):
    """A student's submission and the result that was recorded."""
    folder = own_class.course / "submitted" / student / own_class.assignment.name
    submission = read_submission(folder, student, own_class.assignment, own_class.assignment.read_release())
    return submission, Result(student, read_history(own_class.assignment, student).verdicts, 0.0)


def test_a_row_that_is_missing_is_made(own_class):
    with open_gradebook(own_class.course) as gradebook:
        names = own_class.assignment.name, own_class.assignment.name, "ada"
        before = {grade.name: grade.auto_score for grade in gradebook.find_submission_notebook(*names).grades}
        lost = gradebook.find_grade("attention-scale-check", *names)
        gradebook.db.delete(lost)
        gradebook.db.commit()
        GradebookWriter(gradebook, own_class.assignment).record([last_of(own_class, "ada")])
        gradebook.db.expire_all()
        after = {grade.name: grade.auto_score for grade in gradebook.find_submission_notebook(*names).grades}
    assert after == before and before["attention-scale-check"] == 1


def test_of_several_students_all_or_none_are_committed(own_class):
    """The second has no verdict for its cells, which is our error."""
    good, (submission, result) = last_of(own_class, "ada"), last_of(own_class, "gil")
    with open_gradebook(own_class.course) as gradebook:
        gradebook.db.query(Grade).update({"auto_score": 0.125})
        gradebook.db.commit()
        recorder = GradebookWriter(gradebook, own_class.assignment)
        try:
            recorder.record([good, (submission, Result(result.student, (), 0.0))])
        except KeyError:
            gradebook.db.rollback()
        assert {grade.auto_score for grade in gradebook.db.query(Grade)} == {0.125}


EXTENSION = "attention-split_heads-check"


def extra_credit(own_class) -> float | None:
    names = own_class.assignment.name, own_class.assignment.name
    with open_gradebook(own_class.course) as gradebook:
        return gradebook.find_grade(EXTENSION, *names, "ada").extra_credit


def hand_in_without_extension(own_class) -> None:
    wrong = with_cell(
        perfect_notebook(own_class.assignment),
        EXTENSION.removesuffix("-check"),
        "def split_heads(x, heads):\n    return x",
    )
    hand_in(own_class.course, "ada", own_class.assignment, wrong)


def test_extra_credit_of_a_check_is_ours_after_a_kill_in_between(own_class, monkeypatch):
    """Killed between the gradebook's commit and the file beside it; then something worse is handed in."""
    perfect = perfect_notebook(own_class.assignment)
    hand_in_without_extension(own_class)
    own_class.grade()
    assert extra_credit(own_class) == 0

    def killed(recorded: RecordedCells) -> None:
        raise KeyboardInterrupt

    hand_in(own_class.course, "ada", own_class.assignment, perfect)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(RecordedCells, "save", killed)
        own_class.grade()
    assert extra_credit(own_class) == 1, "the gradebook has it"
    hand_in_without_extension(own_class)
    own_class.grade()
    assert extra_credit(own_class) == 0


def test_extra_credit_of_a_check_is_ours_when_the_file_beside_it_is_gone(own_class):
    assert extra_credit(own_class) == 1
    shutil.rmtree(own_class.course / ".autograder" / "answers")
    hand_in_without_extension(own_class)
    own_class.grade()
    assert extra_credit(own_class) == 0


def test_recording_a_student_reads_no_whole_table(own_class):
    """Or a class of two thousand would take longer for each than a class of twenty."""
    asked = []
    with open_gradebook(own_class.course) as gradebook:
        recorder = GradebookWriter(gradebook, own_class.assignment)
        event.listen(gradebook.engine, "before_cursor_execute", lambda *call: asked.append(call[2:4]))
        submission, result = last_of(own_class, "ada")
        recorder.set_rows(submission, result.verdicts)
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
