"""What is read from nbgrader's gradebook, in few statements: the only place that joins its tables.

The tables and what they mean are nbgrader's. Its objects are not used, because they load what grows with the class:
recording the two-thousandth student took three times as long as the first.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    SolutionCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import Row, Select, and_, func, select
from sqlalchemy.orm import Session


@dataclass(frozen=True)
class Released:
    """What the gradebook knows of a released notebook: ids, and the cells that have a row for each student."""

    assignment: str
    notebook: str
    duedate: datetime | None
    graded: Mapping[str, str]  # {name of the cell: its id}
    commented: Mapping[str, str]


@dataclass(frozen=True)
class Score:
    """A student's score of an assignment."""

    raw: float
    penalty: float  # for being late
    waiting: bool  # for a person to grade some of it
    timestamp: datetime | None
    late: bool = False  # after the due date and the student's extension, whatever that costs

    @property
    def net(self) -> float:
        """The score after the late penalty, never below zero."""
        return max(0.0, self.raw - self.penalty)


@dataclass(frozen=True)
class CellMean:
    """What was given for a cell so far, by hand or not."""

    students: int
    mean: float


def seconds_late(handed_in: datetime | None, due: datetime | None, extension: timedelta | None) -> float:
    """Seconds after the due date and the student's extension; 0 if either date is unknown."""
    if handed_in is None or due is None:
        return 0.0
    return max(0.0, (handed_in - due - (extension or timedelta())).total_seconds())


# A class ----------------------------------------------------------------------------------------------


def class_scores(gradebook: Gradebook, assignment: str) -> Mapping[str, Score]:
    """The scores of everybody who handed in, by the student's id."""
    when = (
        SubmittedAssignment.student_id,
        SubmittedAssignment.timestamp,
        SubmittedAssignment.extension,
        Assignment.duedate,
    )
    penalty = func.sum(SubmittedNotebook.late_submission_penalty).label("penalty")
    rows = gradebook.db.execute(_submissions(assignment, *when, penalty).group_by(*when))
    row_of = {row.student_id: row for row in rows}
    submissions = sorted(gradebook.submission_dicts(assignment), key=lambda submission: submission["student"])
    return {
        row.student_id: Score(
            submission["score"],
            row.penalty or 0.0,
            bool(submission["needs_manual_grade"]),
            submission["timestamp"],
            seconds_late(row.timestamp, row.duedate, row.extension) > 0,
        )
        for submission in submissions
        for row in [row_of[submission["student"]]]
    }


def cell_means(gradebook: Gradebook, assignment: str, part: str) -> Mapping[str, CellMean]:
    """For each graded cell of a notebook how many have a score that waits for nobody, and its mean."""
    query = (
        _grades(assignment, part, GradeCell.name, func.count(), func.avg(Grade.score))
        .where(Grade.needs_manual_grade.is_(False))
        .group_by(GradeCell.name)
    )
    return {name: CellMean(students, mean) for name, students, mean in gradebook.db.execute(query)}


def scored_by_hand(gradebook: Gradebook, assignment: str, part: str) -> dict[str, set[str]]:
    """{student: the cells of a notebook with a score that a person gave}, without those that wait for another look."""
    cells: dict[str, set[str]] = {}
    query = _grades(assignment, part, SubmittedAssignment.student_id, GradeCell.name).where(
        Grade.manual_score != 0, Grade.needs_manual_grade.is_(False)
    )
    for student, cell in gradebook.db.execute(query):
        cells.setdefault(student, set()).add(cell)
    return cells


def _submissions(assignment: str, *columns: Any) -> Select:
    """Of everybody who handed in an assignment."""
    return (
        select(*columns)
        .select_from(SubmittedAssignment)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .where(Assignment.name == assignment)
    )


