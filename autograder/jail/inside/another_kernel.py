"""A notebook in another language than Python: its kernel, started within the walls, runs one cell after another.

The kernel is a process of its own. It is sent a cell when that is run and no sooner, and cannot read this process, which
holds the rest. What it says may be the student's doing: it is kept within the same bounds, and leaves in the same frames, as
what a notebook in Python shows.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager
from jupyter_core.utils import run_sync

from autograder.checks import answers
from autograder.checks.status import CellEnding

from .files import lay_out
from .kernel import prctl
from .limits import Limits
from .outputs import Outputs
from .runner import Job
from .waiting import NOBODY_ANSWERS, NobodyAnswers
from .watch import FINISHED, KERNEL_KILLED

START_SECONDS = 60
LATE_SECONDS = 4  # in which the outputs of a cell that has ended arrive
LOOK_SECONDS = 0.1  # between two looks whether the kernel still lives
SOCKETS = 5  # of a kernel
DUMPABLE = 4  # an option of prctl
DIED = 1  # exit status
NO_PROGRAM = ")("
"""Not a program in any language: a kernel that keeps Jupyter's protocol answers it with an error."""
ERROR_LINE = re.compile(r"^(?:parse )?error: ?.*", re.MULTILINE)
"""What Octave's kernel prints where others report an error."""


class NoKernel(Exception):
    """The kernel did not start; the message is what it said."""


class NoErrors(Exception):
    """The kernel says that all went well, whatever it is given."""


class KernelDied(Exception):
    """The kernel ended while it ran a cell."""


@dataclass(frozen=True)
class Kernel:
    """A running kernel, and what talks to it."""

    manager: KernelManager
    client: BlockingKernelClient
    prints_errors: bool = False  # on stdout, and says that all went well: Octave's does


def begin(folder: str, job: Job) -> Kernel:
    """Lay out the files of the job and start, beside them, the kernel whose specification is in `folder`.

    Raises NoKernel, or NoErrors.
    """
    os.environ["NBGRADER_EXECUTION"] = "autograde"  # as nbgrader does
    lay_out(job.files)
    if sys.platform == "linux":
        prctl("dumpable", DUMPABLE, 0)  # nobody reads this process's memory, where the cells to come are
    kernel = _started(Path(folder))
    return replace(kernel, prints_errors=prints_errors(kernel))


def _started(folder: Path) -> Kernel:
    try:
        return start(folder)
    except Exception:  # once more, listening
        with tempfile.TemporaryFile() as said:
            try:
                return start(folder, said)
            except Exception as error:
                said.seek(0)
                lines = said.read()[-2000:].decode(errors="replace").strip().splitlines()
                raise NoKernel(" | ".join(lines[-3:]) or f"{type(error).__name__}: {error}") from None


def prints_errors(kernel: Kernel) -> bool:
    """Whether the kernel prints that a cell failed, and says that all went well.

    Raises NoErrors for one that does not even print it: every test would earn its points.
    """
    limits = Limits(cell_seconds=START_SECONDS)
    outputs = Outputs(limits)
    try:
        if run_cell(kernel, NO_PROGRAM, limits, outputs) is not CellEnding.COMPLETE:
            return False
    except KernelDied:
        raise NoKernel(f"it stopped when it was given {NO_PROGRAM}") from None
    shown = outputs.take()
    if any(output.get("name") == "stderr" for output in shown):  # costs a test its points, too
        return False
    if any(ERROR_LINE.search(str(output.get("text"))) for output in shown):
        return True
    raise NoErrors


def start(folder: Path, errors: int | IO[bytes] = subprocess.DEVNULL) -> Kernel:
    """Start the kernel and wait until it answers. Raises whatever went wrong, when nothing of it is left."""
    specifications = KernelSpecManager(kernel_dirs=[str(folder.parent)], ensure_native_kernel=False)
    place = tempfile.mkdtemp(prefix="kernel-")
    for number in range(1, 1 + SOCKETS):  # Julia's kernel puts a colon there, as in an address of a network
        os.symlink(f"socket:{number}", f"{place}/socket-{number}")
    manager = KernelManager(
        kernel_name=folder.name.lower(),
        kernel_spec_manager=specifications,
        connection_file=f"{place}/connection.json",
        transport="ipc",  # a jail has no network, not even one with itself
        ip=f"{place}/socket",
    )
    manager.start_kernel(stdout=errors, stderr=errors)
    client = manager.client()
    client.start_channels(hb=False, control=False)
    try:
        client.wait_for_ready(timeout=START_SECONDS)
    except BaseException:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        raise
    return Kernel(manager, client)


