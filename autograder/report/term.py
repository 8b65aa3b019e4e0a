"""One page over all assignments of a course: who has what, how each went, and how each exercise separates students."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from statistics import mean
from urllib.parse import quote

from autograder.gradebook.queries import Score
from autograder.grading.discrimination import ENOUGH
from autograder.report.everybody import Class
from autograder.report.exercises import ExerciseRow, exercise_rows, graded
from autograder.report.mistakes import MistakeRow, by_frequency, known_mistakes
from autograder.report.pages import write_page
from autograder.settings import course_settings
from autograder.source import points

REPORTS = "reports"
"""The folder beside the page that holds each assignment's own."""


@dataclass(frozen=True)
class Summary:
    """What the page says of an assignment."""

    name: str
    most: float  # points, without extra credit
    scores: Mapping[str, Score]
    names: Mapping[str, str]  # of everybody in the gradebook, "" where there is none
    graded: int  # students whose verdicts are known
    exercises: Sequence[ExerciseRow]
    mistake: MistakeRow | None  # the most frequent

    @property
    def href(self) -> str:
        """Where the assignment's own report is, seen from the page."""
        return quote(f"{REPORTS}/{self.name}.html")

    @property
    def mean(self) -> float:
        """The mean score of everybody who handed in, after late penalties."""
        return mean(score.net for score in self.scores.values())

    @property
    def late(self) -> int:
        """How many handed in late."""
        return sum(score.late for score in self.scores.values())

    @property
    def waiting(self) -> int:
        """How many wait for a person to grade something."""
        return sum(score.waiting for score in self.scores.values())

    @property
    def hardest(self) -> ExerciseRow | None:
        """The exercise that the fewest got right, of those that count for the score; None where there is none."""
        rows = [row for row in self.exercises if row.points]
        return min(rows, key=lambda row: row.right, default=None) if self.graded else None


@dataclass(frozen=True)
class StudentRow:
    """A student's scores, one for each assignment, and their sum; None where nothing was handed in."""

    student: str
    scores: Sequence[Score | None]

    @property
    def total(self) -> float:
        """The points of all assignments together."""
        return sum(score.net for score in self.scores if score)

    @property
    def late(self) -> int:
        """How many were handed in late."""
        return sum(score.late for score in self.scores if score)

    @property
    def waiting(self) -> int:
        """In how many something is still to be graded by hand."""
        return sum(score.waiting for score in self.scores if score)


def report_path(page: Path, assignment: str) -> Path:
    """Where the report of an assignment is written that the page links to."""
    return page.parent / REPORTS / f"{assignment}.html"


def summary(classes: Sequence[Class]) -> Summary:
    """Of an assignment, whose notebooks these are."""
    first = classes[0]
    return Summary(
        first.assignment.name,
        sum(points(cell) for one in classes for cell in graded(one)),
        first.scores,
        first.names,
        len({student for one in classes for student in one.histories}),
        [row for one in classes for row in exercise_rows(one)],
        next(iter(by_frequency(row for one in classes for row in known_mistakes(one))), None),
    )


def write_term(root: Path, summaries: Sequence[Summary], output: Path, left: Iterable[str] = ()) -> None:
    """Write the page. `left` says in sentences which assignments are not on it, and why.

    Raises CourseError where `output` is a file of somebody else.
    """
    write_page(root, output, "term.html", contents(root, summaries, left))


def contents(root: Path, summaries: Sequence[Summary], left: Iterable[str] = ()) -> dict[str, object]:
    """What the template shows. Everybody in the gradebook has a row."""
    names = {student: name for one in summaries for student, name in one.names.items()}
    students = sorted({*names, *(student for one in summaries for student in one.scores)})
    script = (files("autograder") / "templates" / "sort.js").read_text(encoding="utf-8")
    return {
        "course": course_settings(root).course_id or root.name,
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "names": names,
        "assignments": summaries,
        "most": sum(one.most for one in summaries),
        "students": [
            StudentRow(student, [one.scores.get(student) for one in summaries]) for student in students
        ],
        "enough": ENOUGH,
        "left": list(left),
        "script": script,
        "script_digest": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }
