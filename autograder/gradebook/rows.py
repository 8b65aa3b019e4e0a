"""A student's rows in nbgrader's gradebook, read and written with few statements.

The tables, their defaults and what they mean are nbgrader's. Its objects are not used, because they load what
grows with the class: recording the two-thousandth student took three times as long as the first.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from nbgrader import api
from nbgrader.api import (
    Comment,
    Grade,
    GradeCell,
    Notebook,
    SolutionCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import Select, and_, func, insert, select, update
from sqlalchemy.orm import Session

Values = Mapping[str, Any]

UNGRADED = {"auto_score": None, "manual_score": None, "extra_credit": None, "needs_manual_grade": True}


@dataclass(frozen=True)
class Released:
    """What the gradebook knows of a released notebook: ids, and the cells that have a row for each student."""

    assignment: str
    notebook: str
    duedate: datetime | None
    graded: Mapping[str, str]  # {name of the cell: its id}
    commented: Mapping[str, str]


@dataclass(frozen=True)
class HandedIn:
    """A student's submission as the gradebook has it."""

    notebook: str  # id of the row
    is_new: bool  # there are no rows yet for its cells
    penalty: float | None
    timestamp: datetime | None
    extension: timedelta | None

    def seconds_late(self, duedate: datetime | None) -> float:
        if self.timestamp is None or duedate is None:
            return 0.0
        return max(0.0, (self.timestamp - duedate - (self.extension or timedelta())).total_seconds())


def find_released(db: Session, name: str) -> Released:
    """The notebook `name` of the assignment `name`, which the gradebook must know."""
    assignment, notebook, duedate = db.execute(
        select(api.Assignment.id, Notebook.id, api.Assignment.duedate)
        .join(Notebook, Notebook.assignment_id == api.Assignment.id)
        .where(api.Assignment.name == name, Notebook.name == name)
    ).one()
    cells = [_cells(db, kind, notebook) for kind in (GradeCell, SolutionCell, TaskCell)]
    return Released(assignment, notebook, duedate, cells[0] | cells[2], cells[1] | cells[2])


def _cells(db: Session, kind: type, notebook: str) -> dict[str, str]:
    return {
        name: cell
        for name, cell in db.execute(select(kind.name, kind.id).where(kind.notebook_id == notebook))
    }


def hand_in(db: Session, released: Released, student: str, timestamp: datetime | None) -> HandedIn:
    """The student's submission, made if the gradebook has none. Without a timestamp an earlier one stays."""
    whole, part = SubmittedAssignment, SubmittedNotebook
    known = db.execute(
        select(whole.id, whole.timestamp, whole.extension, part.id, part.late_submission_penalty)
        .select_from(Student)
        .outerjoin(whole, and_(whole.student_id == Student.id, whole.assignment_id == released.assignment))
        .outerjoin(part, and_(part.assignment_id == whole.id, part.notebook_id == released.notebook))
        .where(Student.id == student)
    ).one_or_none()
    if known is None:
        db.execute(insert(Student), [{"id": student}])
    submission, before, extension, notebook, penalty = known or [None] * 5
    is_new = notebook is None
    if submission is None:
        submission = api.new_uuid()
        values = {"id": submission, "assignment_id": released.assignment, "student_id": student}
        db.execute(insert(whole), [values | {"timestamp": timestamp}])
    elif timestamp not in (None, before):
        db.execute(update(whole), [{"id": submission, "timestamp": timestamp}])
    if is_new:
        notebook = api.new_uuid()
        db.execute(
            insert(part), [{"id": notebook, "notebook_id": released.notebook, "assignment_id": submission}]
        )
    return HandedIn(notebook, is_new, penalty, timestamp or before, extension)


def set_grades(
    db: Session, released: Released, handed_in: HandedIn, change: Callable[[str, Values], Values]
) -> None:
    """Give each graded cell what `change` makes of its name and its row."""
    _change(db, Grade, released.graded, handed_in, UNGRADED, change)


def set_comments(
    db: Session, released: Released, handed_in: HandedIn, comments: Mapping[str, str | None]
) -> None:
    """Give each cell that can be commented the automatic comment in `comments`."""

    def change(name: str, row: Values) -> Values:
        return {"auto_comment": comments.get(name)}

    _change(db, Comment, released.commented, handed_in, {"auto_comment": None}, change)


def set_late_penalty(db: Session, handed_in: HandedIn, penalty: float | None) -> None:
    if penalty != handed_in.penalty:
        db.execute(
            update(SubmittedNotebook), [{"id": handed_in.notebook, "late_submission_penalty": penalty}]
        )


def score(db: Session, released: Released, handed_in: HandedIn) -> float:
    """The score of a student's notebook, before any penalty."""
    total = select(func.coalesce(func.sum(Grade.score), 0.0))
    return db.scalar(_of(total, Grade, released.graded, handed_in))


def _of(asked: Select, table: type, cells: Mapping[str, str], handed_in: HandedIn) -> Select:
    """By cell and notebook, for which there is an index; by the notebook alone every row would be read."""
    return asked.where(table.notebook_id == handed_in.notebook, table.cell_id.in_(cells.values()))


def _change(
    db: Session,
    table: type,
    cells: Mapping[str, str],
    handed_in: HandedIn,
    new: Values,
    change: Callable[[str, Values], Values],
) -> None:
    """Insert the rows that are missing, and update those that change."""
    before = {} if handed_in.is_new else _rows(db, table, cells, handed_in, new)
    inserts, updates = [], []
    for name, cell in cells.items():
        row, values = before.get(cell, ("", new))
        changed = {**values, **change(name, values)}
        if not row:
            where = {"id": api.new_uuid(), "cell_id": cell, "notebook_id": handed_in.notebook}
            inserts.append(where | changed)
        elif changed != values:
            # Only what changes: a person may be giving points to the same row at this moment.
            own = {name: value for name, value in changed.items() if value != values[name]}
            updates.append({"id": row, **own})
    if inserts:
        db.execute(insert(table), inserts)
    if updates:
        db.execute(update(table), updates)


def _rows(
    db: Session, table: type, cells: Mapping[str, str], handed_in: HandedIn, names: Iterable[str]
) -> dict[str, tuple[str, Values]]:
    """{id of the cell: (id of the row, the named values)}."""
    asked = select(table.id, table.cell_id, *(getattr(table, name) for name in names))
    found = db.execute(_of(asked, table, cells, handed_in))
    return {cell: (row, dict(zip(names, values, strict=True))) for row, cell, *values in found}
