"""A class of generated submissions, no two alike: right ones, wrong ones, half-finished ones."""

import json
import random
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.course import Assignment, course_root
from autograder.exercise import edited
from autograder.grading.reference import solution_sources
from autograder.source import grade_id, read_source

NAME = "02_attention"
ROOT = course_root(Path(__file__).parent)
KINDS = ("right", "wrong", "half-finished")


@dataclass(frozen=True)
class Texts:
    """What one student wrote: the text of each cell that may be changed, by its grade id."""

    student: str
    kind: str
    cells: dict[str, str]


class Writer:
    """Writes submissions of one assignment. The same number gives the same submission."""

    def __init__(self, assignment: Assignment):
        self.assignment = assignment

    def class_of(self, count: int) -> Iterator[Texts]:
        """Submissions number 0 to `count` − 1, one after another."""
        return (self.write(number) for number in range(count))

    def write(self, number: int) -> Texts:
        """Submission number `number`: right, wrong or half-finished in turn, with its cells by their ids."""
        chance = random.Random(number)
        kind = KINDS[number % len(KINDS)]
        exercises = list(self.assignment.exercises.values())
        wrong = chance.sample(exercises, chance.randint(1, 3)) if kind == "wrong" else []
        done = chance.randrange(len(exercises)) if kind == "half-finished" else len(exercises)
        cells = {name: f"{text}\n\nStudent {number}." for name, text in self._answers.items()}
        for place, exercise in enumerate(exercises):
            solution = self._sources[exercise.name]
            text = chance.choice([solution, *exercise.alternatives.values()])
            if exercise in wrong:
                text = edited(solution, exercise, chance.choice(exercise.mistakes))
            if place >= done:
                text = self._stubs[exercise.solution_id]
            cells[exercise.solution_id] = f"{text.strip()}\n\n# student {number}"
        return Texts(f"student-{number:05}", kind, cells)

    @cached_property
    def _sources(self) -> dict[str, str]:
        return solution_sources(self.assignment)

    @cached_property
    def _stubs(self) -> dict[str, str]:
        return {grade_id(cell): cell.source for cell in self.assignment.read_release().cells}

    @cached_property
    def _answers(self) -> dict[str, str]:
        """The written answers."""
        cells = read_source(self.assignment.source).cells
        return {grade_id(c): c.source for c in cells if c.cell_type == "markdown" and grade_id(c)}


def make_course(folder: Path) -> Assignment:
    """A course of its own with everything that grading reads."""
    for name in (f"solutions/{NAME}", f"notebooks/{NAME}", "coursekit"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(".ipynb*", "__pycache__"))
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    return Assignment(folder, NAME)


def hand_in(
    course: Path, assignment: str, release: Path, class_texts: Iterable[Texts], first_cell: str = ""
) -> None:
    """Put submissions into submitted/; `first_cell` is code that each of them begins with."""
    notebook = json.loads(release.read_text(encoding="utf-8"))
    cells = notebook["cells"]
    if first_cell:
        code = {"cell_type": "code", "execution_count": None, "id": "first", "metadata": {}, "outputs": []}
        cells.insert(0, code | {"source": first_cell})
    for texts in class_texts:
        for cell in cells:
            name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
            cell["source"] = texts.cells.get(name, cell["source"])
        folder = course / "submitted" / texts.student / assignment
        folder.mkdir(parents=True)
        (folder / f"{assignment}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        (folder / "timestamp.txt").write_text("2026-10-01 12:00:00 UTC")
