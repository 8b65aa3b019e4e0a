"""One warm server for all tests of the jail, and a short way to run a notebook in it."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from autograder.checks import answers
from autograder.jail.inside.limits import MEGABYTE, Limits
from autograder.jail.outside import jobs
from autograder.jail.outside.client import Outcome, Server, Zygote
from autograder.jail.outside.launch import ForkedServer
from autograder.untrusted.frames import Frame, read_frame
from tests.conftest import COURSE_VIEW, OPTIMISERS, SETTINGS
from tests.processes import processes_below

LIMITS = Limits(
    cell_seconds=2,
    notebook_seconds=6,
    memory_bytes=768 * MEGABYTE,  # a server with a PyTorch for GPUs is a good part of it
    processes=24,
    file_bytes=12 * MEGABYTE,
    scratch_bytes=16 * MEGABYTE,
    open_files=100,
    output_bytes=8 * MEGABYTE,
    stream_bytes=10_000,
    images_per_cell=3,
)


@dataclass(frozen=True)
class Ran:
    """A notebook that was run."""

    outcome: Outcome
    frames: tuple[Frame, ...]

    @property
    def status(self) -> str:
        return self.outcome.status

    def stream(self, cell: int = -1, name: str = "stdout") -> str:
        outputs = self.frames[cell].outputs
        return "".join(o["text"] for o in outputs if o["output_type"] == "stream" and o["name"] == name)

    def value(self, cell: int = -1) -> Any:
        """What the cell printed, as JSON."""
        assert not self.frames[cell].error_text, self.frames[cell].error_text
        return json.loads(self.stream(cell))

    def shown(self, kind: str, cell: int = -1) -> list[str]:
        """The cell's displays of one MIME type."""
        return [o["data"][kind] for o in self.frames[cell].outputs if kind in o.get("data", {})]


def make_job(cells: Sequence[str | tuple[str, ...]], cases: dict[str, list] | None = None) -> bytes:
    """A job of cells; a cell that is a check comes as (exercise, source) or (exercise, source, variant)."""
    checks = [("", cell) if isinstance(cell, str) else cell for cell in cells]
    steps = [jobs.cell(dedent(source), exercise, "".join(variant)) for exercise, source, *variant in checks]
    return jobs.make_job(steps, cases or {}, arrays="torch")


def run_in(server: Server, *cells: str | tuple[str, ...], cases: dict[str, list] | None = None) -> Ran:
    outcome = server.run(make_job(cells, cases))
    return Ran(outcome, tuple(_readable(outcome.frames)))


def _readable(blobs: Sequence[bytes]) -> Iterator[Frame]:
    for blob in blobs:
        with suppress(answers.Malformed):
            yield read_frame(blob)


@pytest.fixture(scope="session")
def limits() -> Limits:
    return LIMITS


@pytest.fixture(scope="session")
def server(jail_possible):
    """One of a zygote, as a worker has them."""
    zygote = Zygote(LIMITS, view=COURSE_VIEW, modules=[*SETTINGS.preload, OPTIMISERS])
    with zygote.server() as server:
        yield server
    zygote.close()


@pytest.fixture(scope="session")
def plain_server():
    with Server(LIMITS, isolation="none", view=COURSE_VIEW, modules=SETTINGS.preload) as server:
        yield server


@pytest.fixture
def run(server):
    """run(source, …, cases=…) executes a notebook in the jail."""
    return partial(run_in, server)


@pytest.fixture
def run_plain(plain_server):
    return partial(run_in, plain_server)


@pytest.fixture
def run_in_new_server(jail_possible):
    """run_in_new_server(extra paths, source, …): for what the shared server cannot show. What else a View has by name."""

    def run_once(extra: Sequence[Path], *cells: str, **view: Sequence) -> Ran:
        view = replace(COURSE_VIEW, readable=tuple(extra), **view)
        with Server(LIMITS, view=view, modules=SETTINGS.preload) as server:
            return run_in(server, *cells)

    return run_once


def processes(one: Server | Zygote) -> list[int]:
    """The ids of all its processes, from bubblewrap to the servers and their forks."""
    process = one._process
    first = (process.parent if isinstance(process, ForkedServer) else process).popen.pid
    return [first, *processes_below(first)]


@pytest.fixture
def server_pid(server) -> int:
    """The warm process itself, which no submission may reach: the last before the forks."""
    return processes(server)[-1]
