"""Run the solutions, three at a time, and keep what their cells show.

jupyter-cache keeps a run by the notebook's code cells with their metadata, in a folder whose name is a digest of what they use: coursekit, the
checks, the data, the versions of all packages. So prose can be rewritten without a new run.
"""

import asyncio
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from queue import Empty
from subprocess import DEVNULL
from typing import Any
from uuid import uuid4

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.cache.main import JupyterCacheBase
from jupyter_client import AsyncKernelClient, AsyncKernelManager
from jupyter_client.channels import AsyncZMQSocketChannel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets import Type

from autograder.checks.storing import locked
from autograder.course import Assignment
from autograder.digests import digest
from autograder.errors import CourseError
from tools.book.kernels import SETTINGS, ForkedKernel

AT_ONCE = 3
"""One more than two cores: while a kernel starts or waits for a message, another uses its core."""
CELL_SECONDS = 300
LOOK_SECONDS = 1.0
USED = ("coursekit", "autograder/checks", "data")
"""Folders of what notebooks import and read."""


def execute(sources: Mapping[Assignment, NotebookNode], store: Path) -> dict[str, NotebookNode]:
    """The executed solution of each notebook, by its name; from `store` where it was kept."""
    of_course = _course_digest(next(iter(sources)).root)
    cache = get_cache(str(store / of_course))
    if missing := {one: source for one, source in sources.items() if not _is_kept(cache, source)}:
        asyncio.run(_execute_all(missing, cache))
    for other in store.iterdir():
        if other.name != of_course:
            shutil.rmtree(other, ignore_errors=True)
    return {
        assignment.name: cache.merge_match_into_notebook(source, cell_meta=())[1]
        for assignment, source in sources.items()
    }


def _is_kept(cache: JupyterCacheBase, source: NotebookNode) -> bool:
    try:
        cache.match_cache_notebook(source)
    except KeyError:
        return False
    return True


async def _execute_all(missing: Mapping[Assignment, NotebookNode], cache: JupyterCacheBase) -> None:
    turn = asyncio.Semaphore(AT_ONCE)

    async def one_of(assignment: Assignment) -> None:
        async with turn:
            started = time.monotonic()
            notebook = await _execute_one(assignment, deepcopy(missing[assignment]))
        _keep(cache, assignment.name, notebook)
        print(f"{assignment.name} was run ({time.monotonic() - started:.0f} s)", flush=True)

    def length(assignment: Assignment) -> int:
        return sum(len(cell.source) for cell in missing[assignment].cells)

    # The longest notebook first, so that at the end no long run is left alone on its core. One that fails does not end
    # the others: their runs are kept for the next build.
    longest_first = sorted(missing, key=length, reverse=True)
    results = await asyncio.gather(*map(one_of, longest_first), return_exceptions=True)
    for failure in filter(None, results):
        raise failure


def _keep(cache: JupyterCacheBase, name: str, notebook: NotebookNode) -> None:
    """In place of earlier runs of that notebook."""
    with locked(cache.path / "lock"):  # two builds may write at once
        new = cache.cache_notebook_bundle(CacheBundleIn(notebook, name), check_validity=False, overwrite=True)
        for record in cache.list_cache_records():
            if record.uri == name and record.pk != new.pk:
                cache.remove_cache(record.pk)


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

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        if sys.platform == "linux":
            self.provisioner = ForkedKernel(parent=self, kernel_id=str(uuid4()), kernel_spec=self.kernel_spec)


async def _execute_one(assignment: Assignment, notebook: NotebookNode) -> NotebookNode:
    """The solution after a run from top to bottom, by someone who starts the course here and has no network."""
    with tempfile.TemporaryDirectory(prefix="book-") as home:
        environment = {**os.environ, **SETTINGS, "AUTOGRADER_HOME": home}
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            record_timing=False,  # metadata of cells are part of what runs are kept by
            kernel_name="python3",
            kernel_manager_class=_Manager,
            resources={"metadata": {"path": str(assignment.root / "notebooks")}},
        )
        try:
            # A kernel's own warnings are nobody's; what cells write to stderr comes by another way.
            await client.async_execute(env=environment, stderr=DEVNULL)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            message = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # colours
            raise CourseError(f"{assignment.name} stops with an error:\n{message}") from None
    return notebook


def _course_digest(root: Path) -> str:
    """Of everything that a notebook's code uses."""
    files = [path for folder in USED for path in sorted((root / folder).rglob("*"))]
    files = [path for path in files if path.is_file() and "__pycache__" not in path.parts]
    names = [path.relative_to(root).as_posix() for path in files]
    return digest([root / "constraints.txt", *files], names)[:16]
