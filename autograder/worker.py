"""What runs in a worker: warm servers, kept between jobs. It judges nothing and never imports torch.

A worker needs the jail and coursekit, and no solutions. What comes out of the jail it passes on unread.
"""

import asyncio
import hashlib
import platform
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from autograder.errors import CourseError
from autograder.jail.bubblewrap import coursekit
from autograder.jail.client import Nursery, Outcome, Server, ServerDied
from autograder.jail.jobs import HARMLESS
from autograder.jail.launch import MODELS
from autograder.jail.limits import Limits

PACKAGES = ("torch", "numpy", "transformers")
"""What decides, beside Python and the course's own code, what a notebook's cells give."""

REMEDY = "give it the same checkout and the same environment."


@dataclass(frozen=True)
class Settings:
    """What a run asks of its servers."""

    limits: Limits
    isolation: str
    modules: tuple[str, ...] = (MODELS,)  # imported ahead: in a class somebody needs them
    run: str = ""  # a name that no other run has
    versions: tuple[tuple[str, str], ...] = ()  # of the machine where the answers are judged


class Warm:
    """The warm servers of a run: as many as there are jobs at the same time, each made when it is first needed."""

    def __init__(self, settings: Settings):
        # Where coursekit looks for the course's tables and models: beside itself.
        data = coursekit().parent / "data"
        readable = [data] if data.exists() else []
        self.settings = settings
        self._nursery = Nursery(settings.limits, settings.isolation, readable, modules=settings.modules)
        self._idle: list[Server] = []
        self._busy: set[Server] = set()
        self._changing = threading.Lock()
        self._stopped = False

    def start(self) -> None:
        self._nursery.start()

    def run(self, job: bytes) -> Outcome:
        """Run one job. One that ends servers, where a harmless job ends none, has the outcome "died"."""
        with self._server() as server:
            try:
                return server.run(job)
            except ServerDied:
                if self._stopped:
                    raise
                # Twice, with this job. If a harmless job dies too, the fault is ours and ends the run.
                server.run(HARMLESS)
                return Outcome((), "died", 0.0, 0.0, 0)

    def stop(self) -> None:
        """End the jobs that are running, from another thread, and take no other."""
        self._stopped = True
        with self._changing:
            for server in self._busy:
                server.stop()

    def close(self) -> None:
        self.stop()
        with self._changing:
            idle, self._idle = self._idle, []
        for server in idle:
            server.close()
        self._nursery.close()

    @contextmanager
    def _server(self) -> Iterator[Server]:
        """A server that no other job has meanwhile."""
        with self._changing:
            server = self._idle.pop() if self._idle else None
        server = server or self._nursery.server()
        with self._changing:
            self._busy.add(server)
            if self._stopped:
                server.stop()
        try:
            yield server
        finally:
            with self._changing:
                self._busy.remove(server)
                if not self._stopped:
                    self._idle.append(server)
            if self._stopped:
                server.close()


# What the cluster calls, each by name in the worker's own process.


def run_job(settings: Settings, job: bytes) -> Outcome:
    """Run one job in a server of this process. Several threads may do so at the same time."""
    with _turn.of(settings) as warm:
        return warm.run(job)


async def warm_up(settings: Settings) -> None:
    """Import what every server needs, beside the worker's own business."""
    await asyncio.to_thread(_start, settings)


async def end(run: str) -> None:
    """Leave nothing of that run behind: its jobs and its servers end, and those that wait do not begin."""
    await asyncio.to_thread(_turn.end, run)


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """What must be the same on all machines of a run: Python, packages, and the course's own files."""
    found = {"Python": platform.python_version()}
    found |= {name: metadata.version(name) for name in (*PACKAGES, "distributed")}
    course = coursekit().parent
    files = [*coursekit().rglob("*.py"), *(course / "data").rglob("*"), Path(__file__)]
    files += (Path(__file__).parent / "jail").glob("*.py")
    digest = hashlib.sha256()
    for file in sorted(file for file in files if file.is_file() and "__pycache__" not in file.parts):
        digest.update(file.name.encode() + hashlib.sha256(file.read_bytes()).digest())
    return (*found.items(), ("the course's files", digest.hexdigest()[:12]))


def difference(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """What a worker has in another version than we, in words; "" when it has the same."""
    others = [name for name in here if here[name] != there.get(name)]
    return ", ".join(f"{name}: {there.get(name, 'none')} there, {here[name]} here" for name in others)


def dask_setup(worker: object) -> None:
    """Called by Dask as a worker of our own starts: Ctrl-C in the terminal is for the engine to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _start(settings: Settings) -> None:
    with _turn.of(settings) as warm:
        warm.start()


class _Turn:
    """Whose servers are warm in this process: those of one run at a time."""

    def __init__(self):
        self.warm: Warm | None = None
        self._used = 0
        self._over: set[str] = set()
        self._change = threading.Condition()

    @contextmanager
    def of(self, settings: Settings) -> Iterator[Warm]:
        """The servers for a run. They take the place of another run's when none of its jobs is running here."""
        with self._change:
            self._change.wait_for(
                lambda: not self._used or self.warm.settings == settings or self._is_over(settings)
            )
            if self._is_over(settings):
                raise ServerDied("The run is over.")
            if self.warm is None or self.warm.settings != settings:
                self._replace(settings)
            warm = self.warm
            self._used += 1
        try:
            yield warm
        finally:
            with self._change:
                self._used -= 1
                self._change.notify_all()

    def end(self, run: str) -> None:
        with self._change:
            self._over.add(run)
            self._change.notify_all()
            warm = self.warm
        if warm is not None and warm.settings.run == run:
            warm.close()

    def _is_over(self, settings: Settings) -> bool:
        return settings.run in self._over

    def _replace(self, settings: Settings) -> None:
        differs = difference(dict(settings.versions), dict(versions()))
        if differs:
            raise CourseError(
                f"The worker on {platform.node()} has another installation ({differs}): {REMEDY}"
            )
        if self.warm is not None:
            self.warm.close()
        self.warm = Warm(settings)


_turn = _Turn()
