"""What the commands print: lines, a bar of progress, and complaints."""

from collections.abc import Callable, Iterable

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

console = Console()


def progress_bar(*more: ProgressColumn) -> Progress:
    """A bar on stderr that is gone at its end, with `more` columns at the right."""
    # A notebook lays each line over the one before, colours and all: every line has the same length.
    plain = Console(stderr=True, color_system=None)
    columns = (TextColumn("{task.description}"), BarColumn(None), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, *more, console=plain, transient=True, expand=True)


def teller(progress: Progress) -> Callable[[str], None]:
    """Says what is being done, on a terminal above the bar."""
    return lambda sentence: progress.console.print(Text(sentence), soft_wrap=True)


def counter(progress: Progress, task: TaskID) -> Callable[[int, int], None]:
    """Shows how many of how many are done: called with (done, total)."""
    return lambda done, total: progress.update(task, completed=done, total=total)


def describer(progress: Progress, task: TaskID, name: str) -> Callable[[str], None]:
    """Shows what is being done with `name`, in front of the bar."""
    return lambda what: progress.update(task, description=f"{name}: {what}")


def say_lines(*lines: str) -> None:
    """Students' names are no commands to the terminal."""
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def complain_of(items: Iterable[object], what: str) -> None:
    """Name what is left, and end with status 1 if there is any."""
    if items := list(items):
        say_lines(f"{len(items)} {what}:", *(f"  {item}" for item in items))
        raise typer.Exit(1)


def warn_of_old_points(warnings: Iterable[object]) -> None:
    """Say of each assignment that scores in the gradebook still rest on the points of an earlier release."""
    for warning in warnings:
        console.print(f"[yellow]old points[/yellow] {escape(str(warning))}", highlight=False)


def people(count: int) -> str:
    """A number of students in words: "1 student", "2 students"."""
    return "1 student" if count == 1 else f"{count} students"
