"""Carry the scores, comments and results of a cell over to its new grade id.

The source says `course={"formerly": "the-old-id"}` in the header of the cell. `untrusted.entries` uses it
to place hand-ins that have the old id. This module renames the cell in the gradebook and in our own files.
"""

import json
from collections.abc import Callable, Mapping
from glob import escape
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry

from autograder.course import Assignment
from autograder.files import write_aside
from autograder.source import former_ids

Names = Mapping[str, str]
"""{old: new}"""


def rename_cells(gradebook: Gradebook, assignment: Assignment, cells: NotebookNode) -> dict[str, str]:
    """Rename the cells of a notebook in an open gradebook; commits nothing. Returns {old id: new id} of the renamed cells."""
    try:
        registered = gradebook.find_notebook(assignment.notebook, assignment.name)
    except MissingEntry:
        return {}
    rows = [*registered.grade_cells, *registered.solution_cells, *registered.task_cells]
    rows += registered.source_cells
    there = {row.name for row in rows}
    names = {old: new for old, new in former_ids(cells).items() if old in there and new not in there}
    for row in rows:
        row.name = names.get(row.name, row.name)
    gradebook.db.flush()
    return names


def rename_in_files(assignment: Assignment, names: Names) -> None:
    """Rename the cells in our files next to the gradebook: results, answers, groups and autograded notebooks."""
    for path in assignment.kept("results").glob("*.json"):
        _change(path, lambda known: _in_history(known, names))
    for path in assignment.kept("answers").glob("*.json"):
        _change(path, lambda known: {part: _keys(words, names) for part, words in known.items()})
    for old, new in names.items():
        state = assignment.kept("written") / f"{old}.json"
        if state.exists():
            state.replace(state.with_name(f"{new}.json"))
    autograded = assignment.autograded("*").parent.parent
    for path in autograded.glob(f"*/{escape(assignment.name)}/{escape(assignment.file)}"):
        _change(path, lambda notebook: _in_notebook(notebook, names))


def _change(path: Path, change: Callable[[Any], Any]) -> None:
    """Apply `change` to one of our JSON files. A damaged file is left unchanged; the command that reads it reports the damage."""
    try:
        changed = json.dumps(change(json.loads(path.read_text(encoding="utf-8"))))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return
    write_aside(path, changed)


def _keys(known: Mapping[str, Any], names: Names) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in known.items()}


def _in_history(known: dict[str, Any], names: Names) -> dict[str, Any]:
    for verdict in known["verdicts"]:
        verdict["grade_id"] = names.get(verdict["grade_id"], verdict["grade_id"])
    for words in (known, *known["hand_ins"]):
        words["answers"] = _keys(words["answers"], names)
    return known


def _in_notebook(notebook: dict[str, Any], names: Names) -> dict[str, Any]:
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        if about.get("grade_id") in names:
            about["grade_id"] = names[about["grade_id"]]
    return notebook
