"""nbgrader's Validate button counts what fails, names it as the notebook does, and lists extensions apart.

nbgrader shows the text of a cell that fails, be it the call that drew a card or a question's "*Your answer.*", and an
extension that nobody asked for counts like an exercise. An nbgrader_config.py calls `name_what_fails`.
"""

import copy
import functools
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from nbformat.v4 import new_code_cell, new_output

from autograder.checks.headings import heading_in, headings, plain

LONGEST_QUESTION = 400  # characters
WIDTH = 70  # characters of a line: nbgrader's command cuts what is longer
UNANSWERED = "Not answered yet."
SIGNS = ("✗", "…", "○")
"""With one of them the card of a check that has not passed begins."""
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
    """The cells that fail, as they are to be shown: each once and counted, then all extensions as one."""
    asked, extensions = [], []
    for cell in failed:
        if not _is_extension(cell):
            asked.append(cell)
        elif not _is_untouched(notebook, cell):
            extensions.append(f"{_name(cell)}: {_last_line(cell)}")
        else:
            extensions.append(f"{_name(cell)}: not begun")
    if not asked and all(extension.endswith(": not begun") for extension in extensions):
        return []
    called = headings(notebook.cells)
    shown = [
        _shown(notebook, cell, f"{number} of {len(asked)}: ", called) for number, cell in enumerate(asked, 1)
    ]
    if extensions:
        shown.append(_cell(f"# {OF_EXTENSIONS}", extensions))
    return shown


def _shown(notebook: Any, cell: Any, count: str, called: Mapping[str, str]) -> Any:
    """A cell with what it is called in the place of its text, and what is wrong with it."""
    name = _grade_id(cell)
    if name in called:
        return _cell(f"{count}{called[name]}", [UNANSWERED, *_question(notebook, cell)])
    lines = [line for output in cell.get("outputs", []) for line in output.get("traceback", ())]
    said = "\n".join(lines).strip("\n").splitlines()
    if said and said[0].startswith(SIGNS):  # a card begins with the name of its exercise
        exercise, _, state = said[0][1:].strip().partition(": ")
        rest = textwrap.dedent("\n".join(said[1:])).splitlines()
        return _cell(f"{count}{exercise}", [f"{state[:1].upper()}{state[1:]}.", *rest])
    shown = copy.copy(cell)
    shown.source = f"{count}{_name(cell)}\n\n{cell.source}"
    return shown


def _cell(title: str, lines: list[str]) -> Any:
    """A failing cell of which nbgrader shows this title and these lines."""
    shown = new_code_cell(title, metadata={"nbgrader": {"grade": True, "points": 0}})
    shown.outputs = [new_output("error", ename="NotRight", evalue="", traceback=lines)]
    return shown


def _question(notebook: Any, cell: Any) -> list[str]:
    """The text above a written answer as plain lines, without the heading by which the cell is called."""
    place = next(number for number, other in enumerate(notebook.cells) if other is cell)
    above = next(
        (other.source for other in reversed(notebook.cells[:place]) if other.cell_type == "markdown"), ""
    )
    heading, question = heading_in(above), plain(above)
    if heading and heading in question:
        question = question.partition(heading)[2].lstrip(" .:")
    if len(question) > LONGEST_QUESTION:
        question = f"{question[:LONGEST_QUESTION]} …"
    return textwrap.wrap(question, WIDTH)


def _is_extension(cell: Any) -> bool:
    return bool(cell.metadata.get("course", {}).get("extra_credit")) and not cell.metadata.nbgrader.get(
        "points"
    )


def _is_untouched(notebook: Any, check: Any) -> bool:
    """Whether the answer that a check asks for is still as it was released."""
    from nbgrader.utils import compute_checksum  # optional: as above

    for cell in notebook.cells:
        if _grade_id(cell) == _name(check):
            return cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
    return False


def _grade_id(cell: Any) -> str:
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def _name(cell: Any) -> str:
    return _grade_id(cell).removesuffix("-check")


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
