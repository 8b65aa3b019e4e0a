"""What is different while a notebook is graded, said to those whose notebook depends on it."""

import re

from nbformat import NotebookNode

from autograder.source import code_cells

DIFFERENT = {
    r"\btorch\s*\.\s*compile\b": "`torch.compile` is switched off while a notebook is graded: functions run as they are.",
    r"^\s*[!%]\s*(?:pip|conda|mamba|uv|apt|apt-get)\b": (
        "Nothing can be installed while a notebook is graded, because there is no network: a notebook can import only "
        "what is installed in the course's environment."
    ),
}


def remarks(notebook: NotebookNode, release: NotebookNode) -> tuple[str, ...]:
    """A sentence for each kind of thing that the student's code does, the release's does not, and grading changes."""
    released = {cell["source"] for cell in release.cells}
    code = "\n".join(cell["source"] for cell in code_cells(notebook) if cell["source"] not in released)
    return tuple(
        sentence for pattern, sentence in DIFFERENT.items() if re.search(pattern, code, re.MULTILINE)
    )
