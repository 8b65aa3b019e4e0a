"""How a class did in each exercise, and in each question that a person grades."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from nbformat import NotebookNode

from autograder.checks.status import Ending, Status
from autograder.course import Assignment
from autograder.gradebook.history import History
from autograder.gradebook.queries import CellMean
from autograder.grading.discrimination import Discrimination, discrimination
from autograder.report.everybody import Class
from autograder.source import grade_id, graded_cells, is_solution, points

WRONG = (Status.FAILED, Status.ERROR)


@dataclass(frozen=True)
class ExerciseRow:
    """How the class did in one exercise, or in one test cell of nbgrader's kind."""

    name: str
    points: float
    right: int  # students
    statuses: Sequence[tuple[str, int]]  # of those who are not right
    inherited: int  # not right, and neither is an earlier exercise that this one calls
    attempts: float | None  # mean over those who tried
    most_attempts: int
    discrimination: Discrimination | None


@dataclass(frozen=True)
class WrittenRow:
    """How many students answered a question in words, and their mean as far as a person has graded it."""

    name: str  # its grade id, with the notebook where there are several
    points: float
    written: int
    mean: CellMean | None


def graded(everybody: Class) -> list[NotebookNode]:
    """The cells of the release that have points, or extra credit."""
    return graded_cells(everybody.assignment.read_release())


def exercise_rows(everybody: Class) -> list[ExerciseRow]:
    """Of a notebook's exercises and test cells, in its order."""
    assignment = everybody.assignment
    return [
        _exercise_row(everybody, cell)
        for cell in graded(everybody)
        if assignment.is_test(cell) or grade_id(cell) in assignment.by_check_id
    ]


def _exercise_row(everybody: Class, cell: NotebookNode) -> ExerciseRow:
    """Nobody knows which answer a test cell of nbgrader's kind is about, and how often it was tried."""
    check = grade_id(cell)
    exercise = everybody.assignment.by_check_id.get(check)
    histories = everybody.histories.values()
    verdicts = [by_cell[check] for history in histories if check in (by_cell := history.by_cell())]
    attempts = [history.attempts(exercise.solution_id) for history in histories] if exercise else []
    tried = [count for count in attempts if count]
    statuses = Counter(verdict.status for verdict in verdicts)
    right = statuses.pop(Status.PASSED, 0)
    return ExerciseRow(
        exercise_name(everybody, check),
        points(cell),
        right,
        statuses.most_common(),
        sum(inherited(everybody.assignment, history, check) for history in histories),
        mean(tried) if tried else None,
        max(tried, default=0),
        _discrimination(everybody, check),
    )


def _discrimination(everybody: Class, cell: str) -> Discrimination | None:
    """Of those who answered something and whose notebook was run to its end: in the others' nothing is right at once.

    The other exercises are those of the same notebook.
    """
    ended = [history for history in everybody.histories.values() if history.ending == Ending.FINISHED]
    ran = [
        by_cell
        for history in ended
        if cell in (by_cell := history.by_cell())
        and any(by_cell[name].status != Status.MISSING for name in everybody.automatic & by_cell.keys())
    ]
    others = [
        sum(verdict.earned for name, verdict in by_cell.items() if name in everybody.automatic - {cell})
        for by_cell in ran
    ]
    return discrimination([by_cell[cell].status == Status.PASSED for by_cell in ran], others)


def inherited(assignment: Assignment, history: History, check: str) -> bool:
    """Whether a check failed together with one of an exercise that this one calls."""
    exercise = assignment.by_check_id.get(check)
    called = {assignment.exercises[name].check_id for name in exercise.uses} if exercise else set()
    failed = {verdict.grade_id for verdict in history.verdicts if verdict.status in WRONG}
    return history.ending == Ending.FINISHED and check in failed and bool(failed & called)


def written_rows(everybody: Class) -> list[WrittenRow]:
    """Of a notebook's questions that a person grades, in its order."""
    return [_written_row(everybody, cell) for cell in graded(everybody) if is_solution(cell)]


def _written_row(everybody: Class, cell: NotebookNode) -> WrittenRow:
    name = grade_id(cell)
    written = sum(name in history.answers for history in everybody.histories.values())
    return WrittenRow(everybody.assignment.within(name), points(cell), written, everybody.means.get(name))


def exercise_name(everybody: Class, cell: str) -> str:
    """What people read for the grade id of a check or of a test cell."""
    exercise = everybody.assignment.by_check_id.get(cell)
    return everybody.assignment.within(exercise.name if exercise else cell)
