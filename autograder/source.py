"""Read the percent-format source of a notebook, and write notebooks that are the same byte for byte."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from autograder.jail.launch import MODELS, OPTIMISERS

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
KEPT = ("nbgrader", "tags", "course")
DEMO = "demo"
"""Tag of cells that only show something: unchanged ones are not run when grading."""

AHEAD = {"transformers": MODELS, "coursekit.models": MODELS, "torch.optim": OPTIMISERS}
"""What a server imports before it forks for a notebook, by the words of a cell that needs it."""


def read_source(path: Path) -> NotebookNode:
    """The notebook of a percent script, with cell ids that do not change from run to run."""
    notebook = jupytext.read(path, fmt="py:percent")
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": {"name": "python", "file_extension": ".py"}}
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    used: dict[str, int] = {}
    for cell in notebook.cells:
        cell.id = _cell_id(cell, used)
        # jupytext also notes how many empty lines follow a cell
        cell.metadata = nbformat.from_dict(
            {name: cell.metadata[name] for name in KEPT if name in cell.metadata}
        )
    nbformat.validate(notebook)
    return notebook


def write_notebook(notebook: NotebookNode, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook_bytes(notebook))


def notebook_bytes(notebook: NotebookNode) -> bytes:
    return f"{nbformat.writes(notebook).rstrip()}\n".encode()


def grade_id(cell: NotebookNode) -> str:
    """The cell's nbgrader id, or ""."""
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def code_cells(notebook: NotebookNode) -> Iterator[NotebookNode]:
    return (cell for cell in notebook.cells if cell.cell_type == "code")


def is_demo(cell: NotebookNode) -> bool:
    return DEMO in cell.metadata.get("tags", [])


def imported_ahead(notebook: NotebookNode) -> tuple[str, ...]:
    """The modules that take seconds to import, and that cells of the notebook need which are run when grading."""
    text = "\n".join(cell.source for cell in code_cells(notebook) if not is_demo(cell))
    return tuple(sorted({module for words, module in AHEAD.items() if words in text}))


def _cell_id(cell: NotebookNode, used: dict[str, int]) -> str:
    """From the grade id, else from the text: moving or adding a cell leaves the other ids alone."""
    stem = grade_id(cell) or hashlib.sha256(cell.source.encode()).hexdigest()[:8]
    used[stem] = used.get(stem, 0) + 1
    return stem if used[stem] == 1 else f"{stem}-{used[stem]}"
