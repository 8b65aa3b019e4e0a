"""The command `autograder`: build the notebooks, grade submissions, report and export.

Each command is a function; what it needs of the rest is imported when it runs, so that `--help` comes at once.
"""

import errno
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import typer
from rich.markup import escape

from autograder import startup  # noqa: F401
from autograder.cli import authoring, beginning, exchange, grading, results
from autograder.cli.terminal import console
from autograder.errors import CourseError, JailError, ServerDied, install_command

# In the order of `--help`.
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
    "package": exchange.package,
    "student-release": authoring.student_release,
    "lend": authoring.lend,
}

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
        _complain(
            f"{error}\nWithout a jail, `--isolation none` runs students' code with your own permissions."
        )
    except PermissionError as error:
        if error.filename is None:
            raise
        _complain(_denied(Path(os.fsdecode(error.filename))))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        where = f" ({error.filename})" if error.filename else ""
        _complain(
            f"{error.strerror}{where}. Free some disk space and run the command again: it continues where it stopped."
        )


def _denied(path: Path) -> str:
    """What forbids to read or write a file: most often a command that was once run with sudo, whose files are root's."""
    inner = next((folder for folder in path.parents if folder.name == ".autograder"), path)
    holder = next((place for place in (inner, *inner.parents) if os.path.lexists(place)), inner)
    try:
        import pwd  # optional: Windows knows no owners of this kind

        owner, user = (pwd.getpwuid(number).pw_name for number in (holder.lstat().st_uid, os.geteuid()))
    except (ImportError, KeyError, OSError):
        owner = user = ""
    if owner == user:
        return f"{path} cannot be read or written. Change its permissions: `chmod -R u+rwX {holder}`."
    return (
        f"{path} cannot be read or written: {holder} belongs to {owner}, and you are {user}. If a command was run with sudo, change "
        f"the owner of its files: `sudo chown -R {user} {holder}`."
    )


def _complain(sentence: str) -> None:
    # Unbroken: a sentence may hold a command to be copied.
    console.print(f"[red]error[/red] {escape(sentence)}", highlight=False, soft_wrap=True)
    sys.exit(1)
