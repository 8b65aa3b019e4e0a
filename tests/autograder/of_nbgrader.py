"""Courses of nbgrader's own kind, with notebooks under any names: made in a second, graded in this process."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.authoring import builder
from autograder.course import Assignment, notebooks_of
from autograder.generating import generate
from tests.autograder import here
from tests.autograder.road import hand_in

SETTINGS = """
from pathlib import Path
from autograder.nbgrader_plugin import configure
c = get_config()
c.CourseDirectory.course_id = "any"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
configure(c)
"""
RIGHT, WRONG = "a = 1", "a = 2"
TEST, QUESTION = "t0", "q0"


def make_course(root: Path, notebooks: Mapping[str, Sequence[str]]) -> Path:
    """A course with these notebooks by assignment, built. All have the same grade ids, as notebooks made from one template."""
    for name, files in notebooks.items():
        for file in files:
            write_source(root, name, file)
    root.mkdir(parents=True, exist_ok=True)
    (root / "nbgrader_config.py").write_text(SETTINGS)
    for name in notebooks:
        build(root, name)
    return root


def write_source(root: Path, name: str, file: str, points: float = 1) -> None:
    """An answer, its test, and a question that a person grades with two points."""
    folder = root / "source" / name
    folder.mkdir(parents=True, exist_ok=True)
    cells = [
        new_code_cell(f"### BEGIN SOLUTION\n{RIGHT}\n### END SOLUTION", metadata=_cell("a0", solution=True)),
        new_code_cell("assert a == 1", metadata=_cell(TEST, grade=True, locked=True, points=points)),
        new_markdown_cell("Because.", metadata=_cell(QUESTION, grade=True, solution=True, points=2)),
    ]
    nbformat.write(new_notebook(cells=cells), folder / f"{file}.ipynb")


def build(root: Path, name: str) -> None:
    for notebook in notebooks_of(root, name):
        builder.put(builder.products(here.Servers(), notebook, generate(notebook)))


def answer(notebook: Assignment, student: str, code: str = RIGHT, words: str = "") -> None:
    """Hand one notebook in."""
    handed_in = notebook.read_release()
    handed_in.cells[0].source = code
    handed_in.cells[2].source = words or handed_in.cells[2].source
    hand_in(notebook.root, student, notebook, handed_in)


def scores(root: Path, name: str) -> dict[str, tuple[float, dict[str, float]]]:
    """{student: points of the assignment and of each notebook}, as nbgrader sums them."""
    with Gradebook(f"sqlite:///{root}/gradebook.db", "any") as gradebook:
        return {
            one.student.id: (one.score, {part.name: part.score for part in one.notebooks})
            for one in gradebook.assignment_submissions(name)
        }


def _cell(name: str, **of_nbgrader: object) -> dict:
    usual = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {**usual, "grade_id": name, **of_nbgrader}}
