"""Where jobs run: on this machine (`autograder.pool.local`), or on the workers of a cluster (`autograder.pool.cluster`)."""

from collections.abc import Iterable
from typing import Protocol

from autograder.course import Assignment
from autograder.jail.outside.client import Outcome
from autograder.pool.servers import Settings
from autograder.settings import limits
from autograder.source import imported_ahead, imported_from, usual_imports


def settings_for(assignment: Assignment, isolation: str, modules: Iterable[str] = ()) -> Settings:
    """What an assignment's notebooks may use, and see. `modules` are imported ahead beside what the release needs."""
    course, release = assignment.settings, assignment.read_release()
    preload = course.preload or usual_imports(release)
    ahead = (*preload, *imported_ahead(course.preload_where, release), *modules)
    return Settings(
        limits(assignment.root),
        isolation,
        modules=tuple(dict.fromkeys(ahead)),
        course=str(assignment.root.resolve()),
        packages=course.packages,
        readable=course.readable,
        answers=course.answers,
        practice=imported_from(course.answers, release),
    )


class Pool(Protocol):
    """Takes jobs and gives back their outcomes, in whatever order they end. A job that is lost is run again."""

    def warm_up(self) -> None:
        """Begin to start, and do not wait for it."""

    @property
    def full(self) -> bool:
        """Whether an outcome has to be taken before the next job."""

    def wait(self, seconds: float) -> bool:
        """Until `take` has something to give without waiting for it, or the time is over. Whether it has."""

    def submit(self, name: str, job: bytes) -> None:
        """Hand over a job without waiting for it; `take` returns its outcome with this name."""

    def take(self) -> tuple[str, Outcome]:
        """The name and outcome of a job that has ended. Waits for one."""

    def close(self) -> None:
        """End everything, also a job that is running."""
