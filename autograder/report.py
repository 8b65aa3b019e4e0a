"""One page about a graded assignment, for the instructor.

Scores come from nbgrader's gradebook; verdicts, seconds and answers from what was kept when they were graded.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from statistics import mean, median
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from nbformat import NotebookNode
from nbgrader.api import MissingEntry

from autograder.checks.status import Ending, Status
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.files import write_product
from autograder.gradebook.gradebook import open_gradebook
from autograder.gradebook.history import LONGEST_ANSWER, History, read_history
from autograder.gradebook.queries import CellMean, Score, cell_means, class_scores
from autograder.grading.reference import mistake_sources, solution_sources
from autograder.grading.verdicts import UNFINISHED, UNFINISHED_TEST
from autograder.results import CellVerdict, in_short
from autograder.source import code_cells, grade_id, graded_cells, is_solution, points, read_source
from autograder.untrusted import similarity

MOST_BARS = 20  # of the distribution
SLOWEST, MISTAKES = 10, 15  # that are shown at once
MOST_GROUPS, MOST_MEMBERS, MOST_CODE = 40, 4, 6000  # that are shown; the last in characters of a cell
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


@dataclass(frozen=True)
class WrittenRow:
    """How many students answered a question in words, and their mean as far as a person has graded it."""

    name: str
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


@dataclass(frozen=True)
class Class:
    """Everything that is known of the submissions of a notebook; the scores are those of the whole assignment."""

    assignment: Assignment
    scores: Mapping[str, Score]
    histories: Mapping[str, History]
    means: Mapping[str, CellMean]
    names: Mapping[str, str]  # of everybody in the gradebook, "" where there is none

    @cached_property
    def automatic(self) -> frozenset[str]:
        """The grade ids of checks, and of test cells of nbgrader's kind."""
        tests = self.assignment.test_cells(self.assignment.read_release())
        return frozenset([*self.assignment.by_check_id, *map(grade_id, tests)])


