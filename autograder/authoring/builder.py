"""Make the products of a source: the instructor's notebook, the student's notebook and the answer key."""

import copy
import json
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

from autograder.authoring import reference
from autograder.authoring.lending import lent_bytes
from autograder.checks import answer_key
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.files import write_aside
from autograder.jail.outside.client import Server
from autograder.settings import course_settings, load
from autograder.source import grade_id, notebook_bytes, read_source, write_notebook

PUBLIC_SEED = 0
"""Seed of the inputs in the answer keys, which every student has. Grading draws others."""

START = "start"


@dataclass(frozen=True)
class Generated:
    """What nbgrader makes of a source."""

    files: dict[str, bytes]  # of the release folder, by name: the student's notebook and what goes with it
    cells: NotebookNode  # the notebook at the moment in which nbgrader would register its cells


def products(server: Server, assignment: Assignment, generated: Generated) -> dict[Path, bytes | None]:
    """All that is made from a source, with the place of each; None where a file must not be. Writes nothing."""
    made: dict[Path, bytes | None] = {
        assignment.release.parent / name: content for name, content in generated.files.items()
    }
    if assignment.instructor_notebook != assignment.source:
        made[assignment.instructor_notebook] = notebook_bytes(read_source(assignment.source))
    if assignment.exercises:
        made[assignment.key] = key_bytes(server, assignment)
    made[assignment.lent] = lent_bytes(assignment)
    return made


def put(made: dict[Path, bytes | None]) -> None:
    """Replace the old products, each at once and whole. A file that stays as it is keeps its time."""
    for path, content in made.items():
        if content is None:
            path.unlink(missing_ok=True)
        elif not path.exists() or path.read_bytes() != content:
            write_aside(path, content)


def build_start_page(root: Path) -> None:
    """The first page that students open, a notebook without exercises, where the course has a start.py."""
    page = StartPage(root)
    if page.source.exists():
        write_notebook(read_source(page.source), page.release)


@dataclass(frozen=True)
class StartPage:
    """start.py beside the assignments' folders, and what is made from it."""

    root: Path

    @property
    def source(self) -> Path:
        return self.root / course_settings(self.root).source_directory / f"{START}.py"

    @property
    def release(self) -> Path:
        return self.root / course_settings(self.root).release_directory / f"{START}.ipynb"

    @property
    def stale(self) -> bool:
        if not self.source.exists():
            return False
        return (
            not self.release.exists() or notebook_bytes(read_source(self.source)) != self.release.read_bytes()
        )


def key_bytes(server: Server, assignment: Assignment) -> bytes:
    """The answer key: public inputs, expected answers, fingerprints of mistakes, hints.

    An exercise whose key is there already, and agrees, keeps it to the last bit, which depends on the processor.
    """
    made = _public_keys(server, assignment)
    there = _key_there(assignment)
    recorded_answers = {
        name: there[name] for name, key in made.items() if name in there and not _change(key, there[name])
    }
    return answer_key.to_bytes((made | recorded_answers).values())


def _public_keys(server: Server, assignment: Assignment) -> dict[str, answer_key.ExerciseKey]:
    keys = reference.public_keys(server, assignment, PUBLIC_SEED)
    return {name: reference.without_messages(key) for name, key in keys.items()}


def _key_there(assignment: Assignment) -> dict[str, answer_key.ExerciseKey]:
    """The key beside the release; nothing if there is none, or one that is damaged."""
    try:
        return answer_key.load.__wrapped__(
            assignment.key
        )  # the file as it is now: `load` remembers what it has read
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def release_bytes(assignment: Assignment) -> bytes:
    """The student's notebook."""
    return generate(assignment).files[assignment.release.name]


