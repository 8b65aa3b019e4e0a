"""Each solution is executed once in a run of the suite, and its outputs are kept for the tests of other processes.

A test that asks for the names that a notebook leaves behind has to be in the process that executes it; the website needs
the outputs only, and takes them from a folder that all processes of the run share.
"""

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.checks.storing import write_aside
from tests.notebooks.running import Run, run_solution


def folder_of_the_run(config: pytest.Config, factory: pytest.TempPathFactory) -> Path:
    """The same for all processes of this run of the suite, and new in each run."""
    base = factory.getbasetemp()
    return (base.parent if hasattr(config, "workerinput") else base) / "executed"


@contextmanager
def run_and_keep(name: str, home: Path, kept: Path) -> Iterator[Run]:
    """`run_solution`; its outputs are kept before the tests look at it, also those of a run that stopped with an error."""
    with ExitStack() as running:
        with alone(kept, name):
            run = _run(running, name, home, kept)
        yield run


def outputs_of(name: str, home: Path, kept: Path) -> NotebookNode:
    """The executed solution. It is executed here only if no process of this run has begun to; a process that has is waited for."""
    with alone(kept, name), ExitStack() as running:
        if not _file(kept, name).exists():
            _run(running, name, home, kept)
    return nbformat.read(_file(kept, name), as_version=4)


@contextmanager
def alone(kept: Path, name: str) -> Iterator[None]:
    """One process at a time is in this block for a notebook. A process that ends, however it ends, gives the lock back."""
    kept.mkdir(parents=True, exist_ok=True)
    with (kept / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # what the notebook has started may hold the file open


def _run(running: ExitStack, name: str, home: Path, kept: Path) -> Run:
    run = running.enter_context(run_solution(name, home))
    write_aside(_file(kept, name), nbformat.writes(run.notebook))
    return run


def _file(kept: Path, name: str) -> Path:
    return kept / f"{name}.ipynb"
