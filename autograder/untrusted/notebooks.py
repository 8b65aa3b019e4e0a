"""Cells of a hand-in as cells of a notebook, which keep nothing but their texts, pictures and names."""

from typing import Any

from nbformat import NotebookNode, from_dict

from autograder.source import is_locked
from autograder.untrusted.cells import Cell
from autograder.untrusted.definitions import bare


def as_handed_in(cell: Cell, original: NotebookNode | None, position: int) -> NotebookNode:
    """A student's cell without a grade id of the release, with the metadata of the released cell that has its text."""
    metadata = NotebookNode()
    if original is not None and original["cell_type"] == cell.kind:
        metadata = original["metadata"]
    return _with_pictures(_new_cell(cell, f"cell-{position}", metadata), cell)


def restored_cell(cell: Cell, name: str, original: NotebookNode) -> NotebookNode:
    """The released cell `original`, with the grade id `name` and, unless it is locked, the text of the student's cell.

    What differs by spaces at the ends of lines alone is as it was released, and so is code that was emptied.
    """
    code = _not_run(original["cell_type"])
    if is_locked(original) or bare(cell.source) in ("" if code else None, bare(original["source"])):
        return NotebookNode(original, id=name, **code)
    return _with_pictures(NotebookNode(original, id=name, source=cell.source, **code), cell)


def _new_cell(cell: Cell, cell_id: str, metadata: NotebookNode) -> NotebookNode:
    """Like nbformat's new_code_cell and its sisters, which validate each cell and are a hundred times slower."""
    code = _not_run(cell.kind)
    return NotebookNode(id=cell_id, cell_type=cell.kind, metadata=metadata, source=cell.source, **code)


def _not_run(kind: str) -> dict[str, Any]:
    """What only code cells have, as it is before they run."""
    return {"outputs": [], "execution_count": None} if kind == "code" else {}


def _with_pictures(notebook_cell: NotebookNode, cell: Cell) -> NotebookNode:
    if cell.attachments and notebook_cell["cell_type"] == "markdown":
        notebook_cell.attachments = from_dict(cell.attachments)
    return notebook_cell
