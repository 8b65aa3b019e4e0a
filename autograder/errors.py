"""The errors that a command ends with: each message is a sentence for the instructor."""

from importlib.util import find_spec

DISTRIBUTION = "autograder-notebooks"


class CourseError(Exception):
    """Something about the course is wrong; the message says what and how to mend it."""


class JailError(RuntimeError):
    """A server could not be started; the message says why in a sentence."""


class ServerDied(RuntimeError):
    """A server failed a job (it ended, fell silent, or built no jail), and so did a fresh one with the same job."""


class KernelFailed(CourseError):
    """The kernel of a notebook in another language does not start where notebooks are run."""


def can_compare_texts() -> bool:
    """Whether the extra `similarity` is installed: what finds answers that are nearly the same."""
    return all(find_spec(name) for name in ("scipy", "sklearn"))


def install_command(extra: str) -> str:
    """The command that installs an extra of the tool. pip finds the tool itself installed, and asks no index for it."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"
