"""Make the products of a source: the instructor's notebook, the student's notebook and the answer key."""

import copy
import logging
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from jsonschema import ValidationError
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import SaveCells

from autograder import nbgrader_settings, reference
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.files import write_aside
from autograder.jail.client import Server
from autograder.source import grade_id, notebook_bytes, read_source, write_notebook
from coursekit import answer_key

PUBLIC_SEED = 0
"""Seed of the inputs in the answer keys, which every student has. Grading draws others."""

START = "start"


@dataclass(frozen=True)
class Generated:
    """What nbgrader makes of a source."""

    files: dict[str, bytes]  # of the release folder, by name: the student's notebook and what goes with it
    cells: NotebookNode  # the notebook at the moment in which nbgrader would register its cells


def build(server: Server, assignment: Assignment) -> None:
    """Write all products of one assignment into the course."""
    put(products(server, assignment, generate(assignment)))


def products(server: Server, assignment: Assignment, generated: Generated) -> dict[Path, bytes]:
    """All that is made from a source, with the place of each. Writes nothing."""
    release = {assignment.release.parent / name: content for name, content in generated.files.items()}
    return {
        assignment.instructor_notebook: notebook_bytes(read_source(assignment.source)),
        assignment.key: key_bytes(server, assignment),
        **release,
    }


def put(made: dict[Path, bytes]) -> None:
    """Replace the old products, each at once and whole. A file that stays as it is keeps its time."""
    for path, content in made.items():
        if not path.exists() or path.read_bytes() != content:
            write_aside(path, content)


def build_start_page(root: Path) -> None:
    """notebooks/start.ipynb from solutions/start.py: a page without exercises."""
    write_notebook(read_source(root / "solutions" / f"{START}.py"), root / "notebooks" / f"{START}.ipynb")


def key_bytes(server: Server, assignment: Assignment) -> bytes:
    """The answer key: public inputs, expected answers, fingerprints of mistakes, hints."""
    keys = reference.exercise_keys(server, assignment, PUBLIC_SEED)
    return answer_key.to_bytes(reference.without_messages(key) for key in keys.values())


def release_bytes(assignment: Assignment) -> bytes:
    """The student's notebook."""
    return generate(assignment).files[assignment.release.name]


def generate(assignment: Assignment) -> Generated:
    """Run nbgrader's generate_assignment in a folder aside. It touches neither the course nor the gradebook."""
    if not assignment.source.exists():
        raise CourseError(
            f"{assignment.source} is missing: an assignment is made from a script of that name."
        )
    with tempfile.TemporaryDirectory(prefix="release-") as aside:
        folder = Path(aside) / "solutions" / assignment.name
        shutil.copytree(assignment.source.parent, folder, ignore=shutil.ignore_patterns("*.ipynb", "*.py"))
        write_notebook(read_source(assignment.source), folder / f"{assignment.name}.ipynb")
        config = nbgrader_settings.load(assignment.root)
        config.CourseDirectory.root = aside
        config.CourseDirectory.assignment_id = assignment.name
        config.GenerateAssignment.no_database = True
        converter = _Converter(coursedir=CourseDirectory(config=config), config=config)
        converter.log = logging.Logger("generate_assignment", logging.CRITICAL)
        try:
            converter.start()
        except Exception as error:
            problem = converter.problem or str(error)
            raise CourseError(f"{assignment.source.relative_to(assignment.root)}: {problem}") from error
        made = Path(aside) / "notebooks" / assignment.name
        files = sorted(path for path in made.rglob("*") if path.is_file())
        return Generated(
            {path.relative_to(made).as_posix(): path.read_bytes() for path in files}, converter.cells
        )


class _Converter(GenerateAssignment):
    """nbgrader's, but it keeps the cells that are to be registered, and says in which cell a fault is."""

    cells: NotebookNode
    problem = ""

    def start(self) -> None:
        self.preprocessors = [self._keep if one is SaveCells else one for one in self.preprocessors]
        super().start()

    def _keep(self, notebook: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        self.cells = copy.deepcopy(notebook)
        return notebook, resources

    def convert_single_notebook(self, notebook_filename: str) -> None:
        try:
            super().convert_single_notebook(notebook_filename)
        except Exception as error:
            self.problem = self._cell_at_fault(notebook_filename) or _message(error)
            raise

    def _cell_at_fault(self, filename: str) -> str:
        """The first cell that cannot be converted even alone, with what is wrong with it."""
        notebook = nbformat.read(filename, as_version=4)
        for cell in notebook.cells:
            alone = nbformat.from_dict({**notebook, "cells": [cell]})
            try:
                self.exporter.from_notebook_node(alone, self.init_single_notebook_resources(filename))
            except Exception as error:
                return f"the cell {_name(cell)} cannot be used. {_message(error)}"
        return ""


def _name(cell: NotebookNode) -> str:
    """What a person finds a cell by."""
    first = next((line.strip() for line in cell.source.splitlines() if line.strip()), "")
    return grade_id(cell) or f"that begins {first[:60]!r}"


def _message(error: Exception) -> str:
    """nbgrader's own words, without the cell that it prints along; of several errors the first."""
    while isinstance(error, ValidationError) and isinstance(error.__context__, ValidationError):
        error = error.__context__  # "the nbgrader metadata may be corrupted" says less
    words = error.message if isinstance(error, ValidationError) else str(error)
    return (words.strip().splitlines() or [type(error).__name__])[0]


def stale(server: Server, assignment: Assignment) -> Iterator[str]:
    """What `build` would change, in one sentence each."""
    if not assignment.release.exists() or release_bytes(assignment) != assignment.release.read_bytes():
        yield f"{assignment.release.relative_to(assignment.root)} is not what its source gives"
    if not assignment.key.exists():
        yield f"{assignment.key.relative_to(assignment.root)} is missing"
        return
    made = reference.exercise_keys(server, assignment, PUBLIC_SEED)
    yield from _key_differences(made, answer_key.load(assignment.key), assignment)


def _key_differences(made, committed, assignment: Assignment) -> Iterator[str]:
    """Arrays may differ by rounding from machine to machine, so keys are compared with the exercise's rule."""
    path = assignment.key.relative_to(assignment.root)
    if set(made) != set(committed):
        yield f"{path} holds {sorted(committed)}, the source {sorted(made)}"
        return
    for name, key in made.items():
        key, old = reference.without_messages(key), committed[name]
        words = (key.rule, key.hints, key.uses, [(m.name, m.hint) for m in key.mistakes])
        if words != (old.rule, old.hints, old.uses, [(m.name, m.hint) for m in old.mistakes]):
            yield f"{path}: the hints or mistakes of {name} have changed"
        elif not reference.same_answers(key, old):
            yield f"{path}: the answers of {name} have changed"


def start_page_is_stale(root: Path) -> bool:
    with tempfile.TemporaryDirectory() as aside:
        made = Path(aside) / "start.ipynb"
        write_notebook(read_source(root / "solutions" / f"{START}.py"), made)
        committed = root / "notebooks" / f"{START}.ipynb"
        return not committed.exists() or made.read_bytes() != committed.read_bytes()
