"""Commands to begin with: a course of one's own, a class to look at, and whether this machine can grade."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from autograder.authoring.init import begin_course
from autograder.cli.options import Jail
from autograder.cli.terminal import console, say_lines
from autograder.course import course_root


def init(
    folder: Annotated[Path, typer.Argument(help="The folder; created if it does not exist.")] = Path("."),
) -> None:
    """Create a course in an empty folder, with settings and one assignment that can be built and graded."""
    for path in begin_course(folder):
        console.print(f"wrote {path}", highlight=False, soft_wrap=True)
    console.print("Next, in that folder: `autograder build`; its README.md says how to continue.")


def demo(
    name: Annotated[str, typer.Argument(metavar="[ASSIGNMENT]", help="Default: a small one.")] = "",
    folder: Annotated[
        Path | None, typer.Option(help="An empty folder for the class. Default: a temporary one.")
    ] = None,
    browser: Annotated[
        bool, typer.Option(help="Open the report and one student's feedback in the browser.")
    ] = True,
    isolation: Jail = "bwrap",
) -> None:
    """Grade a made-up class of twenty, with a report and feedback, to see what the tool does.

    Some students answer correctly and some make known mistakes; some hand in late or not at all, and some hand in a
    broken file or an attack. Their work is collected as a Moodle download, graded in the jail and packed for Moodle, all in a copy of this course.
    """
    from autograder.authoring.demo import run_demo  # start-up: nbgrader

    where = folder or Path(tempfile.mkdtemp(prefix="autograder-demo-"))
    made = run_demo(course_root(), where, name, isolation, say_lines)
    say_lines(
        "",
        f"Report    {made.report}",
        *(f"Feedback  {page}  ({kind})" for kind, page in made.pages.items()),
        f"For Moodle: {made.packed}",
        f"In JupyterLab, with formgrader: cd {made.folder} && jupyter lab",
    )
    if browser and _has_display():
        pages = list(made.pages.values())
        for page in (
            made.report,
            next((page for kind, page in made.pages.items() if "mistake" in kind), pages[0]),
        ):
            typer.launch(page.as_uri())


def doctor(isolation: Jail = "bwrap") -> None:
    """Check whether grading works on this machine, and say what to do if it does not.

    ✓ means that all is well, ! that something is missing but grading still works, ✗ that grading does not work; in that
    case the exit status is 1. The check sets up the real jail and runs a notebook in it.
    """
    from autograder.doctor import Level, examine  # start-up: the jail

    states = []
    for what, found in examine(course_root(), isolation):
        states.append(found.state)
        say_lines(found.line(what))
    works = Level.BAD not in states
    say_lines(
        "Grading works on this machine."
        if works
        else "Grading does not work yet: fix everything marked with ✗."
    )
    if not works:
        raise typer.Exit(1)


def _has_display() -> bool:
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