def write_report(assignment: Assignment, output: Path) -> None:
    """Write the page. Raises CourseError when nobody has been graded, or where `output` is a file of somebody else."""
    classes = [read_class(notebook) for notebook in assignment.notebooks]
    environment = Environment(
        loader=PackageLoader("autograder"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["plain"] = _plain
    page = environment.get_template("report.html").render(contents(*classes))
    write_product(assignment.root, output, page)


def read_class(assignment: Assignment) -> Class:
    """What the gradebook and the kept results hold. Raises CourseError when nobody has been graded."""
    with open_gradebook(assignment.root) as gradebook:
        scores: Mapping[str, Score] = {}
        try:
            gradebook.find_assignment(assignment.name)
        except MissingEntry:
            pass
        else:
            scores = class_scores(gradebook, assignment.name)
            means = cell_means(gradebook, assignment.name, assignment.notebook)
        if not scores:
            raise CourseError(
                f"Nobody's {assignment.name} has been graded: run `autograder grade {assignment.argument}` first."
            )
        names = {
            student.id: " ".join(part for part in (student.first_name, student.last_name) if part)
            for student in gradebook.students
        }
    histories = {student: history for student in scores if (history := read_history(assignment, student))}
    return Class(assignment, scores, histories, means, names)


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
        **_all_alike(classes),
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
    top = max(most, *(score.net for score in scores))
    step = next((size for size in (0.5, 1, 2, 5, 10, 20, 50) if top / size <= MOST_BARS), top / MOST_BARS)
    count = max(1, int(-(-top // step)))
    finished: Counter[int] = Counter()
    waiting: Counter[int] = Counter()
    for score in scores:
        place = min(int(score.net // step), count - 1)
        (waiting if score.waiting else finished)[place] += 1
    return [Bar(place * step, (place + 1) * step, finished[place], waiting[place]) for place in range(count)]


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
    )


def _test_row(everybody: Class, cell: NotebookNode) -> ExerciseRow:
    """Of a test cell of nbgrader's kind. Nobody knows which answer it is about."""
    histories = everybody.histories.values()
    verdicts = [
        by_cell[grade_id(cell)] for history in histories if grade_id(cell) in (by_cell := history.by_cell())
    ]
    statuses = Counter(verdict.status for verdict in verdicts)
    right = statuses.pop(Status.PASSED, 0)
    name = _exercise(everybody, grade_id(cell))
    return ExerciseRow(name, points(cell), right, statuses.most_common(), 0, None, 0)


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
        )
        for (name, cell), who in students_with.items()
    ]


def _sorted(rows: Iterable[MistakeRow]) -> list[MistakeRow]:
    """The most frequent first."""
    return sorted(rows, key=lambda row: (-len(row.students), row.exercise, row.name))


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
            check.grade_id.removesuffix("-check")
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


@dataclass(frozen=True)
class ShownGroup:
    """A group with the texts that are compared: {cell: [(student, text)]}."""

    group: similarity.Group
    cells: Mapping[str, Sequence[tuple[str, str]]]
    same_file: Sequence[str]  # who handed in the same bytes


def _all_alike(classes: Sequence[Class]) -> dict[str, object]:
    """Of several notebooks each by itself."""
    parts = [_alike(one) for one in classes]
    together = {name: [row for part in parts for row in part[name]] for name in ("groups", "common")}
    more = sum(part["more_groups"] for part in parts)
    return {**parts[0], **together, "more_groups": more, "usual": max(part["usual"] for part in parts)}


def _alike(everybody: Class) -> dict[str, Any]:
    """Groups that share what is unusual, and answers that many gave, without those that we expect."""
    assignment = everybody.assignment
    cells = assignment.read_release().cells
    written = {grade_id(cell) for cell in cells if is_solution(cell) and cell.cell_type != "code"}
    expected_texts = _expected(assignment, written)
    texts_of = similarity.with_copies_placed(_compared(everybody), expected_texts, written)
    groups = similarity.find_groups(texts_of, expected_texts, written)
    common = similarity.find_common(texts_of, expected_texts, written)
    return {
        "groups": [_shown(everybody, texts_of, group) for group in groups[:MOST_GROUPS]],
        "more_groups": max(0, len(groups) - MOST_GROUPS),
        "common": [
            (assignment.within(cell), who, texts_of[who[0]][cell][:MOST_CODE])
            for cell, who in common[:MOST_GROUPS]
        ],
        "usual": similarity.usual_from(len(texts_of)),
        "rules": similarity,
    }


def _compared(everybody: Class) -> dict[str, similarity.CellTexts]:
    """What each student wrote, with the functions of added cells where they are called."""
    return {
        student: similarity.with_helpers(history.answers, history.added)
        for student, history in everybody.histories.items()
    }


def _expected(assignment: Assignment, written: set[str]) -> list[dict[str, str]]:
    """The release's own texts, the solutions, and the alternatives and mistakes that we know, by cell."""
    release = assignment.read_release()
    prose = "\n\n".join(cell.source for cell in release.cells if cell.cell_type == "markdown")
    texts = [{cell: prose for cell in written}]
    solutions = {
        grade_id(cell): cell.source for cell in read_source(assignment.source).cells if grade_id(cell)
    }
    texts.append({cell: solutions[cell] for cell in written if cell in solutions})
    released = [cell.source for cell in code_cells(release)]
    sources, wrong = solution_sources(assignment), mistake_sources(assignment)
    for exercise in assignment.exercises.values():
        right_and_wrong = [*released, sources[exercise.name], *exercise.alternatives.values()]
        right_and_wrong += wrong[exercise.name].values()
        texts += [{exercise.solution_id: text} for text in right_and_wrong]
    return texts


def _shown(
    everybody: Class, texts_of: Mapping[str, similarity.CellTexts], group: similarity.Group
) -> ShownGroup:
    closest = group.pairs[0]
    first = [*closest.students, *(student for student in group.students if student not in closest.students)][
        :MOST_MEMBERS
    ]
    cells = {
        everybody.assignment.within(cell): [
            (student, texts_of[student][cell][:MOST_CODE]) for student in first if cell in texts_of[student]
        ]
        for cell in closest.cells
    }
    digests = Counter(everybody.histories[student].hand_ins[-1].digest for student in group.students)
    same = [
        student for student in group.students if digests[everybody.histories[student].hand_ins[-1].digest] > 1
    ]
    return ShownGroup(group, cells, same)


def _plain(text: str) -> str:
    """Without signs that a browser does not show or that turn the direction of writing."""
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text
    )
