"""A class whose written answers are given, graded into a real gradebook, and graders of them; nothing of it was run."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from autograder.checks.status import Status
from autograder.course import Assignment
from autograder.gradebook.by_hand import Mark, read_marks
from autograder.gradebook.gradebook import GradebookWriter, open_gradebook, register
from autograder.grading.verdicts import _manual
from autograder.results import CellVerdict, Result
from autograder.source import grade_id, graded_cells, is_solution, points
from autograder.untrusted.submission import Submission, to_be_filled_in
from autograder.written.desk import Desk
from autograder.written.state import Json
from tests.autograder.road import with_cell
from tests.conftest import ROOT

NAME, QUESTION = "02_attention", "attention-reflection-a"


def make_course(folder: Path) -> Assignment:
    """The course with one assignment and no students."""
    for part in ("solutions", "notebooks"):
        shutil.copytree(
            ROOT / part / NAME, folder / part / NAME, ignore=shutil.ignore_patterns("*.ipynb_checkpoints")
        )
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    assignment = Assignment(folder, NAME)
    register(assignment)
    return assignment


def record(
    assignment: Assignment,
    texts: Mapping[str, str],
    question: str = QUESTION,
    more: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Each student handed in this answer; the checks are right, other questions blank but for `more`, {question: texts}."""
    release = assignment.read_release()
    released, handed_in = to_be_filled_in(release), []
    for student, text in texts.items():
        notebook = with_cell(release, question, text) if text else release
        for other, written in (more or {}).items():
            notebook = with_cell(notebook, other, written[student]) if student in written else notebook
        verdicts = [
            _manual(cell)
            if is_solution(cell)
            else CellVerdict(grade_id(cell), points(cell), points(cell), Status.PASSED)
            for cell in graded_cells(notebook)
        ]
        handed_in.append(
            (Submission(student, notebook, text, released=released), Result(student, tuple(verdicts), 0.0))
        )
    with open_gradebook(assignment.root) as gradebook:
        assert not GradebookWriter(gradebook, assignment).record(handed_in)


def marks(assignment: Assignment, question: str = QUESTION) -> dict[str, Mark]:
    with open_gradebook(assignment.root) as gradebook:
        return read_marks(gradebook, assignment, question)


def group_of(view: Json, text: str) -> Json:
    """The group with an answer in which this text stands, in capitals or not."""
    groups = view["groups"]
    return next(g for g in groups if any(text.lower() in row["text"].lower() for row in g["rows"]))


def seen(group: Json, *rows: int) -> dict[str, str]:
    """{alias: tag} of a group's answers, or of those in these rows."""
    chosen = [group["rows"][place] for place in rows] if rows else group["rows"]
    return {alias: tag for row in chosen for alias, tag in row["answers"].items()}


def give(desk: Desk, who: str, text: str, score: float, **more: object) -> None:
    """The same points to the group with this text."""
    desk.give(who, seen(group_of(desk.view(who), text)), score, **more)
