"""The names that a solution's notebook leaves behind, for tests of what its prose says without computing it."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import pytest
import torch

from autograder.course import Assignment
from autograder.source import code_cells, grade_id, read_source
from tests.conftest import ROOT


@contextmanager
def executed(assignment: str, home: Path) -> Iterator[dict]:
    """All names after the last cell. Checks are not called, progress is written under `home`, output is dropped."""
    patch, names = pytest.MonkeyPatch(), {}
    patch.setenv("COURSEKIT_HOME", str(home))
    patch.setenv("MPLBACKEND", "agg")
    threads = torch.get_num_threads()
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            for cell in code_cells(read_source(Assignment(ROOT, assignment).source)):
                if not grade_id(cell).endswith("-check"):
                    exec(cell.source, names)
        yield names
    finally:
        torch.set_num_threads(threads)
        patch.undo()
