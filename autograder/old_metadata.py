"""Recognise sources written by older versions of nbgrader, and name the command that upgrades their metadata.

A source is the instructor's own file, so it is never changed here. Hand-ins need no upgrade: only their texts and ids are read.
"""

import copy
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.nbgraderformat import SCHEMA_VERSION, MetadataValidator, SchemaTooNewError, ValidationError

from autograder.errors import CourseError

ID = re.compile(r"[a-zA-Z0-9_-]+")
MOST_NAMED = 5  # cells with faults


def require_current_metadata(notebook: NotebookNode, path: Path) -> None:
    """Raise CourseError with the command that upgrades the notebook in `path`, or with the faults that have to be corrected by hand."""
    versions = {_version(cell) for cell in _of_nbgrader(notebook)}
    if newer := [version for version in versions if version > SCHEMA_VERSION]:
        raise CourseError(
            f"{path} was made with a newer nbgrader: its metadata have version {max(newer)}, but the installed nbgrader supports versions "
            f"up to {SCHEMA_VERSION}. Run `pip install --upgrade nbgrader`."
        )
    old = min(versions, default=SCHEMA_VERSION) < SCHEMA_VERSION
    found = f"{path} was made with an older nbgrader, whose metadata this one cannot read"
    if faults := list(_faults(notebook)):
        first = [*faults[:MOST_NAMED], *(["…"] if len(faults) > MOST_NAMED else [])]
        correct = "Correct this in JupyterLab's panel Create Assignment or in the file"
        if old:
            raise CourseError(f"{found}: {'; '.join(first)}. {correct}, then run `{update_command(path)}`.")
        raise CourseError(f"{path}: {'; '.join(first)}. {correct}.")
    if old:
        if left := _left_after_update(notebook):
            raise CourseError(
                f"{found}, and `nbgrader update` cannot repair this: {left}. Correct it in the file first."
            )
        raise CourseError(f"{found}: run `{update_command(path)}`.")


def update_command(path: Path) -> str:
    """What upgrades a notebook; a script, which `nbgrader update` does not read, becomes a notebook meanwhile."""
    notebook = shlex.quote(str(path.with_suffix(".ipynb")))
    update = f"nbgrader update {notebook}"
    if path.suffix == ".ipynb":
        return update
    return f"jupytext --to ipynb {shlex.quote(str(path))} && {update} && jupytext --to py:percent {notebook}"


def _of_nbgrader(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if "nbgrader" in cell.metadata]


def _version(cell: NotebookNode) -> int:
    """0: nbgrader before 0.4 wrote none."""
    version = cell.metadata.nbgrader.get("schema_version", 0)
    return version if isinstance(version, int) else 0


def _faults(notebook: NotebookNode) -> Iterator[str]:
    """What `nbgrader update` leaves as it is, in words."""
    for cell in _of_nbgrader(notebook):
        of_cell = cell.metadata.nbgrader
        if not any(of_cell.get(role) for role in ("grade", "solution", "locked", "task")):
            continue
        name = of_cell.get("grade_id")
        begins = next((line.strip() for line in cell.source.splitlines() if line.strip()), "")
        called = f"the cell {name}" if name else f"the cell that begins {begins[:60]!r}"
        if not name:
            yield f"{called} has no id (grade_id)"
        elif not isinstance(name, str) or not ID.fullmatch(name):
            yield f"{called} has an id with characters other than letters, digits, - and _"
        if (of_cell.get("grade") or of_cell.get("task")) and (problem := _points_at_fault(cell)):
            yield f"{called} {problem}"
        if not isinstance(of_cell.get("schema_version", 0), int):
            yield f"{called} has the schema_version {of_cell.schema_version!r}, which is not a number"


def _points_at_fault(cell: NotebookNode) -> str:
    """What is wrong with a cell's points; "" where nothing is. Of version 0 nbgrader reads numbers written as texts."""
    points: Any = cell.metadata.nbgrader.get("points")
    first = _version(cell) == 0
    if isinstance(points, int | float) or (first and points in (None, "")):
        return ""
    if points is None:
        return "has no points"
    if first:
        try:
            float(points)
        except (TypeError, ValueError):
            return f"has {points!r} as its points, which is not a number"
        return ""
    return f"has {points!r} as its points, which is text: write a number, without quotation marks"


def _left_after_update(notebook: NotebookNode) -> str:
    """What nbgrader says of the upgraded notebook, if it would refuse it."""
    upgraded, validator = copy.deepcopy(notebook), MetadataValidator()
    try:
        validator.upgrade_notebook_metadata(upgraded)
        validator.validate_nb(upgraded)
    except (ValidationError, SchemaTooNewError, KeyError) as error:
        return str(getattr(error, "message", error)).strip().splitlines()[0]
    return ""
