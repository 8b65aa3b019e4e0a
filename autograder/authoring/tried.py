"""What was tried of an assignment, kept in a file beside its source until something changes that decides it.

Hundreds of draws and mutants take minutes. Whoever has changed nothing need not try them again, on no machine: the
file belongs into the course's repository.
"""

import ast
import json
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from autograder.authoring.reference import solution_sources
from autograder.course import Assignment
from autograder.digests import digest, installed_versions
from autograder.files import read_object, write_aside
from autograder.jail.outside.bubblewrap import AUTOGRADER
from autograder.source import code_cells, grade_id, read_source

FILE = ".tried.json"
"""Hidden, so that nbgrader, too, leaves it out of a release: survivors of a trial quote the solution."""
DECIDING = (
    *(f"checks/{name}.py" for name in ("answers", "arrays", "asking", "comparing", "planted", "recording")),
    *(f"authoring/{name}.py" for name in ("lazy", "mutants", "rates")),
    "exercise.py",
)
"""What draws inputs, asks, judges and tries. What finds words for it is not part of it, nor are the packages of the
course: the few draws that are tried whenever the tests run see a change there."""
WORDS_OF = {"Mistake": "hint", "Exercise": "hints"}
"""Arguments that are told to students and decide nothing. A mistake's is its second without a name."""
COMPUTING = ("torch", "numpy", "transformers")
"""What computes the answers that are tried. Another version of the rest shows in the few draws, too."""


@dataclass(frozen=True)
class Tried:
    assignment: Assignment

    @property
    def path(self) -> Path:
        return self.assignment.source.with_name(FILE)

    def get(self, what: str) -> dict[str, Any] | None:
        """The entry of that name, if nothing has changed since it was made."""
        entry = read_object(self.path).get(what, {})
        return entry if entry.get("digest") == self.digest else None

    def put(self, what: str, entry: dict[str, Any]) -> None:
        entries = read_object(self.path) | {what: {"digest": self.digest, **entry}}
        write_aside(self.path, json.dumps(entries, indent=1, sort_keys=True) + "\n")

    @cached_property
    def digest(self) -> str:
        """Over the exercises, their solutions and checks, what judges them, and the versions of what computes."""
        sources = solution_sources(self.assignment)
        checks = {exercise.check_id for exercise in self.assignment.exercises.values()}
        cells = [
            cell.source
            for cell in code_cells(read_source(self.assignment.source))
            if grade_id(cell) in checks
        ]
        own = [path for path in self.assignment.source.parent.glob("*.py") if path != self.assignment.source]
        files = [*sorted(own), *(AUTOGRADER / name for name in DECIDING)]
        code = {path.name: what_decides(path.read_text(encoding="utf-8")) for path in files}
        return digest([], code, sources, cells, _versions(), self.assignment.settings.arrays)


@cache
def what_decides(source: str) -> str:
    """Python code without comments, docstrings and the words of hints: whoever mends a sentence need not try anything again."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.Module(body=body) | ast.ClassDef(body=body) | ast.FunctionDef(body=body):
                prose = [line for line in body if _is_text(line)]
                node.body = [line for line in body if line not in prose] or [ast.Pass()]
            case ast.Call(func=ast.Name(id=called)) if called in WORDS_OF:
                node.keywords = [keyword for keyword in node.keywords if keyword.arg != WORDS_OF[called]]
                if called == "Mistake":
                    del node.args[1:2]
    return ast.unparse(ast.fix_missing_locations(tree))


def _is_text(line: ast.stmt) -> bool:
    return (
        isinstance(line, ast.Expr)
        and isinstance(line.value, ast.Constant)
        and isinstance(line.value.value, str)
    )


def _versions() -> dict[str, str]:
    installed = installed_versions()
    return {name: installed[name] for name in COMPUTING if name in installed}
