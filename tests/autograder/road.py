"""A course of its own in a temporary folder, and ten submissions made from the student's notebook."""

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat

from autograder.course import Assignment
from autograder.exercise import edited
from autograder.grading import run
from autograder.grading.reference import solution_sources
from autograder.results import Result
from autograder.source import grade_id, read_source
from tests.conftest import ROOT

COPIED = ("solutions", "notebooks", "coursekit")


def make_course(folder: Path) -> Path:
    """A course folder with everything that grading reads, and no gradebook yet."""
    for name in COPIED:
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.ipynb_checkpoints", "__pycache__")
        )
    settings = (ROOT / "nbgrader_config.py").read_text()
    # The endless loop need not be watched for a minute.
    (folder / "nbgrader_config.py").write_text(settings.replace("cell_seconds = 60", "cell_seconds = 4"))
    return folder


def perfect_notebook(assignment: Assignment) -> nbformat.NotebookNode:
    """The release with the solution's cells and written answers in it."""
    notebook = assignment.read_release()
    solution = {
        grade_id(cell): cell.source for cell in read_source(assignment.source).cells if grade_id(cell)
    }
    for cell in notebook.cells:
        if grade_id(cell):
            cell.source = solution[grade_id(cell)]
    return notebook


def with_cell(notebook: nbformat.NotebookNode, name: str, source: str) -> nbformat.NotebookNode:
    changed = copy.deepcopy(notebook)
    for cell in changed.cells:
        if grade_id(cell) == name:
            cell.source = source
    return changed


def hand_in(
    course: Path, student: str, assignment: Assignment, notebook: nbformat.NotebookNode | str
) -> None:
    folder = course / "submitted" / student / assignment.name
    folder.mkdir(parents=True, exist_ok=True)
    text = notebook if isinstance(notebook, str) else nbformat.writes(notebook)
    (folder / assignment.file).write_text(text)
    (folder / "timestamp.txt").write_text("2026-10-01 12:00:00 UTC")


def grade_all(
    assignment: Assignment, *students: str, fresh: bool = False, tell: Callable[[str], object] = str
) -> list[Result]:
    """What was handed in, of everybody or of these, into the gradebook, without walls."""
    folders = run.find_submissions(assignment, assignment.submitted, students)
    return run.grade_class(assignment, folders, run.Options("none", fresh=fresh), lambda result: None, tell)


def raising(source: str, statement: str) -> str:
    """A solution cell whose body is one statement."""
    head, _, rest = source.partition("    ### BEGIN SOLUTION\n")
    tail = rest.partition("    ### END SOLUTION")[2]
    return f"{head}    {statement}{tail}"


def hand_in_ten(course: Path, assignment: Assignment) -> dict[str, set[str]]:
    """Ten submissions; returns {student: exercises that must fail}."""
    perfect = perfect_notebook(assignment)
    sources = solution_sources(assignment)
    exercises = list(assignment.exercises.values())
    names = {exercise.name for exercise in exercises}
    failing: dict[str, set[str]] = {}

    def submit(student: str, notebook, fails: set[str]) -> None:
        hand_in(course, student, assignment, notebook)
        failing[student] = fails

    submit("perfect", perfect, set())
    submit("empty", assignment.read_release(), names)
    for number, exercise in enumerate(exercises[-3:]):
        wrong = edited(sources[exercise.name], exercise, exercise.mistakes[0])
        submit(f"mistake-{number + 1}", with_cell(perfect, exercise.solution_id, wrong), {exercise.name})
    last = exercises[-1]
    stops = raising(sources[last.name], 'raise ValueError("I am stuck")')
    submit("exception", with_cell(perfect, last.solution_id, stops), {last.name})
    loops = raising(sources[last.name], "while True: pass")
    submit("endless-loop", with_cell(perfect, last.solution_id, loops), {last.name})
    deleted = copy.deepcopy(perfect)
    deleted.cells = [cell for cell in deleted.cells if grade_id(cell) != last.check_id]
    submit("deleted-check", deleted, set())
    doubled = copy.deepcopy(perfect)
    place = next(i for i, cell in enumerate(doubled.cells) if grade_id(cell) == last.solution_id)
    again = copy.deepcopy(doubled.cells[place])
    again.id = "a-second-one"
    doubled.cells.insert(place, again)
    submit("doubled-id", doubled, set())
    submit("not-json", "This is my homework.", names)
    return failing


def read_report(path: Path) -> dict[str, dict]:
    return {entry["student"]: entry for entry in json.loads(path.read_text())["submissions"]}
