"""Grade again after an exercise was corrected: show whose score would change, and only then change it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from nbgrader.api import Grade, Gradebook, MissingEntry
from sqlalchemy import Row

from autograder.checks.status import Status
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.files import course_lock
from autograder.generating import require_current
from autograder.gradebook.gradebook import GradebookWriter, keep_up, open_gradebook, register
from autograder.gradebook.history import History, read_history
from autograder.gradebook.queries import cell_rows, max_scores, submission_rows
from autograder.grading.run import OnResult, Options, make_engine, read_all
from autograder.registered import registered_release
from autograder.results import CellVerdict, Result, in_short
from autograder.source import grade_id, graded_cells
from autograder.untrusted.submission import LeftOut, Submission

TOTAL, PENALTY = "total", "late penalty"


@dataclass(frozen=True)
class Change:
    """A number in the gradebook that would become another. None: there is none yet."""

    student: str
    what: str  # the exercise, "late penalty" or "total"
    before: float | None
    after: float | None
    why: str = ""


@dataclass(frozen=True)
class Regraded:
    """What was shown, whether it was done, and whose submission changed in between and was left as it was.

    Those whose hand-in the machine does not let us read, or whose files it does not let us write, are `not_graded`.
    """

    changes: list[Change]
    done: bool = False
    left: list[str] = field(default_factory=list)
    not_graded: list[LeftOut] = field(default_factory=list)


def regrade(
    assignment: Assignment,
    folders: Mapping[str, Path],
    options: Options,
    on_result: OnResult,
    agree: Callable[[list[Change]], bool],
) -> Regraded:
    """Grade all, show `agree` what would change, and record it if it agrees.

    Nothing is run twice: what is recorded are the verdicts that were shown.
    """
    with course_lock(assignment.root), make_engine(assignment, folders, options) as engine:
        keep_up(assignment)
        _require_the_same_cells(assignment)
        shown: dict[str, Shown] = {}
        changes: dict[str, list[Change]] = {}
        with open_gradebook(assignment.root) as gradebook:
            preview = Preview(gradebook, assignment)
            not_graded: list[LeftOut] = []
            reading = read_all(assignment, folders, registered_release(assignment), not_graded)
            for submission, result in engine.grade_all(reading):
                shown[result.student] = _shown(submission, result)
                changes[result.student] = list(preview.changes(submission, result))
                on_result(result)
        listed = [change for student in folders for change in changes.get(student, ())]
        if not listed or not agree(listed):
            return Regraded(listed, not_graded=not_graded)
        register(assignment)
        left = []
        with open_gradebook(assignment.root) as gradebook:
            recorder = GradebookWriter(gradebook, assignment)
            readable = {student: folders[student] for student in shown}
            for batch in engine.batches(
                read_all(assignment, readable, registered_release(assignment), not_graded)
            ):
                as_shown = [graded for graded in batch if _shown(*graded) == shown[graded[0].student]]
                not_graded += recorder.record(as_shown)
                recorded = {submission.student for submission, _ in as_shown}
                left += [submission.student for submission, _ in batch if submission.student not in recorded]
        return Regraded(listed, True, left, not_graded)


Shown = tuple[str, datetime | None, tuple[CellVerdict, ...]]
"""What the changes that were shown rest on: the digest of the file, when it was handed in, and the verdicts."""


def _shown(submission: Submission, result: Result) -> Shown:
    return submission.digest, submission.timestamp, result.verdicts


def _require_the_same_cells(assignment: Assignment) -> None:
    require_current(assignment)  # or it says that the release is older than its source
    with open_gradebook(assignment.root) as gradebook:
        try:
            notebook = gradebook.find_notebook(assignment.notebook, assignment.name)
            registered = {cell.name for cell in (*notebook.grade_cells, *notebook.task_cells)}
        except MissingEntry:
            raise CourseError(
                f"Nobody's {assignment.name} has been graded: use `autograder grade {assignment.argument}`."
            ) from None
    now = {grade_id(cell) for cell in graded_cells(assignment.read_release())}
    if now != registered:
        raise CourseError(
            f"{assignment.called} has gained or lost graded cells ({', '.join(sorted(now ^ registered))}). "
            "nbgrader's gradebook allows that only while nobody has handed in."
        )


@dataclass(frozen=True)
class CellScore:
    """What the gradebook holds of a student's cell."""

    score: float | None  # with extra credit
    by_hand: bool
    waiting: bool  # for a person


