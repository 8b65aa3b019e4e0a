"""Commands for who reads what was graded: a report on the class, and written answers to grade by hand."""

import threading
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.text import Text

from autograder.cli.options import Name
from autograder.cli.tables import agreement_table
from autograder.cli.terminal import console
from autograder.course import Assignment, course_root, find_notebooks
from autograder.errors import CourseError


class Likeness(StrEnum):
    """By what written answers are grouped: the course's sentence encoder, or their words and letters."""

    MEANING = "meaning"
    WORDS = "words"


def report(
    name: Name,
    output: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
) -> None:
    """One page about a graded assignment, for the instructor: it names students and shows their work.

    Scores, each exercise's success, the most frequent mistakes by name, slow and failed submissions, and
    groups that are nearly the same. The page needs nothing else and no network.
    """
    from autograder.report import write_report  # start-up: nbgrader

    write_report(find_notebooks(course_root(), name)[0], output)
    console.print(f"wrote {output}")


def written(
    name: Name,
    by: Annotated[
        Likeness, typer.Option(help="What makes answers alike: meaning needs c.Autograder.sentence_encoder.")
    ] = Likeness.MEANING,
    again: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the answers offered for a second, blind reading.")
    ] = 0.05,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Default: any that is free.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    certfile: Annotated[
        Path | None, typer.Option(exists=True, help="A TLS certificate, to serve the page over https.")
    ] = None,
    keyfile: Annotated[
        Path | None, typer.Option(exists=True, help="The private key of the certificate.")
    ] = None,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Only say how far second readings agree with first ones.")
    ] = False,
) -> None:
    """Grade written answers in a browser: one question over the whole class, like answers side by side, no names.

    A person reads, and gives points to a group or to one answer; groups can be split and joined. Nothing is scored by a
    machine. Points and comments go into nbgrader's gradebook at once, so the page can be closed at any time. Several
    people may grade at a time. docs/written.md says more.
    """
    from autograder.written.room import Room  # start-up: nbgrader
    from autograder.written.text_similarity import course_encoder

    chosen = find_notebooks(course_root(), name)[0]
    _require_graded(chosen)
    room = Room(chosen, course_encoder(chosen) if by is Likeness.MEANING else None, again)
    if agreement:
        console.print(agreement_table(room.agreement()))
        return

    def prepare() -> None:
        room.prepare(lambda title: console.print(Text(f"Grouped the answers to “{title}”.")))
        console.print(escape(room.problem) if room.problem else "All are ready.")

    def ready(address: str) -> None:
        console.print(f"Open {address}", highlight=False, soft_wrap=True)
        console.print(
            "The address opens the page in one browser, once. Ctrl+C ends the page; all grades are kept."
        )
        threading.Thread(target=prepare, daemon=True).start()

    def invite(address: str) -> None:
        console.print(f"For another browser, open {address}", highlight=False, soft_wrap=True)

    from autograder.written.server import serve_page

    serve_page(room, ready, invite, port, browser, str(certfile or ""), str(keyfile or ""))
    console.print("Ended.")


def _require_graded(assignment: Assignment) -> None:
    from autograder.gradebook.gradebook import recorded_students  # start-up: nbgrader

    if not recorded_students(assignment):
        raise CourseError(
            f"Nobody's {assignment.name} has been graded: run `autograder grade {assignment.argument}` first."
        )
