"""Run notebooks in a kernel within this process, which has imported torch already; one test starts a kernel of its own."""

import asyncio
import atexit
import copy
import ctypes
import gc
import os
import sys
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import matplotlib.pyplot as plt
import torch
from ipykernel.inprocess import BlockingInProcessKernelClient
from ipykernel.inprocess.ipkernel import InProcessInteractiveShell, InProcessKernel
from matplotlib.figure import Figure
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import output_from_msg
from traitlets.config import Config

from autograder.source import code_cells, read_source
from coursekit import plots
from tests.conftest import ASSIGNMENTS, ROOT
from tests.contrast import faint_words

CELL_SECONDS = 60
"""Of one cell: of the processor for a solution's, by the clock for others. It takes 20 s at most on two quiet cores."""


@dataclass(frozen=True)
class Run:
    """A notebook after its last cell, or after the one that stopped with an error."""

    name: str
    notebook: NotebookNode
    names: dict
    seconds: list[float]  # of the processor, for each code cell: a test machine is not quiet
    error: str = ""
    faint: tuple[str, ...] = ()  # words of its figures that are hard to read, each with its contrast


@contextmanager
def run_solution(name: str, home: Path, **environment: str) -> Iterator[Run]:
    """The solution from top to bottom, as JupyterLab's kernel runs it. Progress is written under `home`.

    The names stay until the end of the `with`, so that a test may ask what the prose says without computing it.
    """
    with run_here(read_source(ASSIGNMENTS[name].source), home, **environment) as run:
        yield replace(run, name=name)


@contextmanager
def run_here(notebook: NotebookNode, home: Path, **environment: str) -> Iterator[Run]:
    """A notebook, cell by cell until one stops with an error; its outputs are written into it."""
    names, seconds, error, faint = {}, [], "", []
    threads = torch.get_num_threads()
    settings = {"AUTOGRADER_HOME": str(home), "HF_HUB_OFFLINE": "1", **environment}
    with (
        patch.dict(os.environ, settings),
        chdir(ROOT / "notebooks"),
        measured_contrast(faint),
        kernel(names) as client,
    ):
        for cell in code_cells(notebook):
            began = time.process_time()
            cell.outputs = list(outputs_of(cell.source, client))
            seconds.append(time.process_time() - began)
            error = "\n".join(o for one in cell.outputs for o in one.get("traceback", []))
            if error:
                break
    try:
        yield Run("", notebook, names, seconds, error, tuple(faint))
    finally:
        names.clear()  # its models take up to a gigabyte
        give_memory_back()
        torch.set_num_threads(threads)


def give_memory_back() -> None:
    """Return freed memory to the system: glibc otherwise keeps up to two gigabytes of it in each process of the suite."""
    gc.collect()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # musl has no malloc_trim
            ctypes.CDLL("libc.so.6").malloc_trim(0)


@contextmanager
def measured_contrast(faint: list[str]) -> Iterator[None]:
    """Add to the list what is hard to read in each figure that is shown, as it is shown."""
    darken = plots._darken_words

    def darken_and_measure(figure: Figure) -> None:
        darken(figure)
        faint.extend(faint_words(figure))

    with patch.object(plots, "_darken_words", darken_and_measure):
        yield


@contextmanager
def kernel(names: dict) -> Iterator[BlockingInProcessKernelClient]:
    """A client of a kernel in this process that runs cells in `names`."""
    config = Config()
    config.HistoryManager.enabled = False
    main, backend = sys.modules["__main__"], plt.get_backend()
    plt.close("all")  # the first cell that draws would show what another test has left open
    with patch.dict(os.environ):  # it sets FORCE_COLOR and others
        running = InProcessKernel(config=config, user_ns=names)
        client = BlockingInProcessKernelClient(kernel=running, session=running.session)
        client.start_channels()
        running.shell.run_line_magic("matplotlib", "inline")
        try:
            yield client
        finally:
            plt.close("all")
            plt.switch_backend(backend)
            loop = running.iopub_thread.io_loop.asyncio_loop
            asyncio.run_coroutine_threadsafe(cancel_others(), loop).result()
            running.iopub_thread.stop()
            InProcessInteractiveShell.clear_instance()
            sys.modules["__main__"] = main
            atexit.unregister(
                running.shell.atexit_operations
            )  # which would keep all names until the process ends


async def cancel_others() -> None:
    """End what else runs in this loop: ipykernel stops it with a task undone, which Python complains of at exit."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def outputs_of(source: str, client: BlockingInProcessKernelClient) -> Iterator[NotebookNode]:
    """What the kernel says while it runs a cell, until it says that it is idle."""
    client.execute(source)
    while True:
        message = client.get_iopub_msg(timeout=10)
        kind = message["header"]["msg_type"]
        if kind == "status" and message["content"]["execution_state"] == "idle":
            return
        if kind in ("stream", "display_data", "execute_result", "error"):
            yield output_from_msg(message)


def is_error(cell: NotebookNode) -> bool:
    """Whether running the cell ended with an error."""
    return any(output.output_type == "error" for output in cell.get("outputs", []))


def execute(notebook: NotebookNode, home: Path) -> tuple[NotebookNode, CellExecutionError | None]:
    """A copy of a notebook after a run in a kernel of its own, and its error."""
    notebook = copy.deepcopy(notebook)
    environment = {**os.environ, "AUTOGRADER_HOME": str(home), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "2"}
    client = NotebookClient(
        notebook,
        timeout=3 * CELL_SECONDS,  # four models are loaded on the start page, beside other tests
        kernel_name="python3",
        resources={"metadata": {"path": str(ROOT / "notebooks")}},
    )
    try:
        client.execute(env=environment)
    except CellExecutionError as error:
        return notebook, error
    return notebook, None
