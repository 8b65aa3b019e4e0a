"""The submitted notebook as a file in the folder where it runs, because some notebooks list or read their own file."""

import json

from nbformat import NotebookNode

from autograder.source import grade_id, is_locked


def as_file(notebook: NotebookNode, release: NotebookNode) -> str:
    """The notebook as JSON text, without outputs and attachments.

    Locked cells have the text of the release, so that the file contains no hidden tests.
    """
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
