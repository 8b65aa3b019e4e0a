"""The command `autograder`, run in the process of the test."""

from typer.testing import CliRunner

from autograder.cli import app
from autograder.errors import CourseError


def command(*words: object, status: int = 0) -> str:
    """What it says until it ends with this status."""
    done = CliRunner().invoke(app, [*map(str, words)])
    assert not isinstance(done.exception, Exception), (done.output, done.exception)
    assert done.exit_code == status, done.output
    return done.output


def refusal(*words: object) -> str:
    """The sentence of the error with which it ends."""
    done = CliRunner().invoke(app, [*map(str, words)])
    assert isinstance(done.exception, CourseError), (done.output, done.exception)
    return str(done.exception)
