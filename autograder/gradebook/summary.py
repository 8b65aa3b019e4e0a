"""What stands on top of a student's feedback: the points, each exercise that is not right with its mistake, what waits.

In place of nbgrader's list, in which every check is called "Test cell".
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import ClearHiddenTests

from autograder.checks.notes import in_html
from autograder.checks.panels import Panels
from autograder.checks.status import Ending, Status
from autograder.course import Assignment
from autograder.gradebook.hidden_tests import HiddenTests
from autograder.gradebook.history import History, read_history
from autograder.results import CellVerdict, told
from autograder.source import extra_credit, grade_id, graded_cells, is_solution, is_task
from autograder.untrusted.pages import Pages
from autograder.untrusted.pictures import Picture, pictures, place

THEIR_LIST = re.compile(r'<div id="toc">.*?</ol>\s*</div>', re.DOTALL)
"""It comes before anything that a student wrote."""
LENT = "Your answer is right if it uses the solution's"


@dataclass(frozen=True)
class Row:
    """A graded cell in one line."""

    cell: str  # where the link leads
    name: str
    points: str = ""
    status: str = ""
    hint: str = ""
    follows: str = ""
    comment: str = ""  # the cell that has one
    panels: Panels | None = None

    @property
    def pictures(self) -> list[Picture]:
        """The check's panels as images; none if it drew nothing."""
        return pictures(self.panels) if self.panels else []

    @property
    def place(self) -> str:
        """Which part of larger arrays the images show; empty if they show everything, or there are none."""
        return place(self.panels) if self.panels else ""


class FeedbackPages(Pages):
    """The page that a student gets: the summary on top, and below it the notebook."""

    _with_scores: NotebookNode
    _conceal: Callable[[str], str]

    def from_notebook_node(  # type: ignore[override]  # nbconvert's own exporters return text, too
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page as HTML, and nbconvert's resources."""
        page, resources = super().from_notebook_node(nb, resources, **kw)
        html = summary(self._with_scores, resources["nbgrader"], self._assignment, self._conceal)
        return THEIR_LIST.sub(lambda _: html, page, count=1), resources

    def _preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """nbgrader's preprocessor writes the gradebook's scores into the cells, of a copy. Hidden tests are left out."""
        self._with_scores, resources = super()._preprocess(nb, resources)
        self._conceal = str
        if not self._assignment.settings.show_hidden_tests:
            of_course = ClearHiddenTests(config=self.config)
            hidden = HiddenTests(
                self._with_scores, of_course.begin_test_delimeter, of_course.end_test_delimeter
            )
            self._with_scores, self._conceal = hidden.left_out(), hidden.conceal
        return self._with_scores, resources


def summary(
    notebook: NotebookNode,
    where: Mapping[str, Any],
    assignment: Assignment,
    conceal: Callable[[str], str] = str,
) -> str:
    """HTML. `notebook` has the gradebook's scores and comments in its metadata, `where` the sums.

    `conceal` takes out of a reason what its reader is not to see.
    """
    environment = Environment(
        loader=PackageLoader("autograder"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["code"] = in_html  # escapes all but the elements that it makes
    history = read_history(assignment, where["student"])
    waiting = _waiting(where)
    found = history.by_cell() if history else {}
    verdicts = {name: replace(one, reason=conceal(one.reason)) for name, one in found.items()}
    wrong, right, extensions, written = [], [], [], []
    comments = {grade_id(cell) for cell in notebook.cells if is_solution(cell) and _has_comment(cell)}
    for cell in graded_cells(notebook):
        verdict = verdicts.get(grade_id(cell))
        row = _row(cell, verdict, comments, grade_id(cell) in waiting, assignment.title(grade_id(cell)))
        if is_solution(cell) or is_task(cell):
            written.append(row)
        elif extra_credit(cell) and not cell.metadata.nbgrader.points:
            extensions.append(row)
        elif _score(cell) >= cell.metadata.nbgrader.points:
            right.append(row)
        else:
            wrong.append(row)
    graded = [cell for cell in graded_cells(notebook) if grade_id(cell) in waiting]
    return environment.get_template("summary.html").render(
        score=f"{where['score']:g}",
        most=f"{where['max_score']:g}",
        penalty=f"{where['late_penalty']:g}" if where["late_penalty"] else "",
        waiting_points=_number(sum(cell.metadata.nbgrader.points for cell in graded)),
        extra=_number(sum(verdict.extra for verdict in verdicts.values())),
        unread=_unread(history),
        notes=[conceal(note) for note in history.notes] if history else (),
        sections=[("Look at these again", wrong), ("Written answers", written), ("Extensions", extensions)],
        right=right,
    )


def _row(
    cell: NotebookNode, verdict: CellVerdict | None, comments: Collection[str], waits: bool, title: str
) -> Row:
    name = grade_id(cell)
    about = name.removesuffix("-check")  # the cell with the answer
    of = f"{_score(cell):g} of {cell.metadata.nbgrader.points:g}"
    comment = about if about in comments else ""
    if waits:
        return Row(
            name,
            title,
            f"{cell.metadata.nbgrader.points:g} points",
            "still to be graded by hand",
            comment=comment,
        )
    if is_solution(cell) or is_task(cell):
        status = "No answer was written." if verdict and verdict.status == Status.MISSING else ""
        return Row(name, title, of, status, comment=comment)
    if verdict is None:
        return Row(name, title, of, comment=comment)
    lent = next((line for line in verdict.reason.splitlines() if line.startswith(LENT)), "")
    if verdict.status == Status.PASSED:
        extra = f"{verdict.extra:g} extra point{'' if verdict.extra == 1 else 's'}" if verdict.extra else ""
        return Row(name, title, extra, lent[:1].lower() + lent[1:].rstrip("."), comment=comment)
    status, hint, follows = told(verdict)
    if not cell.metadata.nbgrader.points:
        of = ""
    return Row(name, title, of, status, hint, follows, comment, verdict.panels)


def _score(cell: NotebookNode) -> float:
    return cell.metadata.nbgrader.get("score") or 0.0


def _number(points: float) -> str:
    return f"{points:g}" if points else ""


def _has_comment(cell: NotebookNode) -> bool:
    comment = cell.metadata.nbgrader.get("comment")
    return bool(comment) and comment != "No response."


def _unread(history: History | None) -> str:
    """Why nothing, or not all of it, was run."""
    if history is None or history.ending == Ending.FINISHED:
        return ""
    if history.ending == Ending.NOT_RUN:
        return next((verdict.reason for verdict in history.verdicts if verdict.reason), "")
    return "The notebook was not run to its end: the entries below show where it stopped."


def _waiting(where: Mapping[str, Any]) -> frozenset[str]:
    """The cells that a person has still to grade."""
    with Gradebook(where["db_url"]) as gradebook:
        try:
            grades = gradebook.find_submission_notebook(
                where["notebook"], where["assignment"], where["student"]
            ).grades
        except MissingEntry:
            return frozenset()
        return frozenset(grade.name for grade in grades if grade.needs_manual_grade)
