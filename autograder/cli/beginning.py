"""Commands to begin with: a course of one's own, a class to look at, and whether this machine can grade."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from autograder.authoring.init import begin_course
from autograder.cli.options import Isolation, Jail
from autograder.cli.terminal import console, say_lines
from autograder.course import course_root


def init(
    folder: Annotated[Path, typer.Argument(help="Where; made if it is missing.")] = Path("."),
) -> None:
    """Begin a course in an empty folder: settings, and one assignment that can be built and graded at once."""
    for path in begin_course(folder):
        console.print(f"wrote {path}", highlight=False, soft_wrap=True)
    console.print("Next, in that folder: `autograder build`; its README.md says how to go on.")


def demo(
    name: Annotated[str, typer.Argument(metavar="[ASSIGNMENT]", help="Default: a small one.")] = "",
    folder: Annotated[
        Path | None, typer.Option(help="Where; it must be empty. Default: a temporary folder.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the report and one feedback in the browser.")] = True,
    isolation: Jail = Isolation.BWRAP,
) -> None:
    """Look at everything before reading anything: a made-up class of twenty, graded, with report and feedback.

    Some are right, some make known mistakes, some hand in late, nothing, a broken file, or an attack. They are collected
    as from Moodle, graded in the jail and packed for Moodle, in a copy of this course; the course stays as it is.
    """
    from autograder.authoring.demo import run_demo  # start-up: nbgrader

    where = folder or Path(tempfile.mkdtemp(prefix="autograder-demo-"))
    made = run_demo(course_root(), where, name, isolation.value, lambda line: say_lines([line]))
    say_lines(
        [
            "",
            f"Report    {made.report}",
            *(f"Feedback  {page}  ({kind})" for kind, page in made.pages.items()),
            f"For Moodle: {made.packed}",
            f"In JupyterLab, with formgrader: cd {made.folder} && jupyter lab",
        ]
    )
    if browser and _has_display():
        pages = list(made.pages.values())
        for page in (
            made.report,
            next((page for kind, page in made.pages.items() if "mistake" in kind), pages[0]),
        ):
            typer.launch(page.as_uri())


def doctor(isolation: Jail = Isolation.BWRAP) -> None:
    """Say whether grading would work on this machine: a line for each thing that it needs, and what to do.

    ✓ is well, ! cannot be done here although grading can, ✗ stops grading; then the exit status is 1. The jail is not
    asked for but built, and a notebook is run in it.
    """
    from autograder.doctor import Level, examine  # start-up: the jail

    states = []
    for finding in examine(course_root(), isolation.value):
        states.append(finding.state)
        say_lines([str(finding)])
    works = Level.BAD not in states
    say_lines(["Grading works on this machine." if works else "Grading would not work: fix what has a ✗."])
    if not works:
        raise typer.Exit(1)


def _has_display() -> bool:
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