def generate(assignment: Assignment) -> Generated:
    """Run nbgrader's generate_assignment in a folder aside. It touches neither the course nor the gradebook."""
    if not assignment.source.exists():
        raise CourseError(
            f"{assignment.source} is missing: an assignment is made from a script of that name."
        )
    source = read_source(assignment.source)
    assignment.require_checks(source, assignment.source)
    _require_python(source, assignment.source)
    with tempfile.TemporaryDirectory(prefix="release-") as aside:
        folder = Path(aside) / assignment.settings.source_directory / assignment.name
        # A module beside a notebook of nbgrader's kind is handed out; one beside a script may hold right answers.
        ours = ["*.py"] if assignment.source.suffix == ".py" or assignment.exercises_file.exists() else []
        unwanted = shutil.ignore_patterns("*.ipynb", "__pycache__", *ours)
        shutil.copytree(assignment.source.parent, folder, ignore=unwanted)
        write_notebook(source, folder / f"{assignment.name}.ipynb")
        config = load(assignment.root)
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
        made = Path(aside) / assignment.settings.release_directory / assignment.name
        files = sorted(path for path in made.rglob("*") if path.is_file())
        return Generated(
            {path.relative_to(made).as_posix(): path.read_bytes() for path in files}, converter.cells
        )


def registered(assignment: Assignment) -> Generated:
    """What nbgrader would register for the release. Raises CourseError where the release is not what the source gives."""
    generated = generate(assignment)
    released = assignment.read_release()
    if _contents(nbformat.reads(generated.files[assignment.release.name].decode(), 4)) != _contents(released):
        raise CourseError(f"{assignment.release} is older than its source: run `autograder build` first.")
    return generated


def _contents(notebook: NotebookNode) -> list[tuple[str, str, str]]:
    """Of each cell what counts: what else a file holds depends on who wrote it."""
    return [
        (cell.cell_type, cell.source, json.dumps(cell.metadata.get("nbgrader", {}), sort_keys=True))
        for cell in notebook.cells
    ]


def _require_python(notebook: NotebookNode, path: Path) -> None:
    language = notebook.metadata.get("kernelspec", {}).get("language") or "python"
    if language.lower() != "python":
        raise CourseError(f"{path} is written in {language}; only notebooks in Python are graded.")


class _Converter(GenerateAssignment):
    """nbgrader's, but it keeps the cells that are to be registered, and says in which cell a fault is."""

    cells: NotebookNode
    problem = ""

    def start(self) -> None:
        self.preprocessors = [
            self._keep if preprocessor is SaveCells else preprocessor for preprocessor in self.preprocessors
        ]
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
    message = error.message if isinstance(error, ValidationError) else str(error)
    return (message.strip().splitlines() or [type(error).__name__])[0]


def stale(server: Server, assignment: Assignment) -> Iterator[str]:
    """What `build` would change, in one sentence each."""
    if not assignment.release.exists() or release_bytes(assignment) != assignment.release.read_bytes():
        yield f"{assignment.release.relative_to(assignment.root)} is not what its source gives"
    if not assignment.exercises:
        return
    if not assignment.key.exists():
        yield f"{assignment.key.relative_to(assignment.root)} is missing"
        return
    if (assignment.lent.read_bytes() if assignment.lent.exists() else None) != lent_bytes(assignment):
        yield f"{assignment.lent.relative_to(assignment.root)} is not what its source and c.Autograder.lend give"
    yield from _key_differences(_public_keys(server, assignment), _key_there(assignment), assignment)


def _key_differences(made, committed, assignment: Assignment) -> Iterator[str]:
    path = assignment.key.relative_to(assignment.root)
    if set(made) != set(committed):
        yield f"{path} holds {sorted(committed)}, the source {sorted(made)}"
        return
    for name, key in made.items():
        if change := _change(key, committed[name]):
            yield f"{path}: the {change} of {name} have changed"


def _change(key: answer_key.ExerciseKey, old: answer_key.ExerciseKey) -> str:
    """What has changed, or "". Arrays may differ by rounding from machine to machine: answers agree by the exercise's rule."""
    if _texts(key) != _texts(old):
        return "hints or mistakes"
    if not reference.same_cases(key.cases, old.cases):
        return "inputs"
    return "" if reference.same_answers(key, old) else "answers"


def _texts(key: answer_key.ExerciseKey) -> tuple:
    """What a key holds beside arrays."""
    mistakes = [(mistake.name, mistake.hint, mistake.credit) for mistake in key.mistakes]
    return key.rule, key.hints, key.uses, mistakes
