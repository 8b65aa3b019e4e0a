"""The questions of an assignment that a person grades, each with its marking guide as points that can be ticked."""

import re
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.checks.headings import without_markup
from autograder.course import Assignment
from autograder.source import grade_id, is_grade, is_solution, read_source

GUIDE = re.compile(r"^[ \t]*(?:#+[ \t]*)?[*_]*Marking(?: guide)?[*_]*[.:]?[*_]*\s*", re.MULTILINE)
"""How a marking guide begins, at the beginning of a line: `*Marking: …*`, `*Marking guide.* …`, `### Marking`."""

WORTH = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?|½|an?|one|two|three)\s+points?\s*(?:for\b|:)\s*", re.IGNORECASE)
"""How a point of a guide begins: `1 point for …`, `2 points: …`."""

NUMBERS = {"½": 0.5, "a": 1.0, "an": 1.0, "one": 1.0, "two": 2.0, "three": 3.0}


@dataclass(frozen=True)
class GuidePoint:
    """One thing for which a marking guide gives points."""

    worth: float
    text: str


@dataclass(frozen=True)
class Question:
    """A cell that students fill in and a person grades."""

    name: str  # its grade id
    title: str  # the heading that the student sees
    points: float
    prompt: str
    model_answer: str
    guide: tuple[GuidePoint, ...]

    @property
    def alternatives(self) -> bool:
        """Whether the points of the guide exclude one another: together they are worth more than the question."""
        return sum(point.worth for point in self.guide) > self.points


def read_questions(assignment: Assignment) -> list[Question]:
    """The questions in the order of the notebook, from its source."""
    cells = read_source(assignment.source).cells
    return [
        _question(cell, cells[place - 1] if place else None, assignment.title(grade_id(cell)))
        for place, cell in enumerate(cells)
        if is_grade(cell) and is_solution(cell)
    ]


def _question(cell: NotebookNode, before: NotebookNode | None, title: str) -> Question:
    points = float(cell.metadata.nbgrader.get("points", 0))
    prompt = without_markup(before.source) if before is not None and before.cell_type == "markdown" else ""
    match = GUIDE.search(cell.source)
    answer = cell.source[: match.start()] if match else cell.source
    guide = read_guide(cell.source[match.end() :]) if match else ()
    return Question(
        grade_id(cell),
        title,
        points,
        prompt,
        without_markup(answer),
        guide or (GuidePoint(points, "a good answer"),),
    )


def read_guide(text: str) -> tuple[GuidePoint, ...]:
    """The points of a marking guide. Empty where it names none."""
    begins = list(WORTH.finditer(text))
    ends = [following.start() for following in begins[1:]] + [len(text)] * bool(begins)
    return tuple(
        GuidePoint(
            _number(begin[1]), without_markup(text[begin.end() : end]).strip(" \n\t;.,*_-–•") or "this"
        )
        for begin, end in zip(begins, ends, strict=True)
    )


def _number(text: str) -> float:
    return NUMBERS.get(text.lower()) or float(text)
