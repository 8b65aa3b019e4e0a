"""Run the solutions, two at a time, and keep what their cells show.

A run is kept under a digest of the code that ran: the notebook's code cells, coursekit, the checks, the data, the
versions of all packages. So prose can be rewritten without a new run.
"""

import asyncio
import hashlib
import os
import re
import tempfile
import time
from pathlib import Path
from queue import Empty
from subprocess import DEVNULL
from typing import Any

import nbformat
from jupyter_client import AsyncKernelClient, AsyncKernelManager
from jupyter_client.channels import AsyncZMQSocketChannel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets import Type

from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.source import code_cells, read_source, write_notebook

AT_ONCE = 2
CELL_SECONDS = 300
LOOK_SECONDS = 1.0
USED = ("coursekit", "autograder/checks", "data")
"""Folders of what notebooks import and read."""


def execute(chosen: list[Assignment], store: Path) -> dict[str, NotebookNode]:
    """The executed solution of each notebook, by its name; from `store` where it was kept."""
    course = _course_digest(chosen[0].root)
    executed = {
        assignment.name: store / f"{assignment.name}-{_digest(assignment, course)}.ipynb"
        for assignment in chosen
    }
    missing = [assignment for assignment in chosen if not executed[assignment.name].exists()]
    if missing:
        asyncio.run(_execute_all(missing, executed))
    return {name: nbformat.read(path, as_version=4) for name, path in executed.items()}


async def _execute_all(missing: list[Assignment], executed: dict[str, Path]) -> None:
    turn = asyncio.Semaphore(AT_ONCE)

    async def one_of(assignment: Assignment) -> None:
        async with turn:
            started = time.monotonic()
            notebook = await _execute_one(assignment)
        for old in executed[assignment.name].parent.glob(f"{assignment.name}-*.ipynb"):
            old.unlink()
        aside = executed[assignment.name].with_suffix(f".{os.getpid()}")
        write_notebook(notebook, aside)
        aside.rename(executed[assignment.name])  # two builds may write at once: whole or not at all
        print(f"{assignment.name} was run ({time.monotonic() - started:.0f} s)", flush=True)

    # One that fails does not end the others: their runs are kept for the next build.
    results = await asyncio.gather(*(one_of(assignment) for assignment in missing), return_exceptions=True)
    for failure in filter(None, results):
        raise failure


class _Channel(AsyncZMQSocketChannel):
    """Looks again every second: a reply whose wake-up was lost was seen only when the cell's time ran out."""

    async def get_msg(self, timeout: float | None = None) -> dict[str, Any]:
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = LOOK_SECONDS if deadline is None else deadline - time.monotonic()
            try:
                return await super().get_msg(max(0.0, min(left, LOOK_SECONDS)))
            except Empty:
                if left < LOOK_SECONDS:
                    raise


class _Client(AsyncKernelClient):
    shell_channel_class = Type(_Channel)
    iopub_channel_class = Type(_Channel)


class _Manager(AsyncKernelManager):
    client_factory = Type(_Client)


async def _execute_one(assignment: Assignment) -> NotebookNode:
    """The solution after a run from top to bottom, by someone who starts the course here and has no network."""
    notebook = read_source(assignment.source)
    with tempfile.TemporaryDirectory(prefix="book-") as home:
        settings = {"AUTOGRADER_HOME": home, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            kernel_name="python3",
            kernel_manager_class=_Manager,
            resources={"metadata": {"path": str(assignment.root / "notebooks")}},
        )
        try:
            # A kernel's own warnings are nobody's; what cells write to stderr comes by another way.
            await client.async_execute(env={**os.environ, **settings}, stderr=DEVNULL)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            message = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # colours
            raise CourseError(f"{assignment.name} stops with an error:\n{message}") from None
    return notebook


def _digest(assignment: Assignment, course: bytes) -> str:
    digest = hashlib.sha256(course)
    for cell in code_cells(read_source(assignment.source)):
        digest.update(f"{cell.id}\0{cell.source}\0".encode())
    return digest.hexdigest()[:16]


def _course_digest(root: Path) -> bytes:
    """Of everything that a notebook's code uses."""
    digest = hashlib.sha256((root / "constraints.txt").read_bytes())
    for folder in USED:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.digest()
