"""One page about a graded assignment, for the instructor.

Scores come from nbgrader's gradebook; verdicts, seconds and answers from what was kept when they were graded.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median

from jinja2 import Environment, PackageLoader, StrictUndefined
from nbformat import NotebookNode

from autograder.checks.status import Ending, Status
from autograder.course import Assignment
from autograder.files import write_product
from autograder.gradebook.history import LONGEST_ANSWER, History
from autograder.gradebook.queries import CellMean, Score
from autograder.grading.discrimination import ENOUGH, Discrimination, discrimination
from autograder.grading.verdicts import UNFINISHED, UNFINISHED_TEST
from autograder.report.alike import MOST_CODE, MOST_MEMBERS, alike
from autograder.report.everybody import Class, read_class
from autograder.results import CellVerdict, in_short
from autograder.source import grade_id, graded_cells, is_solution, points

MOST_BARS = 20  # of the distribution
SLOWEST, MISTAKES = 10, 15  # that are shown at once
MOST_REASONS = 5  # of an exercise's answers that no known mistake describes

ENDINGS = {
    Ending.TIMEOUT: "The notebook ran out of time.",
    Ending.MEMORY: "The notebook used too much memory.",
    Ending.OUTPUT: "The notebook wrote too much.",
    Ending.KILLED: "The system ended the notebook: the machine ran out of memory.",
    Ending.DIED: "The notebook's process ended.",
    Ending.FINISHED: "A check ran out of time.",
}


WRONG = (Status.FAILED, Status.ERROR)


@dataclass(frozen=True)
class Bar:
    """Students with a score from `low` on, below `high` (the last bar: up to it)."""

    low: float
    high: float
    finished: int
    waiting: int
    before: int  # that late penalties are deducted, of both kinds


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


@dataclass(frozen=True)
class MistakeRow:
    """A wrong answer, and who gave it."""

    name: str
    exercise: str
    hint: str
    students: Sequence[str]
    credit: float = 0.0  # the share of the points that it earns
    example: str = ""  # the shortest of the answers


def write_report(assignment: Assignment, output: Path) -> None:
    """Write the page. Raises CourseError when nobody has been graded, or where `output` is a file of somebody else."""
    classes = [read_class(notebook) for notebook in assignment.notebooks]
    environment = Environment(
        loader=PackageLoader("autograder"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["plain"] = _plain
    page = environment.get_template("report.html").render(contents(*classes))
    write_product(assignment.root, output, page)


def contents(*classes: Class) -> dict[str, object]:
    """What the template shows of an assignment's notebooks."""
    first = classes[0]
    scores = first.scores
    most = sum(points(cell) for one in classes for cell in _graded(one))
    nets = [score.net for score in scores.values()]
    histories: dict[str, list[History]] = {}
    for one in classes:
        for student, history in one.histories.items():
            histories.setdefault(student, []).append(history)
    ran = [
        (one.assignment.part, known) for one in classes for known in one.histories.values() if known.seconds
    ]
    ran.sort(key=lambda pair: -pair[1].seconds)
    return {
        "assignment": first.assignment.name,
        "several": len(classes) > 1,
        "titles": {
            one.assignment.within(cell): one.assignment.within(title)
            for one in classes
            for cell, title in one.assignment.titles.items()
        },
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "scores": scores,
        "names": first.names,
        "most": most,
        "mean": mean(nets),
        "median": median(nets),
        "waiting": sum(score.waiting for score in scores.values()),
        "late": sum(score.penalty > 0 for score in scores.values()),
        "bars": _bars(scores.values(), most),
        "exercises": [row for one in classes for row in _exercise_rows(one)],
        "written": [_written_row(one, cell) for one in classes for cell in _graded(one) if is_solution(cell)],
        "mistakes": _sorted(row for one in classes for row in _mistakes(one)),
        "shown_mistakes": MISTAKES,
        "enough": ENOUGH,
        "unnamed": _sorted(row for one in classes for row in _unnamed(one)),
        "graded": len(histories),
        "unknown": sorted(scores.keys() - histories.keys()),
        "hand_ins": sorted(
            Counter(max(len(one.hand_ins) for one in of_student) for of_student in histories.values()).items()
        ),
        "slowest": ran[:SLOWEST],
        "seconds": median([known.seconds for _, known in ran] or [0]),
        "failed": [row for one in classes for row in _failed(one)],
        "put_right": [
            (student, [one.assignment.within(note) for note in known.notes])
            for one in classes
            for student, known in one.histories.items()
            if known.notes
        ],
        **alike(*classes),
        "longest": LONGEST_ANSWER,
        "most_members": MOST_MEMBERS,
    }


