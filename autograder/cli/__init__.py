"""The command `autograder`: build the notebooks, grade submissions, report and export.

Each command is a function; what it needs of the rest is imported when it runs, so that `--help` comes at once.
"""

import errno
import sys
from collections.abc import Callable
from importlib.util import find_spec

import typer
from rich.markup import escape

from autograder import startup  # noqa: F401
from autograder.cli import authoring, beginning, exchange, grading, results
from autograder.cli.terminal import console
from autograder.errors import CourseError, JailError, ServerDied, install_command

COMMANDS: dict[str, Callable[..., None]] = {
    "init": beginning.init,
    "demo": beginning.demo,
    "doctor": beginning.doctor,
    "build": authoring.build,
    "students": exchange.students,
    "collect": exchange.collect,
    "grade": grading.grade,
    "watch": grading.watch,
    "regrade": grading.regrade,
    "report": results.report,
    "written": results.written,
    "export": exchange.export,
    "feedback": exchange.feedback,
    "grade-mine": grading.grade_mine,
    "try": authoring.try_exercises,
    "mutants": authoring.mutants,
    "rates": authoring.rates,
    "minutes": authoring.minutes,
    "student-release": authoring.student_release,
    "lend": authoring.lend,
}
"""In the order of `--help`."""

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Build and grade the notebooks of a course.",
)
for name, command in COMMANDS.items():
    app.command(name)(command)


def main() -> None:
    """Our own errors end with one sentence and exit status 1."""
    try:
        app()
    except (CourseError, ServerDied) as error:
        _complain(str(error))
    except ModuleNotFoundError as error:
        if find_spec("nbgrader"):
            raise
        _complain(f"This needs the package {error.name}: `{install_command('grading')}`.")
    except JailError as error:
        _complain(f"{error}\nWithout a jail, `--isolation none` runs students' code with all your rights.")
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        where = f" ({error.filename})" if error.filename else ""
        _complain(f"{error.strerror}{where}. Make room and run the command again: it goes on where it was.")


def _complain(sentence: str) -> None:
    console.print(f"[red]error[/red] {escape(sentence)}", highlight=False)
    sys.exit(1)