@dataclass(frozen=True)
class StudentScores:
    """A student's scores by cell, the late penalty, and what is left of them."""

    cells: Mapping[str, CellScore]
    penalty: float

    @property
    def total(self) -> float:
        """The sum over all cells after the late penalty; cells without a score count as 0."""
        return sum(row.score or 0.0 for row in self.cells.values()) - self.penalty


def _cell_score(row: Row) -> CellScore:
    graded = row.auto_score is not None or row.manual_score is not None
    return CellScore(row.score if graded else None, row.manual_score is not None, row.needs_manual_grade)


class Preview:
    """What recording a result would change: it is written, looked at, and taken back."""

    def __init__(self, gradebook: Gradebook, assignment: Assignment):
        self.db = gradebook.db
        self.assignment = assignment
        self.recorder = GradebookWriter(gradebook, assignment)
        self.worth = max_scores(self.db, self.recorder.released)
        self.order = [grade_id(cell) for cell in assignment.read_release().cells]

    def changes(self, submission: Submission, result: Result) -> Iterator[Change]:
        """Every number of a student that would become another, and last the total."""
        student = submission.student
        before = self._read(student)
        try:
            self.recorder.set_rows(submission, result.verdicts)
            self.recorder.rows.write()
            after = self._read(student)
            assert after is not None, "it was just written"
        finally:
            self.db.rollback()
        if before is None:
            yield Change(student, TOTAL, None, after.total, "not graded before")
            return
        history = read_history(self.assignment, student)
        of_cell = {verdict.grade_id: verdict for verdict in result.verdicts}
        changes = [
            Change(student, self._what(name), row.score, after.cells[name].score, why)
            for name, row in before.cells.items()
            if after.cells[name] != row
            for why in [self._why(name, row, of_cell[name], history, submission)]
        ]
        if after.penalty != before.penalty:
            follows = "recomputed from the score and the time of the submission"
            changes.append(Change(student, PENALTY, -before.penalty, -after.penalty, follows))
        if changes:
            yield from [*changes, Change(student, TOTAL, before.total, after.total)]

    def _read(self, student: str) -> StudentScores | None:
        released = self.recorder.released
        submission = submission_rows(self.db, released, [student]).get(student)
        if submission is None or submission.notebook is None:
            return None
        columns = ("auto_score", "manual_score", "needs_manual_grade", "score")
        grades = cell_rows(self.db, Grade, submission.notebook, released.graded, columns)
        row_of = {row.cell_id: row for row in grades}
        scores = {
            name: _cell_score(row_of[released.graded[name]])
            for name in self.order
            if released.graded.get(name) in row_of
        }
        return StudentScores(scores, submission.penalty or 0.0)

    def _what(self, name: str) -> str:
        exercise = self.assignment.by_check_id.get(name)
        return exercise.name if exercise else name

    def _why(
        self, name: str, row: CellScore, verdict: CellVerdict, history: History | None, submission: Submission
    ) -> str:
        reasons = []
        before = history.by_cell().get(name) if history else None
        if history and history.hand_ins[-1].digest != submission.digest:
            reasons.append("handed in anew")
        worth = before.max_score if before else self.worth[name]
        if verdict.max_score != worth:
            reasons.append(f"worth {verdict.max_score:g} instead of {worth:g}")
        if row.by_hand:
            reasons.append("the score given by hand is kept and marked for review")
        if before:
            reasons.append(f"was: {_said(before)}")
        return "; ".join([*reasons, f"now: {_said(verdict)}"])


def _said(verdict: CellVerdict) -> str:
    """A verdict for an instructor, whom nobody asks to write an answer."""
    return "not answered" if verdict.status == Status.MISSING else verdict.mistake or in_short(verdict)
