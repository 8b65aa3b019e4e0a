"""Where jobs run: on this machine (`autograder.pool.local`), or on the workers of a cluster (`autograder.pool.cluster`)."""

from collections.abc import Iterable
from typing import Protocol

from nbformat import NotebookNode

from autograder.course import Assignment
from autograder.jail.outside.client import Outcome
from autograder.jail.outside.withheld import definitions
from autograder.kernels import kernel_for
from autograder.pool.servers import Settings
from autograder.settings import limits
from autograder.source import (
    defined_in_answers,
    imported_ahead,
    imported_from,
    used_from,
    usual_imports,
)


def settings_for(assignment: Assignment, isolation: str, modules: Iterable[str] = ()) -> Settings:
    """What an assignment's notebooks may use, and see. `modules` are imported ahead beside what the release needs."""
    course, release = assignment.settings, assignment.read_release()
    kernel = kernel_for(release, assignment.release)
    preload = course.preload or usual_imports(release)
    ahead = () if kernel else (*preload, *imported_ahead(course.preload_where, release), *modules)
    return Settings(
        limits(assignment.root),
        isolation,
        modules=tuple(dict.fromkeys(ahead)),
        course=str(assignment.root.resolve()),
        packages=course.packages,
        readable=course.readable,
        answers=course.answers,
        practice=imported_from(course.answers, release),
        withheld=withheld(assignment, release),
        kernel=kernel,
    )


def withheld(assignment: Assignment, release: NotebookNode) -> tuple[str, ...]:
    """The functions and classes of the course's packages that the notebook's exercises ask for.

    These are the ones with the name of what a student writes, except where the notebook itself hands them out, and
    those that an exercise lists.
    """
    packages = assignment.settings.packages
    handed_out = used_from(packages, release)
    asked_for = definitions(packages, defined_in_answers(release))
    listed = (name for exercise in assignment.exercises.values() for name in exercise.withheld)
    return tuple(sorted({*listed, *(name for name in asked_for if not _among(handed_out, name))}))


def _among(used: Iterable[str], definition: str) -> bool:
    """Whether one of these names leads to it, perhaps through a package that imports it from its module."""
    module, _, name = definition.rpartition(".")
    places = (place for place, _, own in (one.rpartition(".") for one in used) if own == name)
    return any(f"{module}.".startswith(f"{place}.") for place in places)


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
