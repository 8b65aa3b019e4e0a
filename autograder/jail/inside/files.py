"""The files that students get beside a notebook: a table that it reads, a module that it imports."""

from collections.abc import Mapping
from pathlib import Path

FILE = "file|"
"""What their names begin with among the arrays of a job."""


def lay_out(files: Mapping[str, bytes]) -> None:
    """Write them into the working directory, by their path there."""
    for name, content in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