def _graded(everybody: Class) -> list[NotebookNode]:
    return graded_cells(everybody.assignment.read_release())


def _exercise_rows(everybody: Class) -> list[ExerciseRow]:
    assignment = everybody.assignment
    return [
        _test_row(everybody, cell) if assignment.is_test(cell) else _exercise_row(everybody, cell)
        for cell in _graded(everybody)
        if assignment.is_test(cell) or grade_id(cell) in assignment.by_check_id
    ]


def _bars(scores: Iterable[Score], most: float) -> list[Bar]:
    """The distribution, from 0 to the highest score, in steps of a round number of points."""
    scores = list(scores)
    top = max(most, *(max(score.net, score.raw) for score in scores))
    step = next((size for size in (0.5, 1, 2, 5, 10, 20, 50) if top / size <= MOST_BARS), top / MOST_BARS)
    count = max(1, int(-(-top // step)))
    finished: Counter[int] = Counter()
    waiting: Counter[int] = Counter()
    before: Counter[int] = Counter()
    for score in scores:
        place = min(int(score.net // step), count - 1)
        (waiting if score.waiting else finished)[place] += 1
        before[min(int(score.raw // step), count - 1)] += 1
    return [
        Bar(place * step, (place + 1) * step, finished[place], waiting[place], before[place])
        for place in range(count)
    ]


def _exercise_row(everybody: Class, cell: NotebookNode) -> ExerciseRow:
    exercise = everybody.assignment.by_check_id[grade_id(cell)]
    verdicts = [
        history.by_cell()[exercise.check_id]
        for history in everybody.histories.values()
        if exercise.check_id in history.by_cell()
    ]
    tried = [
        attempts
        for history in everybody.histories.values()
        if (attempts := history.attempts(exercise.solution_id))
    ]
    statuses = Counter(verdict.status for verdict in verdicts)
    right = statuses.pop(Status.PASSED, 0)
    histories = everybody.histories.values()
    inherited = sum(_inherited(everybody.assignment, history, exercise.check_id) for history in histories)
    return ExerciseRow(
        _exercise(everybody, exercise.check_id),
        points(cell),
        right,
        statuses.most_common(),
        inherited,
        mean(tried) if tried else None,
        max(tried, default=0),
        _discrimination(everybody, exercise.check_id),
    )


def _test_row(everybody: Class, cell: NotebookNode) -> ExerciseRow:
    """Of a test cell of nbgrader's kind. Nobody knows which answer it is about."""
    histories = everybody.histories.values()
    verdicts = [
        by_cell[grade_id(cell)] for history in histories if grade_id(cell) in (by_cell := history.by_cell())
    ]
    statuses = Counter(verdict.status for verdict in verdicts)
    right = statuses.pop(Status.PASSED, 0)
    name, separates = _exercise(everybody, grade_id(cell)), _discrimination(everybody, grade_id(cell))
    return ExerciseRow(name, points(cell), right, statuses.most_common(), 0, None, 0, separates)


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


def _inherited(assignment: Assignment, history: History, check: str) -> bool:
    """Whether a check failed together with one of an exercise that this one calls."""
    exercise = assignment.by_check_id.get(check)
    called = {assignment.exercises[name].check_id for name in exercise.uses} if exercise else set()
    failed = {verdict.grade_id for verdict in history.verdicts if verdict.status in WRONG}
    return history.ending == Ending.FINISHED and check in failed and bool(failed & called)


def _written_row(everybody: Class, cell: NotebookNode) -> WrittenRow:
    name = grade_id(cell)
    written = sum(name in history.answers for history in everybody.histories.values())
    return WrittenRow(everybody.assignment.within(name), points(cell), written, everybody.means.get(name))


def _mistakes(everybody: Class) -> list[MistakeRow]:
    """The known mistakes."""
    students_with: dict[tuple[str, str], list[tuple[str, CellVerdict]]] = {}
    for student, verdict in _verdicts(everybody):
        if verdict.mistake:
            students_with.setdefault((verdict.mistake, verdict.grade_id), []).append((student, verdict))
    return [
        MistakeRow(
            name,
            _exercise(everybody, cell),
            who[0][1].hint,
            [student for student, _ in who],
            max(verdict.credit for _, verdict in who),  # who is wrong on some inputs alone earns none
            _example(everybody, cell, [student for student, _ in who]),
        )
        for (name, cell), who in students_with.items()
    ]


def _sorted(rows: Iterable[MistakeRow]) -> list[MistakeRow]:
    """The most frequent first."""
    return sorted(rows, key=lambda row: (-len(row.students), row.exercise, row.name))


def _example(everybody: Class, cell: str, students: Sequence[str]) -> str:
    """The shortest of these students' answers to the exercise of a check."""
    exercise = everybody.assignment.by_check_id.get(cell)
    answers = [everybody.histories[student].answers for student in students if exercise]
    texts = [texts[exercise.solution_id] for texts in answers if exercise and exercise.solution_id in texts]
    return min(texts, key=len, default="")[:MOST_CODE]


def _unnamed(everybody: Class) -> list[MistakeRow]:
    """Wrong answers that no known mistake and no earlier exercise explains, by what was said of them."""
    students_with: dict[tuple[str, str], list[str]] = {}
    for student, verdict in _verdicts(everybody):
        history = everybody.histories[student]
        explained = verdict.mistake or _inherited(everybody.assignment, history, verdict.grade_id)
        if history.ending == Ending.FINISHED and verdict.status in WRONG and not explained:
            # "3 of 12 of your numbers differ" is one kind, whatever the numbers.
            kind = re.sub(r"\d+", "…", in_short(verdict))
            students_with.setdefault((kind, verdict.grade_id), []).append(student)
    rows = _sorted(
        MistakeRow(kind, _exercise(everybody, cell), "", who) for (kind, cell), who in students_with.items()
    )
    count_of: Counter[str] = Counter()
    rows_shown = []
    for row in rows:
        count_of[row.exercise] += 1
        if count_of[row.exercise] <= MOST_REASONS:
            rows_shown.append(row)
    return rows_shown


def _verdicts(everybody: Class) -> Iterable[tuple[str, CellVerdict]]:
    """Of checks, and of test cells: the others are for a person."""
    for student, history in everybody.histories.items():
        for verdict in history.verdicts:
            if verdict.grade_id in everybody.automatic:
                yield student, verdict


def _exercise(everybody: Class, cell: str) -> str:
    exercise = everybody.assignment.by_check_id.get(cell)
    return everybody.assignment.within(exercise.name if exercise else cell)


def _failed(everybody: Class) -> list[tuple[str, str, str]]:
    """Who could not be run to the end: student, what happened, and which checks it cost."""
    rows = []
    cut_off = {reason for _, reason in (*UNFINISHED.values(), *UNFINISHED_TEST.values())}
    for student, history in everybody.histories.items():
        checks = [v for v in history.verdicts if v.grade_id in everybody.automatic]
        lost = [
            everybody.assignment.title(check.grade_id)
            for check in checks
            if check.status == Status.TIMEOUT or check.reason in cut_off
        ]
        if history.ending not in ENDINGS:  # not read at all
            why = str(checks[0].reason if checks else history.ending)
            rows.append((student, everybody.assignment.within(why), "all"))
        elif history.ending != Ending.FINISHED or lost:
            why = everybody.assignment.within(ENDINGS[history.ending])
            rows.append((student, why, "all" if len(lost) == len(checks) else ", ".join(lost)))
    return rows


def _plain(text: str) -> str:
    """Without signs that a browser does not show or that turn the direction of writing."""
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text
    )