def _grades(assignment: str, part: str, *columns: Any) -> Select:
    """Of every graded cell of a notebook, of everybody who handed in."""
    return (
        _submissions(assignment, *columns)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .join(GradeCell, GradeCell.id == Grade.cell_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .where(Notebook.name == part)
    )


# A released notebook ----------------------------------------------------------------------------------


def find_released(db: Session, name: str, part: str) -> Released:
    """The notebook `part` of the assignment `name`, which the gradebook must know."""
    assignment, notebook, duedate = db.execute(
        select(Assignment.id, Notebook.id, Assignment.duedate)
        .join(Notebook, Notebook.assignment_id == Assignment.id)
        .where(Assignment.name == name, Notebook.name == part)
    ).one()
    cells = [_cells(db, kind, notebook) for kind in (GradeCell, SolutionCell, TaskCell)]
    return Released(assignment, notebook, duedate, cells[0] | cells[2], cells[1] | cells[2])


def knows_notebook(db: Session, name: str, part: str) -> bool:
    """Whether there is a notebook `part` of the assignment `name`."""
    query = select(Notebook.id).join(Assignment, Notebook.assignment_id == Assignment.id)
    return db.execute(query.where(Assignment.name == name, Notebook.name == part)).first() is not None


def max_scores(db: Session, released: Released) -> dict[str, float]:
    """{name of a graded cell: the points that it is worth}, without task cells."""
    query = select(GradeCell.name, GradeCell.max_score).where(GradeCell.notebook_id == released.notebook)
    return {name: points for name, points in db.execute(query)}


def grades_of_cell(db: Session, released: Released, cell: str) -> dict[str, Row]:
    """{student: the row of one cell, with its comment's}, of everybody who handed in."""
    grade, comment = released.graded[cell], released.commented.get(cell, "")
    query = (
        select(
            SubmittedAssignment.student_id,
            Grade.id.label("grade"),
            Grade.manual_score,
            Grade.auto_score,
            Grade.needs_manual_grade,
            Comment.id.label("comment"),
            Comment.manual_comment,
        )
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Grade, and_(Grade.notebook_id == SubmittedNotebook.id, Grade.cell_id == grade))
        .outerjoin(Comment, and_(Comment.notebook_id == SubmittedNotebook.id, Comment.cell_id == comment))
        .where(SubmittedNotebook.notebook_id == released.notebook)
    )
    return {row.student_id: row for row in db.execute(query)}


def _cells(db: Session, kind: Any, notebook: str) -> dict[str, str]:
    query = select(kind.name, kind.id).where(kind.notebook_id == notebook)
    return {name: cell for name, cell in db.execute(query)}


# A student --------------------------------------------------------------------------------------------


def submission_rows(db: Session, released: Released, students: Collection[str]) -> dict[str, Row]:
    """{student: student, submission, timestamp, extension, notebook, penalty}: None where there is none; no row for a stranger."""
    whole, part = SubmittedAssignment, SubmittedNotebook
    query = (
        select(
            Student.id.label("student"),
            whole.id.label("submission"),
            whole.timestamp,
            whole.extension,
            part.id.label("notebook"),
            part.late_submission_penalty.label("penalty"),
        )
        .select_from(Student)
        .outerjoin(whole, and_(whole.student_id == Student.id, whole.assignment_id == released.assignment))
        .outerjoin(part, and_(part.assignment_id == whole.id, part.notebook_id == released.notebook))
        .where(Student.id.in_(students))
    )
    return {row.student: row for row in db.execute(query)}


def cell_rows(
    db: Session, table: Any, notebook: str, cells: Mapping[str, str], columns: tuple[str, ...]
) -> list[Row]:
    """Of a student's notebook the id, `cell_id` and `columns` of Grade or Comment, for these cells {name: id}."""
    query = select(table.id, table.cell_id, *(getattr(table, column) for column in columns))
    return list(db.execute(_of_cells(query, table, notebook, cells)))


def total_score(db: Session, notebook: str, cells: Mapping[str, str]) -> float:
    """The sum of the scores of these cells in a student's notebook, before any penalty."""
    query = select(func.coalesce(func.sum(Grade.score), 0.0))
    return db.scalar(_of_cells(query, Grade, notebook, cells))


def _of_cells(query: Select, table: Any, notebook: str, cells: Mapping[str, str]) -> Select:
    """By cell and notebook, for which there is an index; by the notebook alone every row would be read."""
    return query.where(table.notebook_id == notebook, table.cell_id.in_(cells.values()))
