"""A student's rows in nbgrader's gradebook, written with few statements. What is there is read in `gradebook.queries`."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from nbgrader import api
from nbgrader.api import Comment, Grade, Student, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import Row, insert, update
from sqlalchemy.orm import Session

from autograder.gradebook.queries import Released, cell_rows, submission_rows

Values = Mapping[str, Any]

TABLES = (Student, SubmittedAssignment, SubmittedNotebook, Grade, Comment)
"""In the order in which a row may name another."""
UNCOMMENTED = {"auto_comment": None}
UNGRADED = {"auto_score": None, "manual_score": None, "extra_credit": None, "needs_manual_grade": True}


@dataclass(frozen=True)
class SubmissionRow:
    """A student's submission as the gradebook has it."""

    notebook: str  # id of the row
    is_new: bool  # there are no rows yet for its cells
    penalty: float | None
    timestamp: datetime | None
    extension: timedelta | None


class Rows:
    """Rows to be inserted and updated: those of several students in one statement for each table.

    `write` sends them to the database and commits nothing. `others` are the other notebooks of the assignment: of a new
    submission they get rows, too, as nbgrader makes them, and wait until they are graded.
    """

    def __init__(self, db: Session, released: Released, others: Sequence[Released] = ()):
        self.db, self.released, self.others = db, released, others
        self._inserts: dict[Any, list[Values]] = {table: [] for table in TABLES}
        self._updates: dict[type, list[Values]] = {table: [] for table in TABLES}
        self._found: dict[str, Row | None] = {}

    def write(self) -> None:
        """Send the pending rows, insertions before updates. The transaction stays open."""
        # New rows by their table: what the session would do for objects takes longer than the database.
        inserts = ((insert(table.__table__), rows) for table, rows in self._inserts.items())
        updates = ((update(table), rows) for table, rows in self._updates.items())
        for statement, rows in (*inserts, *updates):
            if rows:
                self.db.execute(statement, rows)
                rows.clear()

    def find(self, students: Collection[str]) -> None:
        """Look up what there is of several students at once, who hand in next."""
        rows = submission_rows(self.db, self.released, students)
        self._found = {student: rows.get(student) for student in students}

    def hand_in(self, student: str, timestamp: datetime | None, time_unread: bool = False) -> SubmissionRow:
        """The student's submission, made if the gradebook has none.

        Without a timestamp an earlier one stays, unless there is one that cannot be read now.
        """
        if student not in self._found:
            self.find([student])
        row = self._found.pop(student)
        if row is None:
            self._inserts[Student].append({"id": student})
        found: Sequence[Any] = row or [None] * 6
        _, submission, before, extension, notebook, penalty = found
        is_new = notebook is None
        if submission is None:
            submission = api.new_uuid()
            values = {"id": submission, "assignment_id": self.released.assignment, "student_id": student}
            self._inserts[SubmittedAssignment].append(values | {"timestamp": timestamp})
            for other in self.others:
                self._add_ungraded(other, submission)
        elif timestamp != before and (timestamp or time_unread):
            self._updates[SubmittedAssignment].append({"id": submission, "timestamp": timestamp})
        if is_new:
            notebook = api.new_uuid()
            values = {"id": notebook, "notebook_id": self.released.notebook, "assignment_id": submission}
            self._inserts[SubmittedNotebook].append(values)
        when = timestamp if time_unread else timestamp or before
        return SubmissionRow(notebook, is_new, penalty, when, extension)

    def _add_ungraded(self, other: Released, submission: str) -> None:
        """Rows of a notebook that is not graded yet."""
        notebook = api.new_uuid()
        values = {"id": notebook, "notebook_id": other.notebook, "assignment_id": submission}
        self._inserts[SubmittedNotebook].append(values)
        for table, cells, new in ((Grade, other.graded, UNGRADED), (Comment, other.commented, UNCOMMENTED)):
            for cell in cells.values():
                where = {"id": api.new_uuid(), "cell_id": cell, "notebook_id": notebook}
                self._inserts[table].append(where | new)

    def set_grades(self, handed_in: SubmissionRow, change: Callable[[str, Values], Values]) -> None:
        """Give each graded cell what `change` makes of its name and its row."""
        self._change(Grade, self.released.graded, handed_in, UNGRADED, change)

    def set_comments(self, handed_in: SubmissionRow, comments: Mapping[str, str | None]) -> None:
        """Give each cell that can be commented the automatic comment in `comments`."""

        def change(name: str, row: Values) -> Values:
            return {"auto_comment": comments.get(name)}

        self._change(Comment, self.released.commented, handed_in, UNCOMMENTED, change)

    def set_late_penalty(self, handed_in: SubmissionRow, penalty: float | None) -> None:
        """Update the penalty only if it differs from the recorded one; None removes it."""
        if penalty != handed_in.penalty:
            values = {"id": handed_in.notebook, "late_submission_penalty": penalty}
            self._updates[SubmittedNotebook].append(values)

    def _change(
        self,
        table: type,
        cells: Mapping[str, str],
        handed_in: SubmissionRow,
        new: Values,
        change: Callable[[str, Values], Values],
    ) -> None:
        """The rows that are missing, and those that change."""
        columns = tuple(new)
        stored = [] if handed_in.is_new else cell_rows(self.db, table, handed_in.notebook, cells, columns)
        before = {cell: (row, dict(zip(columns, values, strict=True))) for row, cell, *values in stored}
        for name, cell in cells.items():
            row, values = before.get(cell, ("", new))
            changed = {**values, **change(name, values)}
            if not row:
                where = {"id": api.new_uuid(), "cell_id": cell, "notebook_id": handed_in.notebook}
                self._inserts[table].append(where | changed)
            elif changed != values:
                # Only what changes: a person may be giving points to the same row at this moment.
                own = {name: value for name, value in changed.items() if value != values[name]}
                self._updates[table].append({"id": row, **own})
