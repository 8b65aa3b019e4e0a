"""Warm servers of this machine, and what a run asks of them. Nothing here judges, or imports torch."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autograder.checks.status import Ending
from autograder.errors import ServerDied
from autograder.jail.inside.limits import Limits
from autograder.jail.outside.bubblewrap import View, package_folder
from autograder.jail.outside.client import Outcome, Server, Zygote
from autograder.jail.outside.jobs import HARMLESS
from autograder.kernels import find_kernel


@dataclass(frozen=True)
class Settings:
    """What a run asks of its servers."""

    limits: Limits
    isolation: str
    modules: tuple[str, ...] = ()  # imported ahead
    run: str = ""  # a name that no other run has
    versions: tuple[tuple[str, str], ...] = ()  # of the machine where the answers are judged
    course: str = ""  # its folder, which no jail shows wherever it lies
    packages: tuple[str, ...] = ()  # of the course, which notebooks import
    readable: tuple[str, ...] = ()  # folders of the course, which notebooks read
    answers: tuple[str, ...] = ()  # packages that hold right answers
    practice: tuple[str, ...] = ()  # modules of these that the notebook itself imports
    withheld: tuple[str, ...] = ()  # what its exercises ask for, where the course's packages have it
    kernel: str = ""  # the name of that of the notebook, where that is not in Python

    @property
    def places(self) -> list[Path]:
        """Where `readable` lies: in the course's folder, or on another machine beside the course's packages."""
        roots = [Path(self.course), *(package_folder(name).parent for name in self.packages)]
        return [
            next(filter(Path.is_dir, (root / name for root in roots)), roots[0] / name)
            for name in self.readable
        ]

    @property
    def view(self) -> View:
        """What a jail shows and hides of the course. Folders that do not exist are left out."""
        readable = tuple(place for place in self.places if place.is_dir())
        hidden = (Path(self.course),) if self.course else ()
        kernel = find_kernel(self.kernel) if self.kernel else None
        return View(self.packages, readable, hidden, self.answers, self.practice, self.withheld, kernel)


class ServerPool:
    """The warm servers of a run: as many as there are jobs at the same time, each made when it is first needed.

    All are forks of one process, which imports everything and runs no job; so are those of a pool `beside` another.
    """

    def __init__(self, settings: Settings, beside: "ServerPool | None" = None):
        self.settings = settings
        self._owns_zygote = beside is None
        self._zygote: Zygote = (
            beside._zygote
            if beside
            else Zygote(settings.limits, settings.isolation, settings.view, modules=settings.modules)
        )
        self._idle: list[Server] = []
        self._busy: set[Server] = set()
        self._changing = threading.Lock()
        self._stopped = False

    def start(self) -> None:
        """Start the process that all servers are forks of, so that the first job need not wait for its imports."""
        self._zygote.start()

    def run(self, job: bytes) -> Outcome:
        """Run one job. One that ends servers, where a harmless job ends none, has the outcome DIED."""
        try:
            return self.try_to_run(job)
        except ServerDied:
            if self._stopped:
                raise
            # Twice, with this job. If a harmless job dies too, the fault is ours and ends the run.
            self.try_to_run(HARMLESS)
            return Outcome((), Ending.DIED, 0.0, 0.0, 0)

    def try_to_run(self, job: bytes) -> Outcome:
        """Run one job. Raises ServerDied when its server dies, and so does the one that takes its place.

        One that is killed is run again: the memory that the system lacked may have been another's.
        """
        with self._server() as server:
            outcome = server.run(job)
            return server.run(job) if outcome.status == Ending.KILLED else outcome

    def stop(self) -> None:
        """End the jobs that are running, from another thread, and take no other. Nor is anything started any more."""
        self._stopped = True
        if self._owns_zygote:
            self._zygote.stop()
        with self._changing:
            for server in self._busy:
                server.stop()

    def close(self) -> None:
        """Stop, and end the idle servers and, unless it is another pool's, the process that they are forks of."""
        self.stop()
        with self._changing:
            idle, self._idle = self._idle, []
        for server in idle:
            server.close()
        if self._owns_zygote:
            self._zygote.close()

    @contextmanager
    def _server(self) -> Iterator[Server]:
        """A server that no other job has meanwhile."""
        with self._changing:
            server = self._idle.pop() if self._idle else None
        server = server or self._zygote.server()
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
