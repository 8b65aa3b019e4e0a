"""Run nbgrader's generate_assignment aside: the release of a source, and the cells that nbgrader registers for it."""

import copy
import glob
import json
import logging
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from jsonschema import ValidationError
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import InstantiateTests, SaveCells

from autograder.autotests import AutoTests
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.kernels import kernel_for, language
from autograder.old_metadata import require_current_metadata
from autograder.settings import limits, load
from autograder.source import CELL, grade_id, read_source, write_notebook


@dataclass(frozen=True)
class Generated:
    """What nbgrader makes of a source."""

    files: dict[str, bytes]  # of the release folder, by name: the student's notebook and what goes with it
    cells: NotebookNode  # the notebook at the moment in which nbgrader would register its cells
    kept: dict[Path, bytes] = field(default_factory=dict)  # files of ours: the tests made of AUTOTEST lines


def release_bytes(assignment: Assignment) -> bytes:
    """The student's notebook."""
    return release_files(assignment)[assignment.release.name]


def release_files(assignment: Assignment) -> dict[str, bytes]:
    """The release folder, by the names of its files: the student's notebook and what goes with it."""
    return generate(assignment, as_built=True).files


def generate(assignment: Assignment, as_built: bool = False) -> Generated:
    """Run nbgrader's generate_assignment in a folder aside. It touches neither the course nor the gradebook.

    as_built: AUTOTEST lines become the tests that they became when the release was built.
    """
    if not assignment.source.exists():
        raise CourseError(
            f"{assignment.source} is missing: an assignment is built from a script with that name."
        )
    source = read_source(assignment.source)
    _require_python_for_exercises(source, assignment)
    require_current_metadata(source, assignment.source)
    assignment.require_checks(source, assignment.source)
    with tempfile.TemporaryDirectory(prefix="release-") as aside:
        folder = Path(aside) / assignment.settings.source_directory / assignment.name
        # A module beside a notebook of nbgrader's kind is handed out; one beside a script may hold right answers.
        ours = ["*.py"] if assignment.source.suffix == ".py" or assignment.exercises_file.exists() else []
        unwanted = shutil.ignore_patterns(
            "*.ipynb", "__pycache__", *ours, *_scripts(assignment.source.parent)
        )
        shutil.copytree(assignment.source.parent, folder, ignore=unwanted)
        write_notebook(source, folder / assignment.file)
        config = load(assignment.root)
        config.CourseDirectory.root = aside
        config.CourseDirectory.assignment_id = assignment.name
        config.GenerateAssignment.no_database = True
        converter = _Converter(coursedir=CourseDirectory(config=config), config=config)
        converter.log = logging.Logger("generate_assignment", logging.CRITICAL)
        converter.autotests = AutoTests(
            assignment.root,
            limits(assignment.root).notebook_seconds,
            as_built,
            config,
            lambda notebook: kernel_for(notebook, assignment.source),
        )
        try:
            converter.start()
        except Exception as error:
            problem = converter.problem or str(error)
            raise CourseError(f"{assignment.source.relative_to(assignment.root)}: {problem}") from error
        made = Path(aside) / assignment.settings.release_directory / assignment.name
        files = sorted(path for path in made.rglob("*") if path.is_file())
        return Generated(
            {path.relative_to(made).as_posix(): path.read_bytes() for path in files},
            converter.cells,
            converter.autotests.made,
        )


def _scripts(folder: Path) -> list[str]:
    """Patterns of what is a notebook in the percent format, such as Jupytext's pair of one: it may hold solutions."""
    files = (path for path in folder.glob("*.py") if CELL.search(path.read_text(errors="replace")))
    return [glob.escape(path.name) for path in files]


def require_current(assignment: Assignment) -> Generated:
    """What nbgrader would register for the release. Raises CourseError where the release is not what the source gives."""
    generated = generate(assignment, as_built=True)
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


def _require_python_for_exercises(source: NotebookNode, assignment: Assignment) -> None:
    """Raise CourseError for a notebook in another language with exercises of ours."""
    found = language(source)
    if found != "Python" and assignment.exercises:
        raise CourseError(
            f"{assignment.source} is written in {found}, but {assignment.exercises_file.name} next to it describes exercises, whose "
            "checks work only in Python: write nbgrader test cells instead, and remove that file."
        )


class _Converter(GenerateAssignment):
    """nbgrader's, but it keeps the cells that are to be registered, and says in which cell a fault is."""

    cells: NotebookNode
    autotests: AutoTests
    preprocessors: list[Any]  # classes, or functions from notebook and resources to both
    problem = ""
    _alone = False  # one cell after the other: each is to be looked at, and none is run

    def start(self) -> None:
        ours = {SaveCells: self._keep, InstantiateTests: self._instantiate}
        self.preprocessors = [ours.get(preprocessor, preprocessor) for preprocessor in self.preprocessors]
        super().start()

    def init_notebooks(self) -> None:
        """nbgrader's own takes a folder's name for a pattern, and finds nothing in one called [ab]."""
        folder = self._format_source(self.coursedir.assignment_id, self.coursedir.student_id)
        self.assignments = {folder: glob.glob(f"{glob.escape(folder)}/*.ipynb")}
        self.notebooks: list[str] = []

    def _instantiate(
        self, notebook: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        return (notebook, resources) if self._alone else self.autotests(notebook, resources)

    def _keep(self, notebook: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        self.cells = copy.deepcopy(notebook)
        return notebook, resources

    def convert_single_notebook(self, notebook_filename: str) -> None:
        try:
            super().convert_single_notebook(notebook_filename)
        except CourseError as error:
            cell = self.autotests.cell
            self.problem = f"the cell {_name(cell)} {error}" if cell else str(error)
            raise
        except Exception as error:
            self._alone = True
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
