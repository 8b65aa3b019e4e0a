"""One notebook, cell by cell, in record mode. Runs in the fork, behind every wall of the jail."""

import contextlib
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FunctionType

import numpy as np

from autograder.checks import answers, checking, recording
from autograder.checks.asking import Answer, Case
from autograder.checks.status import CellEnding, Problem

from .alarm import Alarm
from .files import FILE, lay_out
from .limits import Limits
from .outputs import Stream, encodable
from .shell import Shell
from .waiting import without_waiting

CellAnswers = dict[recording.AnswerId, Answer]

WHOLE_JOB = answers.FileLimits(bytes=1 << 31, header_bytes=1 << 30, arrays=1_000_000, values=1 << 26)


@dataclass(frozen=True)
class Job:
    """The cells to execute, the inputs on which each exercise is asked, and the files in the notebook's folder, by path."""

    cells: list[dict[str, str]]
    cases: Mapping[str, Sequence[Case]]
    arrays: str
    files: dict[str, bytes]


def read_job(blob: bytes) -> Job:
    """The job as the engine packed it."""
    end = 8 + int.from_bytes(blob[:8], "little")
    arrays, description = answers.unpack(blob[end:], WHOLE_JOB)
    own = json.loads(blob[8:end])
    files = {name: arrays[f"{FILE}{name}"].tobytes() for name in description["files"]}
    files |= {name: text.encode() for name, text in own["texts"].items()}
    return Job(
        own["cells"],
        recording.cases_from_file(arrays, description["cases"]),
        description["arrays"],
        files,
    )


def run_job(job: Job, shell: Shell, limits: Limits, send: Callable[[bytes], None]) -> None:
    """Execute the job's cells and send one frame after each, so that a killed notebook keeps what it had."""
    recorder = recording.Recorder(job.cases, arrays=job.arrays)
    recording.start(recorder)
    os.environ["NBGRADER_EXECUTION"] = (
        "autograde"  # as nbgrader does: notebooks may leave out long cells by it
    )
    lay_out(job.files)
    reseed()
    with without_waiting(limits):
        run_cells(job, recorder, shell, limits, send)


def run_cells(
    job: Job, recorder: recording.Recorder, shell: Shell, limits: Limits, send: Callable[[bytes], None]
) -> None:
    """Execute the cells, in order, and send the frame of each."""
    me = os.getpid()
    room = limits.output_bytes // 2  # for the answers of the whole notebook
    for number, cell in enumerate(job.cells):
        recorder.expecting, recorder.variant = cell["exercise"], cell["variant"]
        if cell["exercise"]:
            give_check(shell)
        shell.execution_count = number + 1
        began = time.monotonic()
        problem = run_cell(cell["source"], shell, limits)
        seconds = time.monotonic() - began
        if os.getpid() != me:
            os._exit(0)  # the cell forked and its child came back here; only the original goes on
        cell_answers, recorder.answers = recorder.answers, {}
        frame, room = make_frame(number, cell_answers, room, shell, seconds, problem)
        send(frame)


def give_check(shell: Shell) -> None:
    """A check asks, whatever the notebook has made of that name. One that a course wraps stays."""
    held = shell.user_ns.get("check")
    if not isinstance(held, FunctionType) or held.__module__ == shell.user_module.__name__:
        shell.user_ns["check"] = checking.check


def make_frame(
    number: int, cell_answers: CellAnswers, room: int, shell: Shell, seconds: float, problem: CellEnding
) -> tuple[bytes, int]:
    """What `autograder.untrusted.frames` reads outside, and the room left for answers.

    Answers that no file can hold cost their own cell only.
    """
    outputs = shell.outputs.take()
    description = {"cell": number, "answers": [], "outputs": outputs, "seconds": seconds, "problem": problem}
    try:
        fitting, room_left = within(room, cell_answers)
        arrays, described = recording.answers_to_file(fitting)
        return answers.pack(arrays, description | {"answers": described}), room_left
    except Exception as error:
        shell.outputs.fail(type(error).__name__, "the answers of this cell cannot be written to a file", [])
        description |= {"outputs": [*outputs, *shell.outputs.take()], "problem": CellEnding.ERROR}
        return answers.pack({}, description), room


def run_cell(source: str, shell: Shell, limits: Limits) -> CellEnding:
    """Execute one cell; its outputs gather in the shell."""
    shell.running = source
    alarm = Alarm(limits.cell_seconds)
    with _streams(shell):
        try:
            with alarm:
                result = shell.run_cell(source, store_history=True)
        except BaseException as error:
            # Out of IPython's own hands: the alarm rang between the student's code and the end of the cell.
            shell.showtraceback((type(error), error, error.__traceback__))
            return CellEnding.TIMEOUT if alarm.rang else CellEnding.ERROR
    if alarm.rang:
        return CellEnding.TIMEOUT
    return CellEnding.COMPLETE if getattr(result, "success", False) else CellEnding.ERROR


def within(room: int, cell_answers: CellAnswers) -> tuple[CellAnswers, int]:
    """The answers for which there is room, and the room left. A giant one fails alone."""
    fitting = {}
    for answer_id, answer in cell_answers.items():
        both = (*answer.arrays.items(), *answer.gradients.items())
        size = sum(array.nbytes + len(name) for name, array in both)
        if size > room:
            answer = Answer(
                problem=Problem.TYPE, message=f"the arrays take {size} bytes, which is too much to submit"
            )
        else:
            room -= size
        arrays, gradients = (
            {encodable(name): array for name, array in named.items()}
            for named in (answer.arrays, answer.gradients)
        )
        told = encodable(answer.message)[:4000]
        fitting[answer_id] = replace(answer, arrays=arrays, gradients=gradients, message=told)
    return fitting, room


def reseed() -> None:
    """Give this fork random numbers of its own; it was born with its siblings'."""
    seed = int.from_bytes(os.urandom(4), "little")
    random.seed(seed)
    np.random.seed(seed)
    if torch := sys.modules.get("torch"):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed also prepares accelerators, for 5 ms


@contextlib.contextmanager
def _streams(shell: Shell) -> Iterator[None]:
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Stream("stdout", shell.outputs), Stream("stderr", shell.outputs)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
