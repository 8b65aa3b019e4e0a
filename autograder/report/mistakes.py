"""The wrong answers of a class: those that the exercises know by name, and the others."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autograder.checks.status import Ending
from autograder.report.everybody import Class
from autograder.report.exercises import WRONG, exercise_name, inherited
from autograder.results import CellVerdict, in_short

MOST_REASONS = 5  # of an exercise's answers that no known mistake describes
MOST_CODE = 6000  # characters of a cell that are shown


@dataclass(frozen=True)
class MistakeRow:
    """A wrong answer, and who gave it."""

    name: str
    exercise: str
    hint: str
    students: Sequence[str]
    credit: float = 0.0  # the share of the points that it earns
    example: str = ""  # the shortest of the answers


def known_mistakes(everybody: Class) -> list[MistakeRow]:
    """The wrong answers that the exercises know by name."""
    students_with: dict[tuple[str, str], list[tuple[str, CellVerdict]]] = {}
    for student, verdict in _verdicts(everybody):
        if verdict.mistake:
            students_with.setdefault((verdict.mistake, verdict.grade_id), []).append((student, verdict))
    return [
        MistakeRow(
            name,
            exercise_name(everybody, cell),
            who[0][1].hint,
            [student for student, _ in who],
            max(verdict.credit for _, verdict in who),  # who is wrong on some inputs alone earns none
            _example(everybody, cell, [student for student, _ in who]),
        )
        for (name, cell), who in students_with.items()
    ]


def by_frequency(rows: Iterable[MistakeRow]) -> list[MistakeRow]:
    """The most frequent first."""
    return sorted(rows, key=lambda row: (-len(row.students), row.exercise, row.name))


def _example(everybody: Class, cell: str, students: Sequence[str]) -> str:
    """The shortest of these students' answers to the exercise of a check."""
    exercise = everybody.assignment.by_check_id.get(cell)
    answers = [everybody.histories[student].answers for student in students if exercise]
    texts = [texts[exercise.solution_id] for texts in answers if exercise and exercise.solution_id in texts]
    return min(texts, key=len, default="")[:MOST_CODE]


def unnamed(everybody: Class) -> list[MistakeRow]:
    """Wrong answers that no known mistake and no earlier exercise explains, by what was said of them."""
    students_with: dict[tuple[str, str], list[str]] = {}
    for student, verdict in _verdicts(everybody):
        history = everybody.histories[student]
        explained = verdict.mistake or inherited(everybody.assignment, history, verdict.grade_id)
        if history.ending == Ending.FINISHED and verdict.status in WRONG and not explained:
            # "3 of your 12 numbers differ" is one kind, whatever the numbers.
            kind = re.sub(r"\d+", "…", in_short(verdict))
            students_with.setdefault((kind, verdict.grade_id), []).append(student)
    rows = by_frequency(
        MistakeRow(kind, exercise_name(everybody, cell), "", who)
        for (kind, cell), who in students_with.items()
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
