"""What has changed in an assignment since a report that was made some days ago.

Each report leaves its numbers in a small file, the last of a day under the day's date (UTC).
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from autograder.course import Assignment
from autograder.files import read_object, write_aside
from autograder.report.everybody import Class
from autograder.report.exercises import written_rows
from autograder.report.mistakes import known_mistakes

DAYS = 7
"""How old at least the report is that a new one is compared with, unless the command says otherwise."""
SAME = 1e-6  # points

Numbers = dict[str, Any]
"""{"scores": {student: points}, "mistakes": [[exercise, mistake, students]], "written": {question: [graded, mean]}}"""


@dataclass(frozen=True)
class Change:
    """Something that had one number and has another: None where there was none, or is none any more."""

    name: str
    before: float | None
    after: float | None
    exercise: str = ""  # of a mistake


@dataclass(frozen=True)
class WrittenChange:
    """A question that a person grades: how many answers were graded, and their mean."""

    name: str
    before: tuple[int, float | None]
    after: tuple[int, float | None]


@dataclass(frozen=True)
class Changes:
    """How an assignment differs from a report of the day `since`."""

    since: date
    new: Sequence[Change]  # students without a score then
    scores: Sequence[Change]  # of the others
    mistakes: Sequence[Change]
    written: Sequence[WrittenChange]

    @property
    def anything(self) -> bool:
        """Whether there is any difference."""
        return any((self.new, self.scores, self.mistakes, self.written))


def numbers_of(classes: Sequence[Class]) -> Numbers:
    """What is kept of the notebooks of an assignment."""
    return {
        "scores": {student: score.net for student, score in classes[0].scores.items()},
        "mistakes": [
            [row.exercise, row.name, len(row.students)] for one in classes for row in known_mistakes(one)
        ],
        "written": {
            row.name: [row.mean.students, row.mean.mean] if row.mean else [0, None]
            for one in classes
            for row in written_rows(one)
        },
    }


def keep(assignment: Assignment, numbers: Numbers, today: date | None = None) -> None:
    """Keep the numbers of a report, in the place of those of an earlier one of the same day."""
    path = _folder(assignment) / f"{today or _today()}.json"
    write_aside(path, json.dumps(numbers, ensure_ascii=False))


def kept_since(assignment: Assignment) -> date:
    """The day of the oldest report whose numbers are kept: today, if there is none yet."""
    return min((day for day, _ in _kept(assignment)), default=_today())


def changes_since(
    assignment: Assignment, now: Numbers, days: int = DAYS, today: date | None = None
) -> Changes | None:
    """What is different from the last report that is at least `days` old; None if there is none."""
    last = (today or _today()).toordinal() - days
    for day, path in sorted(_kept(assignment), reverse=True):
        if day.toordinal() <= last and (before := read_object(path)):
            return _compared(day, before, now)
    return None


def _compared(day: date, before: Numbers, now: Numbers) -> Changes:
    scores = list(_changed(before["scores"], now["scores"]))
    counts = [{(exercise, name): count for exercise, name, count in one["mistakes"]} for one in (before, now)]
    of_mistakes = [
        Change(name, counts[0].get((exercise, name), 0), counts[1].get((exercise, name), 0), exercise)
        for exercise, name in dict.fromkeys([*counts[1], *counts[0]])
    ]
    return Changes(
        day,
        [change for change in scores if change.before is None],
        [change for change in scores if change.before is not None],
        sorted(
            (change for change in of_mistakes if change.before != change.after),
            key=lambda change: -abs((change.after or 0) - (change.before or 0)),
        ),
        [
            WrittenChange(name, (then[0], then[1]), (graded, mean))
            for name, (graded, mean) in now["written"].items()
            if not _same(then := before["written"].get(name, [0, None]), [graded, mean])
        ],
    )


def _changed(before: dict[str, float], now: dict[str, float]) -> Iterator[Change]:
    for name in sorted(before.keys() | now.keys()):
        change = Change(name, before.get(name), now.get(name))
        if not _same([change.before], [change.after]):
            yield change


def _same(one: Sequence[float | None], other: Sequence[float | None]) -> bool:
    return all(
        a == b or (a is not None and b is not None and abs(a - b) < SAME)
        for a, b in zip(one, other, strict=True)
    )


def _kept(assignment: Assignment) -> Iterator[tuple[date, Path]]:
    for path in _folder(assignment).glob("*.json"):
        try:
            yield date.fromisoformat(path.stem), path
        except ValueError:  # none of ours
            continue


def _folder(assignment: Assignment) -> Path:
    return assignment.root / ".autograder" / "reports" / assignment.name


def _today() -> date:
    return datetime.now(UTC).date()
