"""The tables that the commands print."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import mean

from rich.table import Table
from rich.text import Text

from autograder.checks.status import Ending, Status
from autograder.results import CellVerdict, Result, in_short

KINDS = {
    Status.PARTIAL: "partly correct",
    Status.FAILED: "wrong",
    Status.ERROR: "stopped with an error",
    Status.TIMEOUT: "took too long",
    Status.MEMORY: "needed too much memory",
    Status.MALFORMED: "cannot be read",
}
"""What the class's table says of a cell whose mistake has no name."""


Title = Callable[[str], str]
"""What people read in the place of a grade id: `Assignment.title`."""
Titles = Mapping[str, Title]
"""The same for each notebook of an assignment, by its name; "" where there is only one."""


def class_table(results: Iterable[Result], titles: Titles) -> Table:
    """A line for each student: the points of the possible ones, what went wrong in a few words, what a person has to grade.

    What the student is told in full stands in the report and the feedback.
    """
    table = _table(
        "student", "score", "by hand", "lost", right=("score", "by hand"), unbroken=("student", "score")
    )
    for student, of_student in _by_student(results).items():
        # Students write in reasons, and a name may hold brackets: neither is a command to the terminal.
        lost = Text(_lost_in_all(of_student, titles))
        table.add_row(Text(student), _points(of_student), str(_waiting(of_student) or ""), lost)
    return table


def arrival_line(student: str, results: Collection[Result], titles: Titles) -> str:
    """The same of a single student, in a line of its own."""
    waiting = _waiting(results)
    parts = [f"{waiting} to grade by hand" if waiting else "", _lost_in_all(results, titles)]
    shown = student if student.isprintable() else ascii(student)
    return "  ".join(filter(None, [shown, _points(results), "; ".join(filter(None, parts))]))


def class_summary(results: Collection[Result], titles: Titles, left: int = 0) -> Table:
    """The class: how many are graded and how many are `left`, mean and range of the scores, what most lost points on, what waits."""
    table = Table(box=None, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    students = _by_student(results)
    graded = f"{len(students)} of {len(students) + left}"
    table.add_row("graded", f"{graded}; {left} not, see below" if left else graded)
    scores = [_score(of_student) for of_student in students.values()]
    if len(scores) > 1:
        most = max(map(_max_score, students.values()))
        table.add_row(
            "scores", f"mean {mean(scores):.1f} of {most:g}, from {min(scores):g} to {max(scores):g}"
        )
        lost = Counter(
            f"{result.notebook}: {called}" if result.notebook else called
            for result in results
            for verdict in result.verdicts
            if _was_lost(verdict)
            for called in [titles[result.notebook](verdict.grade_id)]
        )
        if lost:
            table.add_row(
                "lost most often", Text(", ".join(f"{name} ({count})" for name, count in lost.most_common(3)))
            )
    if troubled := list(dict.fromkeys(result.student for result in results if result.trouble)):
        table.add_row("not run to the end", Text(_few(troubled)))
    if waiting := _waiting(results):
        table.add_row("to grade by hand", f"{waiting} written {'answer' if waiting == 1 else 'answers'}")
    return table


def own_table(results: Iterable[tuple[Result, Title]]) -> Table:
    """A line for each notebook of one's own: its points of the possible ones, and in full why others were lost."""
    table = _table("notebook", "score", "reasons", right=("score",))
    for result, title in results:
        table.add_row(Text(result.student), _points([result]), Text(_reasons(result, title)))
    return table


def change_table(changes, title: Title) -> Table:
    """Before and after, student by student."""
    table = _table("student", "exercise", "before", "after", "why", right=("before", "after"))
    last_student = ""
    for change in changes:
        student = "" if change.student == last_student else change.student
        last_student = change.student
        numbers = ["–" if score is None else f"{score:g}" for score in (change.before, change.after)]
        style = "bold" if change.what == "total" else ""
        table.add_row(Text(student), Text(title(change.what)), *numbers, Text(change.why), style=style)
    return table


def agreement_table(rows: list[dict]) -> Table | str:
    """Of each question how far second readings agree with first ones."""
    if not rows:
        return "No answer has been read twice yet: on the page that `autograder written` opens, press b to read a sample again."
    numbers = ("answers", "equal points", "at most ½ apart", "weighted kappa")
    table = _table("question", "readings by", *numbers, right=numbers, unbroken=("readings by",))
    for row in rows:
        shares = [f"{row[share]:.0%}" for share in ("equal", "within_half")]
        kappa = "–" if row["kappa"] is None else f"{row['kappa']:.2f}"
        table.add_row(Text(row["title"]), row["who"], str(row["count"]), *shares, kappa)
    return table


def _table(*columns: str, right: Collection[str] = (), unbroken: Collection[str] = ()) -> Table:
    """A table with these columns: numbers stand at the `right`, and lines in `unbroken` ones stay whole."""
    table = Table(box=None, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", no_wrap=column in unbroken)
    return table


def _by_student(results: Iterable[Result]) -> dict[str, list[Result]]:
    """The results of each student's notebooks."""
    students: dict[str, list[Result]] = {}
    for result in results:
        students.setdefault(result.student, []).append(result)
    return students


def _score(results: Iterable[Result]) -> float:
    return sum(result.score for result in results)


def _max_score(results: Iterable[Result]) -> float:
    return sum(result.max_score for result in results)


def _points(results: Collection[Result]) -> str:
    return f"{_score(results):g} / {_max_score(results):g}"


def _waiting(results: Iterable[Result]) -> int:
    """The cells that a person has to grade."""
    return sum(verdict.status == Status.MANUAL for result in results for verdict in result.verdicts)


def _was_lost(verdict: CellVerdict) -> bool:
    return verdict.status not in (Status.PASSED, Status.MANUAL)


def _few(names: Sequence[str], shown: int = 5) -> str:
    """The first names, and how many more there are."""
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")


def _lost_in_all(results: Iterable[Result], titles: Titles) -> str:
    """What was lost in each of a student's notebooks."""
    lost = {result.notebook: _lost(result, titles[result.notebook]) for result in results}
    return "; ".join(f"{name}: {what}" if name else what for name, what in lost.items() if what)


def _lost(result: Result, title: Title) -> str:
    """What was lost, by kind: a mistake that has a name with its name, everything else with its exercises."""
    lost = [verdict for verdict in result.verdicts if _was_lost(verdict)]
    if result.ending == Ending.NOT_RUN and lost:
        return in_short(lost[0])
    parts = []
    if missing := sum(verdict.status == Status.MISSING for verdict in lost):
        parts.append(f"{missing} not answered")
    named: dict[str, list[str]] = {}
    for verdict in lost:
        if verdict.status != Status.MISSING:
            named.setdefault(verdict.mistake or KINDS[verdict.status], []).append(title(verdict.grade_id))
    parts += [f"{_few(names, 3)}: {kind}" for kind, names in named.items()]
    return "; ".join(parts)


def _reasons(result: Result, title: Title) -> str:
    """What was lost and why; cells that share a reason share a line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for verdict in result.verdicts:
        if _was_lost(verdict):
            where = (verdict.status, in_short(verdict))
            groups.setdefault(where, []).append(title(verdict.grade_id))
    lines = []
    for (status, reason), names in groups.items():
        who = names[0] if len(names) == 1 else f"{len(names)} cells"
        lines.append(f"{who}: {status}. {reason}")
    waiting = _waiting([result])
    return "\n".join([*lines, f"{waiting} to grade by hand"] if waiting else lines)
