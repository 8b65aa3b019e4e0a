"""Would grading work on this machine? A line for each thing that it needs, with what to do where something is missing."""

from collections.abc import Callable, Iterator
from pathlib import Path

from autograder.doctor import course, machine
from autograder.doctor.readiness import Level, Readiness
from autograder.errors import CourseError

LOOKS = (
    *(machine.modules, machine.disk),
    *(course.gradebook, course.submissions, course.exchange),
    *(machine.kernels, machine.browser, machine.memory, machine.similarity),
)


def examine(root: Path, isolation: str = "bwrap") -> Iterator[tuple[str, Readiness]]:
    """Everything that a run needs, by name, the quick things first."""
    python, found = machine.python(), course.course(root)
    yield from (("python", python), ("course", found))
    if Level.BAD in (python.state, found.state):  # the rest cannot be looked at
        return
    for look in LOOKS:
        yield look.__name__, _safely(look, root)
    if found.state == Level.GOOD:  # what servers import stands in a release
        yield "jail", _safely(lambda root: machine.jail(root, isolation), root)


def _safely(look: Callable[[Path], Readiness], root: Path) -> Readiness:
    """A fault of the course is a finding, too."""
    try:
        return look(root)
    except CourseError as error:
        return Readiness(Level.BAD, str(error))