def run_job(job: Job, kernel: Kernel, limits: Limits, send: Callable[[bytes], None]) -> int:
    """Execute the job's cells and send one frame after each. Returns the exit status of this process.

    The kernel lives on: it ends with the jail.
    """
    outputs = Outputs(limits)
    for number, cell in enumerate(job.cells):
        began = time.monotonic()
        try:
            problem = run_cell(kernel, cell["source"], limits, outputs)
        except KernelDied:
            ended = kernel.manager.provisioner
            killed = ended is not None and run_sync(ended.poll)() == -signal.SIGKILL
            return KERNEL_KILLED if killed else DIED
        seconds = time.monotonic() - began
        description = {"cell": number, "answers": [], "outputs": outputs.take()}
        send(answers.pack({}, description | {"seconds": seconds, "problem": problem}))
    return FINISHED


def run_cell(kernel: Kernel, source: str, limits: Limits, outputs: Outputs) -> CellEnding:
    """Execute one cell; its outputs gather in `outputs`. Raises KernelDied.

    When its time is over the kernel is interrupted, and again each second in case it ignored that.
    """
    client = kernel.client
    request = client.execute(source, store_history=True, allow_stdin=False, stop_on_error=False)
    alarm, last = time.monotonic() + limits.cell_seconds, float("inf")
    rang = idle = False
    status = failed = printed = ""
    while not (status and idle) and time.monotonic() < last:
        if not status and time.monotonic() >= alarm:
            rang, alarm = True, time.monotonic() + 1
            kernel.manager.interrupt_kernel()
        kind, content = _next(client.iopub_channel, request, LOOK_SECONDS)
        idle = idle or (kind == "status" and content.get("execution_state") == "idle")
        with suppress(Exception):  # what is not as agreed is not shown
            show(kind, content, outputs)
        if kernel.prints_errors and kind == "stream" and not failed:
            printed = printed.rpartition("\n")[2][:100] + str(content.get("text"))  # a line that has begun
            found = ERROR_LINE.search(printed)
            failed = found[0].strip() if found else ""
        asked, _ = _next(client.stdin_channel, request)
        if asked:
            told = f"the cell {NOBODY_ANSWERS}"
            outputs.fail(NobodyAnswers.__name__, told, [told])
            kernel.manager.interrupt_kernel()
        replied, reply = _next(client.shell_channel, request)
        if replied:
            status, last = str(reply.get("status")), time.monotonic() + LATE_SECONDS
        if not (kind or asked or replied) and not kernel.manager.is_alive():
            raise KernelDied
    if rang:
        told = f"the cell was stopped after {limits.cell_seconds:g} seconds"
        outputs.fail("CellTimeout", told, [f"CellTimeout: {told}"])
        return CellEnding.TIMEOUT
    if failed:
        outputs.fail("Error", failed, [failed])
    return CellEnding.COMPLETE if status == "ok" and not failed else CellEnding.ERROR


def _next(channel: Any, request: str, seconds: float = 0) -> tuple[str, dict[str, Any]]:
    """Kind and content of the next message that belongs to this request; "" where none comes, or one that is not as agreed."""
    with suppress(Exception):  # the kernel may send whatever it likes
        message = channel.get_msg(timeout=seconds)
        if message["parent_header"].get("msg_id") == request and isinstance(message["content"], dict):
            return str(message["msg_type"]), message["content"]
    return "", {}


def show(kind: str, content: dict[str, Any], outputs: Outputs) -> None:
    """Append what a message shows, if it shows something. Raises anything for one that is not as agreed."""
    if kind == "stream":
        outputs.write("stderr" if content["name"] == "stderr" else "stdout", str(content["text"]))
    elif kind in ("display_data", "execute_result", "update_display_data"):
        shown_as = (content.get("transient") or {}).get("display_id")
        update = kind == "update_display_data"
        outputs.show("display_data" if update else kind, dict(content["data"]), shown_as, update)
    elif kind == "error":
        lines = [str(line) for line in content["traceback"]]
        outputs.fail(str(content["ename"]) or "Error", str(content["evalue"]), lines)
    elif kind == "clear_output":
        outputs.clear()
