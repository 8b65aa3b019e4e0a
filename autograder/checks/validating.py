"""nbgrader's Validate button names the question that has no answer, and lists extensions apart.

nbgrader shows the text of a cell that fails. Of an unanswered question that is "*Your answer.*", and an extension that
nobody asked for counts like an exercise. An nbgrader_config.py calls `name_what_fails`.
"""

import functools
from collections.abc import Iterable
from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

LONGEST_QUESTION = 400  # characters
OF_EXTENSIONS = "Extensions: extra credit, not needed for full points."


def name_what_fails() -> None:
    """From now on Validate, in JupyterLab and as a command, says what fails by its name.

    nbgrader shows the text of the failing cell, and no setting changes which cells are shown: `Validator` is named by its
    users, and its preprocessors cannot be set. A failing cell worth 0 points counts like any other since
    jupyter/nbgrader#1731; of the missing name none has been reported. Seen with nbgrader 0.9.6, as the patches in
    `autograder.nbgrader_patches`; this one is here because students have nothing of ours but `checks`.
    """
    from nbgrader.validator import Validator  # optional: a notebook that imports `check` needs no nbgrader

    theirs = Validator._get_failed_cells
    theirs = getattr(theirs, "__wrapped__", theirs)

    @functools.wraps(theirs)
    def _get_failed_cells(self: Any, nb: Any) -> list[Any]:
        return shown_failures(nb, theirs(self, nb))

    Validator._get_failed_cells = _get_failed_cells


def shown_failures(notebook: Any, failed: Iterable[Any]) -> list[Any]:
    """The cells that fail, as they are to be shown: the exercises, then all extensions as one."""
    asked, extensions = [], []
    for cell in failed:
        if not _is_extension(cell):
            asked.append(_with_question(notebook, cell) if cell.cell_type == "markdown" else cell)
        elif not _is_untouched(notebook, cell):
            extensions.append(f"{_name(cell)}: {_last_line(cell)}")
        else:
            extensions.append(f"{_name(cell)}: not begun")
    if not asked and all(extension.endswith(": not begun") for extension in extensions):
        return []
    if extensions:
        shown = new_code_cell(f"# {OF_EXTENSIONS}", metadata={"nbgrader": {"grade": True, "points": 0}})
        shown.outputs = [_error(extensions)]
        asked.append(shown)
    return asked


def _error(lines: list[str]) -> Any:
    return new_output("error", ename="Extensions", evalue="", traceback=lines)


def _with_question(notebook: Any, cell: Any) -> Any:
    """The cell with its name and the question above it in the place of its text."""
    place = next(number for number, other in enumerate(notebook.cells) if other is cell)
    above = next(
        (other.source for other in reversed(notebook.cells[:place]) if other.cell_type == "markdown"), ""
    )
    question = above.strip()
    if len(question) > LONGEST_QUESTION:
        question = f"{question[:LONGEST_QUESTION]} …"
    return new_markdown_cell(f"{_name(cell)}\n\n{question}".strip(), metadata=cell.metadata)


def _is_extension(cell: Any) -> bool:
    return bool(cell.metadata.get("course", {}).get("extra_credit")) and not cell.metadata.nbgrader.get(
        "points"
    )


def _is_untouched(notebook: Any, check: Any) -> bool:
    """Whether the answer that a check asks for is still as it was released."""
    from nbgrader.utils import compute_checksum  # optional: as above

    wanted = check.metadata.nbgrader.grade_id.removesuffix("-check")
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if about.get("grade_id") == wanted:
            return about.get("checksum") == compute_checksum(cell)
    return False


def _name(cell: Any) -> str:
    return cell.metadata.nbgrader.grade_id.removesuffix("-check")


def _last_line(cell: Any) -> str:
    """The end of an error says what it was."""
    lines = [
        line
        for output in cell.get("outputs", [])
        if output.output_type == "error"
        for line in output.evalue.splitlines()
        if line.strip()
    ]
    return lines[0] if lines else "not right"
