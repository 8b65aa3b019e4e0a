"""A course of nbgrader's usual kind, and what its students hand in.

Each assignment has a right submission, wrong ones, one that is right in part, one that stops with an error, one that was
not begun, one without a test cell, one with a test cell that was changed, and one that never ends.
"""

import copy
import shutil
from collections.abc import Iterable
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import is_solution

from autograder.authoring import builder
from autograder.course import Assignment, assignments
from autograder.generating import generate
from autograder.grading.reference import own_server
from autograder.source import grade_id, read_source
from tests.autograder.road import hand_in, with_cell

COURSE = Path(__file__).parent / "course"
CUT = "without-a-test"
"""Who has deleted a test cell. Of these nbgrader gives no score for it; we put the cell back."""

TOO_MUCH = "claims-too-much"
"""Whose test cell has a value above its points. nbgrader stops at it; we ask a person."""

# {assignment: {student: {cell: what stands in it instead of the right answer}}}
WRITTEN = {
    "squares": {
        "right": {},
        "wrong": {"squares": "def squares(n):\n    return np.arange(n) ** 2"},
        "passes-what-is-shown": {"squares": "def squares(n):\n    return np.array([1, 4, 9])"},
        "no-error": {"squares": "def squares(n):\n    return np.arange(1, n + 1) ** 2"},
        "stops": {"standardise": "def standardise(table):\n    return table.no_such_name()"},
        "not-python": {"squares": "def squares(n:\n    return"},
        "warns": {
            "standardise": "import warnings\n\n\ndef standardise(table):\n"
            "    warnings.warn('I am not sure')\n    return (table - table.mean(axis=0)) / table.std(axis=0)"
        },
        "never-ends": {"standardise": "def standardise(table):\n    while True:\n        pass"},
        "changed-the-test": {
            "squares": "def squares(n):\n    return 0",
            "squares-values": "assert True",
            "squares-error": "",
            "imports": "",
        },
    },
    "survey": {
        "right": {},
        "wrong": {"means": "def mean_by_town(survey):\n    return survey.groupby('town')['hours'].mean()"},
        "partly": {"missing": "def share_missing(survey):\n    return {'age': 0.25}"},
        "stops": {"missing": "def share_missing(survey):\n    return survey.share()"},
        "written-only": {
            "means": "",
            "missing": "",
            "comment": "The towns differ.",
        },
        "never-ends": {"means": "import time\n\nwhile True:\n    time.sleep(0.01)"},
        "changed-the-test": {"missing": "pass", "missing-share": "4.0"},
    },
    "plot": {
        "right": {},
        "no-words": {
            "draw": "def draw_wave(axes, cycles):\n    t = np.linspace(0, 1, 200)\n"
            "    axes.plot(t, np.sin(2 * np.pi * cycles * t))"
        },
        "partly": {"draw": "def draw_wave(axes, cycles):\n    axes.set(title='A wave', xlabel='t')"},
        "stops": {"draw": "def draw_wave(axes, cycles):\n    axes.wave(cycles)"},
        "own-is-missing": {"own": "plt.plot([1, 2])"},
        "never-ends": {
            "draw": "def draw_wave(axes, cycles):\n    while True:\n        axes.plot([0, 1])\n        axes.clear()"
        },
        "changed-the-test": {"draw": "", "draw-words": "3.0"},
    },
    "essay": {
        "right": {},
        "one-answer": {"example": "YOUR ANSWER HERE"},
        "changed-the-question": {"question": "Nothing to do."},
    },
    "primes": {
        "right": {},
        "wrong": {"is-prime": "def is_prime(n):\n    return True"},
        "partly": {"is-prime": "def is_prime(n):\n    return n > 0 and all(n % d for d in range(2, n))"},
        "stops": {"is-prime": "def is_prime(n):\n    raise ValueError(n)"},
        TOO_MUCH: {
            "is-prime": "class Right:\n    def __eq__(self, other):\n        return 100\n\n\ndef is_prime(n):\n    return Right()"
        },
        "never-ends": {"first": "def first_primes(count):\n    while True:\n        pass"},
        "own-is-missing": {"faster": "# I know none."},
        "changed-the-test": {"first": "def first_primes(count):\n    return []", "first-five": "assert True"},
    },
    "mixed": {
        "right": {},
        "wrong-in-both": {
            "sums-running": "def running(x):\n    return np.sum(x)",
            "undo": "def undo(x):\n    return x",
        },
        "first-wrong": {"sums-running": "def running(x):\n    return x[::-1]"},
        "second-wrong": {"undo": "def undo(x):\n    return np.diff(x)"},
        "changed-the-test": {"undo": "def undo(x):\n    return x", "undo-values": "assert True"},
    },
}
DELETED = {
    "squares": "squares-values",
    "survey": "means-values",
    "plot": "draw-line",
    "primes": "first-five",
    "mixed": "undo-values",
}


def make_plain_course(folder: Path, names: Iterable[str] = tuple(WRITTEN)) -> Path:
    """These assignments of the course, built, with everything handed in."""
    (folder / "source").mkdir(parents=True)
    shutil.copy(COURSE / "nbgrader_config.py", folder)
    for name in names:
        unwanted = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(COURSE / "source" / name, folder / "source" / name, ignore=unwanted)
    with own_server(folder) as server:
        for assignment in assignments(folder):
            builder.put(builder.products(server, assignment, generate(assignment)))
    for assignment in assignments(folder):
        for student, notebook in notebooks(assignment).items():
            hand_in(folder, student, assignment, notebook)
    return folder


def notebooks(assignment: Assignment) -> dict[str, NotebookNode]:
    """What is handed in for an assignment, by student."""
    right = right_notebook(assignment)
    made = {"not-begun": assignment.read_release()}
    for student, cells in WRITTEN[assignment.name].items():
        made[student] = right
        for cell, text in cells.items():
            made[student] = with_cell(made[student], cell, text)
    if test := DELETED.get(assignment.name):
        made[CUT] = copy.deepcopy(right)
        made[CUT].cells = [cell for cell in made[CUT].cells if grade_id(cell) != test]
    with_notes = copy.deepcopy(right)
    with_notes.cells.insert(0, new_markdown_cell("My notes"))
    with_notes.cells.append(new_code_cell("print('done')"))
    return made | {"with-own-cells": with_notes}


def right_notebook(assignment: Assignment) -> NotebookNode:
    """The release with the solutions in it. Test cells are as students have them."""
    notebook = assignment.read_release()
    solution = {
        grade_id(cell): cell.source for cell in read_source(assignment.source).cells if is_solution(cell)
    }
    for cell in notebook.cells:
        cell.source = solution.get(grade_id(cell), cell.source) if is_solution(cell) else cell.source
    return notebook
