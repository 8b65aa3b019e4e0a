"""Where jobs run: in a server of this process, or (`autograder.cluster`) on the workers of a cluster."""

from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from autograder.jail.client import Outcome
from autograder.worker import Settings, Warm


class Jails(Protocol):
    """Takes jobs and gives back their outcomes, in whatever order they end. A job that is lost is run again."""

    def warm_up(self) -> None:
        """Begin to start, and do not wait for it."""

    @property
    def full(self) -> bool:
        """Whether an outcome has to be taken before the next job."""

    @property
    def ready(self) -> bool:
        """Whether `take` has something to give without waiting for it."""

    def submit(self, name: str, job: bytes) -> None: ...

    def take(self) -> tuple[str, Outcome]:
        """The name and outcome of a job that has ended. Waits for one."""

    def close(self) -> None:
        """End everything, also a job that is running."""


class OwnJail:
    """One warm server in this process, for those who grade one notebook after the other."""

    def __init__(self, settings: Settings):
        self.warm = Warm(settings)
        self._jobs: list[tuple[str, bytes]] = []

    def warm_up(self) -> None:
        pool = ThreadPoolExecutor(1)
        pool.submit(self.warm.start)  # if it fails, so does the first job
        pool.shutdown(wait=False)

    @property
    def full(self) -> bool:
        return bool(self._jobs)

    @property
    def ready(self) -> bool:
        return False  # a job runs while it is taken

    def submit(self, name: str, job: bytes) -> None:
        self._jobs.append((name, job))

    def take(self) -> tuple[str, Outcome]:
        name, job = self._jobs.pop(0)
        return name, self.warm.run(job)

    def close(self) -> None:
        self.warm.close()
