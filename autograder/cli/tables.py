"""The tables that the commands print."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from autograder.checks.status import Status
from autograder.results import Result, in_short


def result_table(results: Iterable[Result], first_column: str = "student") -> Table:
    """A line for each submission: its points of the possible ones, and why others were lost."""
    table = Table(box=None, header_style="bold")
    table.add_column(first_column)
    table.add_column("score", justify="right")
    table.add_column("reasons")
    for result in results:
        # Students write in reasons, and a name may hold brackets: neither is a command to the terminal.
        table.add_row(
            Text(result.student), f"{result.score:g} / {result.max_score:g}", Text(_reasons(result))
        )
    return table


def change_table(changes) -> Table:
    """Before and after, student by student."""
    table = Table(box=None, header_style="bold")
    for column in ("student", "exercise"):
        table.add_column(column)
    for column in ("before", "after"):
        table.add_column(column, justify="right")
    table.add_column("why")
    last_student = ""
    for change in changes:
        student = "" if change.student == last_student else change.student
        last_student = change.student
        numbers = ["–" if score is None else f"{score:g}" for score in (change.before, change.after)]
        style = "bold" if change.what == "total" else ""
        table.add_row(Text(student), change.what, *numbers, Text(change.why), style=style)
    return table


def agreement_table(rows: list[dict]) -> Table | str:
    """Of each question how far second readings agree with first ones."""
    if not rows:
        return "Nothing was read twice yet: in the page of `autograder written`, b shows a sample again."
    table = Table(box=None, header_style="bold")
    for column in ("question", "readings by"):
        table.add_column(column, no_wrap=True)
    for column in ("answers", "equal points", "at most ½ apart", "weighted kappa"):
        table.add_column(column, justify="right")
    for row in rows:
        shares = [f"{row[share]:.0%}" for share in ("equal", "within_half")]
        kappa = "–" if row["kappa"] is None else f"{row['kappa']:.2f}"
        table.add_row(row["question"], row["who"], str(row["count"]), *shares, kappa)
    return table


def _reasons(result: Result) -> str:
    """What was lost and why; cells that share a reason share a line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for verdict in result.verdicts:
        if verdict.status not in (Status.PASSED, Status.MANUAL):
            where = (verdict.status, in_short(verdict))
            groups.setdefault(where, []).append(verdict.grade_id.removesuffix("-check"))
    lines = []
    for (status, reason), names in groups.items():
        who = names[0] if len(names) == 1 else f"{len(names)} cells"
        lines.append(f"{who}: {status}. {reason}")
    waiting = sum(verdict.status == Status.MANUAL for verdict in result.verdicts)
    return "\n".join([*lines, f"{waiting} to grade by hand"] if waiting else lines)
