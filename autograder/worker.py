"""What runs in a worker: one warm server, kept between jobs. It judges nothing and never imports torch.

A worker needs the jail and coursekit, and no solutions. What comes out of the jail it passes on unread.
"""

import asyncio
import hashlib
import platform
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from autograder.errors import CourseError
from autograder.jail.bubblewrap import coursekit
from autograder.jail.client import Outcome, Server, ServerDied
from autograder.jail.jobs import HARMLESS
from autograder.jail.limits import Limits

PACKAGES = ("torch", "numpy", "transformers")
"""What decides, beside Python and the course's own code, what a notebook's cells give."""

REMEDY = "give it the same checkout and the same environment."


@dataclass(frozen=True)
class Settings:
    """What a run asks of its servers."""

    limits: Limits
    isolation: str
    run: str = ""  # a name that no other run has
    versions: tuple[tuple[str, str], ...] = ()  # of the machine where the answers are judged


class Warm:
    """One warm server for a run, started when it is first needed."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self._server: Server | None = None
        self._starting = threading.Lock()
        self._stopped = False

    def start(self) -> Server:
        with self._starting:
            if self._stopped:
                raise ServerDied("The run is over.")
            if self._server is None:
                # Where coursekit looks for the course's tables and models: beside itself.
                data = coursekit().parent / "data"
                readable = [data] if data.exists() else []
                self._server = Server(self.settings.limits, self.settings.isolation, readable)
            return self._server

    def run(self, job: bytes) -> Outcome:
        """Run one job. One that ends servers, where a harmless job ends none, has the outcome "died"."""
        server = self.start()
        try:
            return server.run(job)
        except ServerDied:
            if self._stopped:
                raise
            # Twice, with this job. If a harmless job dies too, the fault is ours and ends the run.
            server.run(HARMLESS)
            return Outcome((), "died", 0.0, 0.0, 0)

    def stop(self) -> None:
        """End the job that is running, from another thread, and take no other."""
        self._stopped = True
        if self._server is not None:
            self._server.stop()

    def close(self) -> None:
        self._stopped = True
        with self._starting:
            if self._server is not None:
                self._server.close()
                self._server = None


# What the cluster calls, each by name in the worker's own process.

_warm = Warm(Settings(Limits(), "bwrap"))
_one_job = threading.Lock()


def run_job(settings: Settings, job: bytes) -> Outcome:
    """Run one job in this process's server. A worker with several threads still runs one job at a time."""
    with _one_job:
        return _warm_for(settings).run(job)


async def warm_up(settings: Settings) -> None:
    """Start the server, beside the worker's own business."""
    await asyncio.to_thread(_start, settings)


async def end(run: str) -> None:
    """Leave nothing of that run behind: its job and its server end."""
    if _warm.settings.run == run:
        _warm.stop()
        await asyncio.to_thread(_warm.close)


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
    with _one_job:
        _warm_for(settings).start()


def _warm_for(settings: Settings) -> Warm:
    """The server for a run. It takes the place of another run's, which between jobs is idle."""
    global _warm
    if _warm.settings != settings:
        differs = difference(dict(settings.versions), dict(versions()))
        if differs:
            raise CourseError(
                f"The worker on {platform.node()} has another installation ({differs}): {REMEDY}"
            )
        _warm.close()
        _warm = Warm(settings)
    return _warm
