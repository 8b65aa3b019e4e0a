"""What runs in a worker of a cluster: warm servers, kept between jobs. It judges nothing and never imports torch.

A worker needs the jail and coursekit, and no solutions. What comes out of the jail it passes on unread.
"""

import asyncio
import platform
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from autograder.digests import worker_versions
from autograder.errors import CourseError, ServerDied
from autograder.jail.outside.client import Outcome
from autograder.pool.servers import ServerPool, Settings

REMEDY = "give it the same checkout and the same environment."


# What the cluster calls, each by name in the worker's own process.


def run_job(settings: Settings, job: bytes) -> Outcome:
    """Run one job in a server of this process. Several threads may do so at the same time."""
    with _current.of(settings) as servers:
        return servers.run(job)


async def warm_up(settings: Settings) -> None:
    """Import what every server needs, beside the worker's own business."""
    await asyncio.to_thread(_start, settings)


async def end(run: str) -> None:
    """Leave nothing of that run behind: its jobs and its servers end, and those that wait do not begin."""
    await asyncio.to_thread(_current.end, run)


def versions(settings: Settings) -> tuple[tuple[str, str], ...]:
    """What must be the same on all machines of a run."""
    return _versions(settings.packages, tuple(zip(settings.readable, settings.places, strict=True)))


@cache
def _versions(
    packages: tuple[str, ...], readable: tuple[tuple[str, Path], ...]
) -> tuple[tuple[str, str], ...]:
    return tuple(worker_versions(packages, dict(readable)).items())


def difference(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """What a worker has in another version than we, in words; "" when it has the same."""
    others = [name for name in here if here[name] != there.get(name)]
    return ", ".join(f"{name}: {there.get(name, 'none')} there, {here[name]} here" for name in others)


def _start(settings: Settings) -> None:
    with _current.of(settings) as servers:
        servers.start()


class _CurrentRun:
    """Whose servers are warm in this process: those of one run at a time."""

    def __init__(self):
        self.servers: ServerPool | None = None
        self._used = 0
        self._over: set[str] = set()
        self._change = threading.Condition()

    @contextmanager
    def of(self, settings: Settings) -> Iterator[ServerPool]:
        """The servers for a run. They take the place of another run's when none of its jobs is running here."""
        with self._change:
            self._change.wait_for(lambda: not self._used or self._serves(settings) or self._is_over(settings))
            if self._is_over(settings):
                raise ServerDied("The run is over.")
            servers = self.servers
            if servers is None or servers.settings != settings:
                servers = self._replace(settings)
            self._used += 1
        try:
            yield servers
        finally:
            with self._change:
                self._used -= 1
                self._change.notify_all()

    def end(self, run: str) -> None:
        with self._change:
            self._over.add(run)
            self._change.notify_all()
            servers = self.servers
        if servers is not None and servers.settings.run == run:
            servers.close()

    def _serves(self, settings: Settings) -> bool:
        return self.servers is not None and self.servers.settings == settings

    def _is_over(self, settings: Settings) -> bool:
        return settings.run in self._over

    def _replace(self, settings: Settings) -> ServerPool:
        differs = difference(dict(settings.versions), dict(versions(settings)))
        if differs:
            raise CourseError(
                f"The worker on {platform.node()} has a different installation ({differs}): {REMEDY}"
            )
        if self.servers is not None:
            self.servers.close()
        self.servers = ServerPool(settings)
        return self.servers


_current = _CurrentRun()
