"""Run All as JupyterLab does it: every cell is sent at once, with its id, and an error ends the run. And Validate."""

import copy
import os
from collections.abc import Iterable
from pathlib import Path

import nbformat
from jupyter_client.manager import KernelManager
from nbformat import NotebookNode
from nbformat.v4 import output_from_msg

from autograder.checks.validating import name_what_fails
from autograder.source import code_cells

IDLE_SECONDS = 300


class Person:
    """Somebody who has a notebook open, in a kernel of its own that knows the notebook's file."""

    def __init__(self, path: Path, home: Path, **environment: str):
        self.path = path
        settings = {"AUTOGRADER_HOME": str(home), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        self._environment = {**os.environ, **settings, "JPY_SESSION_NAME": str(path), **environment}
        self._manager = KernelManager(kernel_name="python3")

    def __enter__(self) -> "Person":
        self._manager.start_kernel(cwd=str(self.path.parent), env=self._environment)
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=IDLE_SECONDS)
        return self

    def __exit__(self, *error) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    def run(self, cells: Iterable[NotebookNode], front_end: bool = True) -> list[NotebookNode]:
        """Copies of the cells with what they show, and their `status`: after an "error" JupyterLab runs no more of them."""
        session, sent = self._client.session, {}
        for cell in cells:
            content = {"code": cell.source, "silent": False, "store_history": True, "stop_on_error": True}
            content |= {"user_expressions": {}, "allow_stdin": False}
            metadata = {"cellId": cell.id} if front_end else {}
            message = session.msg("execute_request", content, metadata=metadata)
            self._client.shell_channel.send(message)
            sent[message["header"]["msg_id"]] = copied = copy.deepcopy(cell)
            copied.outputs, copied.status = [], ""
        waiting = set(sent)
        while waiting:
            message = self._client.get_iopub_msg(timeout=IDLE_SECONDS)
            of, kind = message["parent_header"].get("msg_id"), message["header"]["msg_type"]
            if of in sent and kind in ("stream", "display_data", "execute_result", "error"):
                sent[of].outputs.append(output_from_msg(message))
            if kind == "status" and message["content"]["execution_state"] == "idle":
                waiting.discard(of)
        while not all(cell.status for cell in sent.values()):
            reply = self._client.get_shell_msg(timeout=IDLE_SECONDS)
            if reply["parent_header"].get("msg_id") in sent:
                sent[reply["parent_header"]["msg_id"]].status = reply["content"]["status"]
        return list(sent.values())


def run_all(notebook: NotebookNode, path: Path, home: Path) -> list[NotebookNode]:
    """The code cells of a notebook that is saved at `path`, after Run All in a fresh kernel."""
    nbformat.write(notebook, path)
    with Person(path, home) as person:
        return person.run(code_cells(notebook))


def validated(path: Path, monkeypatch) -> list[dict]:
    """What Validate shows of the cells that fail in a notebook, each of which is graded under its id."""
    from nbgrader.validator import Validator

    monkeypatch.setattr(Validator, "_get_failed_cells", Validator._get_failed_cells)  # put back afterwards
    name_what_fails()
    graded = nbformat.read(path, 4)
    for cell in graded.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.update(grade_id=cell.id, schema_version=3, task=False, cell_type="code")
    nbformat.write(graded, path.with_name("validated.ipynb"))
    return Validator(ignore_checksums=True).validate(str(path.with_name("validated.ipynb")))["failed"]


def words(cell: NotebookNode) -> str:
    """All that a cell shows, as text."""
    return "\n".join(
        "\n".join(output.get("traceback", []))
        or output.get("text", "")
        or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
    )
