"""The page of a notebook: the student's copy, with what the cells of the solution show.

The text of the page is nbgrader's release, so it holds nothing that a student does not get. Outputs come from a run of the
solution; those of the checks are left out, since the exercises above them are empty.
"""

import re
from functools import cache
from html import escape

import nbformat
from nbformat import NotebookNode

from autograder.course import Assignment
from autograder.generating import release_files
from autograder.settings import CourseSettings
from autograder.source import code_cells, read_source

WIDGET, WIDGETS = "application/vnd.jupyter.widget-view+json", "application/vnd.jupyter.widget-state+json"
TWIN = "In JupyterLab you can change what follows; this page shows its initial state."
NOTHING_YET = "This part needs a running kernel: open the notebook in JupyterLab."

FOR_STUDENTS = """\
```{{note}}
This page is for reading: the exercises are empty; the outputs of the other cells come from a run with every exercise solved.
To work on the exercises, <a href="../{zip}">download the notebooks</a>, type `make lab` and open `notebooks/{name}/{name}.ipynb`.
```"""
FOR_INSTRUCTORS = """\
```{{warning}}
{name} with its solutions and marking guides: not for students.
```"""

made_once = cache(release_files)
"""A release's files: for the check of its links, for its page, and for the students' zip file."""

ADDRESSES = (
    (re.compile(r"arXiv:(\d{4}\.\d{4,5}|[a-z-]+/\d{7})"), r"[arXiv:\1](https://arxiv.org/abs/\1)"),
    (re.compile(r"(?<![/\w.-])((?:[\w-]+\.)+(?:com|io|org)\b(?:/[\w./-]*\w)?)"), r"[\1](https://\1)"),
)


def zip_name(settings: CourseSettings) -> str:
    """The file beside the pages that holds what students work with."""
    return f"{settings.course_id}-student.zip"


def students_page(assignment: Assignment, executed: NotebookNode) -> str:
    """The notebook as a student gets it, with the outputs of every cell that is not theirs to fill in."""
    page = nbformat.reads(made_once(assignment)[assignment.release.name].decode(), as_version=4)
    shown = {cell.id: static_outputs(cell, executed) for cell in code_cells(executed)}
    for cell in code_cells(page):
        cell.outputs = [] if "nbgrader" in cell.metadata else shown[cell.id]
    return _finished(page, FOR_STUDENTS.format(name=assignment.name, zip=zip_name(assignment.settings)))


def instructors_page(assignment: Assignment, executed: NotebookNode) -> str:
    """The solution itself, run."""
    page = read_source(assignment.source)
    shown = {cell.id: static_outputs(cell, executed) for cell in code_cells(executed)}
    for cell in code_cells(page):
        cell.outputs = shown[cell.id]
    return _finished(page, FOR_INSTRUCTORS.format(name=assignment.name))


def static_outputs(cell: NotebookNode, executed: NotebookNode) -> list[NotebookNode]:
    """What a cell shows, without what needs a kernel: of a slider the picture below it stays."""
    widgets = executed.metadata.get("widgets", {}).get(WIDGETS, {}).get("state", {})
    outputs = []
    for place, output in enumerate(cell.outputs):
        view = output.get("data", {}).get(WIDGET)
        if view is None:
            outputs.append(output)
        elif not _is_progress_bar(view["model_id"], widgets):
            outputs.append(_note(TWIN if cell.outputs[place + 1 :] else NOTHING_YET))
    return outputs


def _is_progress_bar(model: str, widgets: dict) -> bool:
    """Whether a widget is a bar of tqdm, which says nothing once it is full."""
    children = widgets.get(model, {}).get("state", {}).get("children", ())
    parts = [widgets.get(child.removeprefix("IPY_MODEL_"), {}) for child in children]
    return any(part.get("model_name") == "FloatProgressModel" for part in parts)


def _note(text: str) -> NotebookNode:
    html = f'<p class="needs-a-kernel">{escape(text)}</p>'
    return nbformat.v4.new_output("display_data", {"text/plain": text, "text/html": html})


def _finished(page: NotebookNode, note: str) -> str:
    page.cells.insert(1, nbformat.v4.new_markdown_cell(note, id="about-this-page"))
    for cell in page.cells:
        nbgrader = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code":
            cell.execution_count = None
            kind = "exercise" if nbgrader.get("solution") else "check" if nbgrader.get("grade") else ""
            cell.metadata = {"tags": [*cell.metadata.get("tags", []), *([kind] if kind else [])]}
        elif cell.source.startswith("## References"):
            cell.source = _with_addresses(cell.source)
    nbformat.validate(page)
    return nbformat.writes(page)


def _with_addresses(references: str) -> str:
    for pattern, link in ADDRESSES:
        references = pattern.sub(link, references)
    return f"{references}\n\nAll papers of the course, with links: [References](/references.md)."
