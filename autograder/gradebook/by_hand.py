"""Points and comments that a person gives for one cell, over the whole class: read and written as formgrader does."""

from collections.abc import Mapping
from dataclasses import dataclass

from nbgrader.api import Comment, Grade, Gradebook
from sqlalchemy import update

from autograder.course import Assignment
from autograder.gradebook.queries import find_released, grades_of_cell


@dataclass(frozen=True)
class Mark:
    """What the gradebook holds of a student's answer, as far as a person gave it.

    waiting  whether it still waits for a person, or does so again because the answer has changed;
    blank    nothing was written: 0 points without anybody's doing.
    """

    score: float | None = None
    comment: str = ""
    waiting: bool = True
    blank: bool = False


def read_marks(gradebook: Gradebook, assignment: Assignment, cell: str) -> dict[str, Mark]:
    """The mark of everybody who handed in, by the student's id."""
    marks = {}
    released = find_released(gradebook.db, assignment.name, assignment.notebook)
    for row in grades_of_cell(gradebook.db, released, cell).values():
        blank = row.manual_score is None and row.auto_score is not None
        marks[row.student_id] = Mark(
            row.manual_score, row.manual_comment or "", bool(row.needs_manual_grade), blank
        )
    return marks


def write_marks(gradebook: Gradebook, assignment: Assignment, cell: str, marks: Mapping[str, Mark]) -> None:
    """Give these students these points and comments, all or none. A score of None takes points back."""
    rows = grades_of_cell(
        gradebook.db, find_released(gradebook.db, assignment.name, assignment.notebook), cell
    )
    grades, comments = [], []
    for student, mark in marks.items():
        row = rows[student]
        waiting = mark.waiting or (mark.score is None and row.auto_score is None)
        grades.append({"id": row.grade, "manual_score": mark.score, "needs_manual_grade": waiting})
        if row.comment:
            comments.append({"id": row.comment, "manual_comment": mark.comment or None})
    try:
        if grades:
            gradebook.db.execute(update(Grade), grades)
        if comments:
            gradebook.db.execute(update(Comment), comments)
        gradebook.db.commit()
    except BaseException:
        gradebook.db.rollback()
        raise
