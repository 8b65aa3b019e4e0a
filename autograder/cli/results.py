"""Commands for who reads what was graded: a report on the class, and written answers to grade by hand."""

import threading
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape
from rich.text import Text

from autograder.cli.options import Name
from autograder.cli.tables import agreement_table
from autograder.cli.terminal import complain_of, console, progress_bar, say_lines
from autograder.course import Assignment, assignments, course_root, find_notebooks
from autograder.errors import CourseError, can_compare_texts, install_command


def report(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[ASSIGNMENT]", help="The assignment, such as 02_attention. Default: the whole term."
        ),
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(help="The page to write. Default: report.html, or term.html for the whole term."),
    ] = None,
    days: Annotated[
        int,
        typer.Option(
            min=1,
            help="Show what has changed since the most recent report that is at least this many days old.",
        ),
    ] = 7,
) -> None:
    """Write a report on an assignment, or on the whole term, for the instructor. It names students.

    - With an assignment: scores, the success rate of each exercise, the most frequent mistakes by name, what has changed
      since last week, slow and failed submissions, and submissions that are nearly the same. It shows students' work.
    - Without one: every student's scores in all assignments, late submissions and answers still to be graded by hand; the mean,
      the hardest exercise and the most frequent mistake of each assignment; the difficulty and discrimination of each
      exercise. Click a heading to sort a table. The page links to the reports of all assignments, which are written to
      the folder reports/ next to it.

    The pages need no network connection.
    """
    from autograder.report import write_report  # start-up: nbgrader

    root = course_root()
    if name:
        output = output or Path("report.html")
        write_report(find_notebooks(root, name)[0], output, days)
        console.print(f"wrote {output}")
    else:
        _report_term(root, output or Path("term.html"), days)


def _report_term(root: Path, output: Path, days: int) -> None:
    """The page on all assignments, and after it the report of each, to which it links."""
    from autograder.files import require_replaceable
    from autograder.gradebook.gradebook import NobodyGraded  # start-up: nbgrader
    from autograder.report import write_page_of
    from autograder.report.everybody import read_class
    from autograder.report.term import report_path, summary, write_term

    require_replaceable(root, output)
    notebooks_of: dict[str, list[Assignment]] = {}
    for notebook in assignments(root):
        notebooks_of.setdefault(notebook.name, []).append(notebook)
    summaries, left, written = [], [], 0
    for name, notebooks in notebooks_of.items():
        try:
            classes = [read_class(notebook) for notebook in notebooks]
            require_replaceable(root, report_path(output, name))
            summaries.append(summary(classes))
        except NobodyGraded:
            pass  # nothing to report yet
        except CourseError as error:
            left.append(f"{name}: {error}")
    if not summaries and not left:
        raise CourseError("Nothing has been graded yet: run `autograder grade ASSIGNMENT` first.")
    write_term(root, summaries, output, left)
    say_lines(f"wrote {output}")
    with progress_bar() as progress:
        task = progress.add_task("reports", total=len(summaries))
        for one in summaries:
            classes = [read_class(notebook) for notebook in notebooks_of[one.name]]
            written += write_page_of(classes, report_path(output, one.name), days, only_changed=True)
            progress.advance(task)
    unchanged = len(summaries) - written
    folder = report_path(output, "").parent
    say_lines(
        f"wrote {written} of the reports in {folder}/; {unchanged} have not changed"
        if unchanged
        else f"wrote the reports in {folder}/"
    )
    complain_of(left, "could not be reported")


def written(
    name: Name,
    by: Annotated[
        Literal["meaning", "words"],  # by the course's sentence encoder, or by words and letters
        typer.Option(help="How similar answers are grouped; `meaning` needs c.Autograder.sentence_encoder."),
    ] = "meaning",
    again: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the answers offered for a second, blind reading.")
    ] = 0.05,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port of the page. Default: any free port.")
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    certfile: Annotated[
        Path | None, typer.Option(exists=True, help="A TLS certificate, to serve the page over https.")
    ] = None,
    keyfile: Annotated[
        Path | None, typer.Option(exists=True, help="The private key of the certificate.")
    ] = None,
    agreement: Annotated[
        bool,
        typer.Option("--agreement", help="Only show how well second readings agree with the first ones."),
    ] = False,
) -> None:
    """Grade written answers in a browser, one question at a time for the whole class, with similar answers together and without names.

    You read the answers and give points to a group or to a single answer; groups can be split and joined. Nothing is scored
    automatically. Points and comments are saved in nbgrader's gradebook at once, so you can close the page at any time.
    Several people can grade at the same time. See docs/written.md.
    """
    from autograder.gradebook.gradebook import NobodyGraded, recorded_students  # start-up: nbgrader
    from autograder.written.room import Room
    from autograder.written.text_similarity import course_encoder

    chosen = find_notebooks(course_root(), name)[0]
    if not recorded_students(chosen):
        raise NobodyGraded(chosen)
    room = Room(chosen, course_encoder(chosen) if by == "meaning" else None, again)
    if agreement:
        console.print(agreement_table(room.agreement()))
        return

    if not can_compare_texts():
        console.print(
            Text(
                f"Only identical answers are grouped: `{install_command('similarity')}` groups similar ones, too."
            )
        )

    def prepare() -> None:
        room.prepare(lambda title: console.print(Text(f"Grouped the answers to “{title}”.")))
        console.print(escape(room.problem) if room.problem else "All questions are ready.")

    def ready(address: str) -> None:
        console.print(f"Open {address}", highlight=False, soft_wrap=True)
        console.print("The address works once, in one browser. Stop with Ctrl+C; all grades are kept.")
        threading.Thread(target=prepare, daemon=True).start()

    def invite(address: str) -> None:
        console.print(f"For another browser, open {address}", highlight=False, soft_wrap=True)

    from autograder.written.server import serve_page

    serve_page(room, ready, invite, port, browser, str(certfile or ""), str(keyfile or ""))
    console.print("Ended.")
