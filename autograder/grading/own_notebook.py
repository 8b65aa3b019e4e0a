"""The notebook itself as a file in the folder in which it is run: some notebooks list it, or read what is in it."""

import json

from nbformat import NotebookNode

from autograder.source import grade_id, is_locked


def as_file(notebook: NotebookNode, release: NotebookNode) -> str:
    """The student's cells in the release's places, without outputs and pictures. Locked cells are as they were released:
    nbgrader's file holds the hidden tests, too."""
    released = {grade_id(cell): cell["source"] for cell in release["cells"] if is_locked(cell)}
    cells = []
    for cell in notebook["cells"]:
        text = released.get(grade_id(cell), cell["source"]) if is_locked(cell) else cell["source"]
        shown = {"cell_type": cell["cell_type"], "metadata": cell["metadata"], "source": text}
        if "id" in cell:
            shown["id"] = cell["id"]
        if cell["cell_type"] == "code":
            shown |= {"execution_count": None, "outputs": []}
        cells.append(shown)
    kept = {name: release[name] for name in ("metadata", "nbformat", "nbformat_minor")}
    return json.dumps({"cells": cells, **kept}, indent=1)
