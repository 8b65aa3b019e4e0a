"""The same notebook as nbgrader and otter have it: an assert test under each exercise, and no coursekit."""

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
from nbformat import NotebookNode
from nbformat.v4 import new_notebook

from autograder.checks.answer_key import ExerciseKey
from autograder.checks.asking import Case
from autograder.course import Assignment
from autograder.exercise import Exercise
from autograder.grading.reference import exercise_keys
from autograder.jail.outside.client import Server
from autograder.source import KERNEL, code_cells, grade_id, is_demo, read_source

SAME = """
def same(given, wanted):
    given = given if isinstance(given, tuple) else (given,)
    assert len(given) == len(wanted), f"{len(given)} values instead of {len(wanted)}"
    for one, other in zip(given, wanted):
        torch.testing.assert_close(torch.as_tensor(one).double(), other.double(), rtol=1e-4, atol=1e-5)
"""


def source_notebook(assignment: Assignment, first_cell: str) -> NotebookNode:
    """What an nbgrader instructor edits: solutions, and tests with their inputs and expected values in them."""
    with Server(isolation="none") as server:
        keys = exercise_keys(server, assignment, seed=0)
    cells = []
    for cell in read_source(assignment.source).cells:
        exercise = assignment.by_check_id.get(grade_id(cell))
        if exercise:
            cell.source = test(cell.source, keys[exercise.name])
        elif not grade_id(cell) and (cell.cell_type != "code" or is_demo(cell)):
            continue
        cell.source = _without_coursekit(cell.source)
        cells.append(cell)
    if first_cell:
        cells[0].source = f"{first_cell}\n{cells[0].source}"
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL})


def test(check_cell: str, key: ExerciseKey) -> str:
    """The check cell's call on the same kind of inputs, and asserts on what it gives."""
    check = ast.parse(check_cell).body[0].value
    lines = [SAME, f"call = {ast.get_source_segment(check_cell, check.args[1])}"]
    for case, expected in zip(key.cases, key.expected, strict=True):
        values = "".join(f"{_literal(array)}, " for _, array in sorted(expected.arrays.items()))
        lines.append(f"same(call({_dictionary(case)}), ({values}))")
    return "\n".join(lines)


def otter_test(exercise: Exercise, test_cell: str) -> str:
    """The same test as a file for otter."""
    return test_file(exercise.check_id, test_cell)


def test_file(name: str, test_cell: str) -> str:
    """A test cell as a file for otter: passed if nothing raises."""
    body = "\n".join(f"    {line}" for line in test_cell.strip().splitlines())
    return (
        f"from otter.test_files import test_case\n\nOK_FORMAT = False\nname = {name!r}\npoints = 1\n\n"
        f"@test_case()\ndef test(env):\n    globals().update(env)\n{body}\n"
    )


def _without_coursekit(source: str) -> str:
    return "\n".join(line for line in source.splitlines() if not line.startswith("from coursekit"))


def _dictionary(case: Case) -> str:
    return "{" + ", ".join(f"{name!r}: {_literal(value)}" for name, value in case.items()) + "}"


def _literal(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"torch.tensor({value.tolist()}, dtype=torch.{value.dtype})"
    return repr(value)


def nbgrader_course(folder: Path, notebook: NotebookNode, name: str) -> None:
    """A course folder as nbgrader's documentation makes it."""
    (folder / "source" / name).mkdir(parents=True)
    nbformat.write(notebook, folder / "source" / name / f"{name}.ipynb")
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'classic'\n")


def otter_tests(folder: Path, assignment: Assignment, notebook: NotebookNode) -> None:
    """Write otter's test file for each exercise of the notebook into `folder`, which must not exist yet."""
    folder.mkdir(parents=True)
    for cell in code_cells(notebook):
        exercise = assignment.by_check_id.get(grade_id(cell))
        if exercise:
            (folder / f"{exercise.solution_id.replace('-', '_')}.py").write_text(
                otter_test(exercise, cell.source)
            )


def without_tests(notebook: Mapping[str, Any], checks: set[str]) -> str:
    """A submission for otter, whose tests are not in the notebook."""
    cells = [c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") not in checks]
    return json.dumps({**notebook, "cells": cells})
