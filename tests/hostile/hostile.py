"""Reads the small files of `submissions/`, and looks around for whatever a submission may have done."""

import copy
import os
import re
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.course import Assignment
from autograder.source import grade_id
from tests.autograder.road import perfect_notebook

FOLDER = Path(__file__).parent / "submissions"
NAME = "02_attention"


@dataclass(frozen=True)
class Attempt:
    """One file of `submissions/`.

    tries   what the student attempts, in plain words; an honest one begins with "nothing".
    loses   the exercises whose points are lost: "nothing", "everything", "anything" where it depends on
            the moment (never is there a point without a right answer), or the names of solution cells.
    says    words that the reason of a lost exercise holds.
    cell    where the code goes: a solution cell, or an extra "first" or "last" cell.
    rest    whether the other cells are "perfect" or "unanswered".
    """

    name: str
    code: str
    tries: str
    loses: str
    says: str = ""
    cell: str = "first"
    rest: str = "perfect"

    def lost(self, assignment: Assignment) -> set[str]:
        solutions = {exercise.solution_id for exercise in assignment.exercises.values()}
        named = {"nothing": set(), "everything": solutions}.get(self.loses)
        return set(self.loses.split(", ")) if named is None else named


def read_attempts() -> list[Attempt]:
    return [_read(path) for path in sorted(FOLDER.glob("*.py"))]


def _read(path: Path) -> Attempt:
    head, code = re.fullmatch(r'"""(.*?)\n"""\n+(.*)', path.read_text(encoding="utf-8"), re.DOTALL).groups()
    return Attempt(path.stem, code, **dict(line.split(": ", 1) for line in head.splitlines()))


def build(attempt: Attempt, assignment: Assignment, places: dict[str, str]) -> NotebookNode:
    """The notebook that holds the attempt. `places` are what an attacker might know: @COURSE@ and others."""
    notebook = assignment.read_release() if attempt.rest == "unanswered" else perfect_notebook(assignment)
    code = attempt.code
    for word, place in places.items():
        code = code.replace(word, place)
    return with_code(notebook, attempt.cell, code)


def with_code(notebook: NotebookNode, where: str, code: str) -> NotebookNode:
    changed = copy.deepcopy(notebook)
    if where in ("first", "last"):
        changed.cells.insert(0 if where == "first" else len(changed.cells), new_code_cell(code))
        return changed
    (cell,) = [cell for cell in changed.cells if grade_id(cell) == where]
    cell.source = code
    return changed


def snapshot(folder: Path, ignored: tuple[str, ...] = ()) -> dict[str, tuple[int, ...]]:
    """Every file below a folder, and what changes when somebody touches it."""
    seen = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in ignored]
        for name in files:
            path = Path(place, name)
            found = path.lstat()
            seen[str(path)] = (found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return seen
