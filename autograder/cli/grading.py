"""Commands that run students' notebooks, and how far they are."""

import shlex
import signal
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import Progress, TextColumn
from rich.text import Text

from autograder.checks.status import Status
from autograder.cli.options import (
    Isolation,
    Jail,
    Json,
    Name,
    Names,
    Scheduler,
    Students,
    Submitted,
    Workers,
    chosen_assignments,
    write_json,
)
from autograder.cli.tables import arrival_line, change_table, class_summary, class_table, own_table
from autograder.cli.terminal import console, people, progress_bar, teller, warn_of_old_points
from autograder.course import Assignment, course_root, find_notebooks
from autograder.errors import CourseError
from autograder.results import Result


def grade(
    name: Name,
    students: Students = None,
    submitted: Submitted = None,
    workers: Workers = None,
    scheduler: Scheduler = "",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run every notebook again, even if nothing has changed.")
    ] = False,
    watching: Annotated[
        bool,
        typer.Option(
            "--watch", help="Keep running until Ctrl+C: grade each submission, with feedback, as it arrives."
        ),
    ] = False,
    exchange: Annotated[
        bool,
        typer.Option(
            "--exchange",
            help="With --watch: collect from nbgrader's exchange, and release the feedback there.",
        ),
    ] = False,
    json_file: Json = None,
    isolation: Jail = "bwrap",
) -> None:
    """Grade submissions in the jail and record them in nbgrader's gradebook.

    Each grade is recorded as soon as it is known. After an interruption, run the same command again: it continues where it
    stopped. Results are kept in .autograder/store, and a notebook is run again only if it or the rules have changed.

    The exit status is 0 if everybody has been graded and 130 after Ctrl+C. If it is 1, the last lines name the students who
    were not graded and say what to do.

    A cluster's workers need the same checkout and environment as this machine. Start them on the cluster
    with `dask worker tcp://host:port`. See docs/grading.md.

    With --watch the command keeps running. It checks the folder of submissions once a second, grades what is new and complete, writes the
    page of feedback, and prints a line for each submission. This takes seconds, because the servers stay warm. Stop it with
    Ctrl+C. When you start it again, it grades nothing twice.
    """
    if watching or exchange:
        if not watching or fresh or json_file:
            raise CourseError("--exchange works only with --watch; --fresh and --json work only without it.")
        _watch(name, submitted, students, _options(isolation, workers, scheduler), exchange)
        return
    from autograder.grading.run import NotAllGraded, grade_class  # start-up: the jail, msgspec

    notebooks = find_notebooks(course_root(), name)
    chosen, name = notebooks[0], notebooks[0].name
    folders, left = _find_folders(chosen, submitted or chosen.submitted, students)
    options = _options(isolation, workers, scheduler, fresh)
    results: list[Result] = []
    total = len(folders) * len(notebooks)
    with _grading(chosen, total) as (on_result, counted, progress):
        tell = teller(progress)
        tell(f"{name}: {people(len(folders))} in {submitted or f'{chosen.submitted.name}/'}.")
        try:
            for notebook in _registered(notebooks):
                if notebook.part:
                    tell(f"{notebook.file}:")
                try:
                    graded: Collection[Result] = grade_class(notebook, folders, options, on_result, tell)
                except NotAllGraded as error:
                    graded = error.results
                    left += [one for one in error.left if one not in left]
                results += (replace(result, notebook=notebook.part) for result in graded)
        except KeyboardInterrupt:
            progress.stop()
            console.print(
                f"Interrupted: {counted['done']} of {total} are recorded. Run the same command again to continue."
            )
            raise typer.Exit(130) from None
    if json_file:
        report = {"assignment": name, "submissions": [result.to_json() for result in results]}
        report["not_graded"] = [asdict(hand_in) for hand_in in left]
        write_json(json_file, report)
    titles = {notebook.part: notebook.title for notebook in notebooks}
    console.print(class_table(results, titles))
    console.print(class_summary(results, titles, len(left)))
    _say_what_next(chosen, results)
    from autograder.grading.old_points import scores_with_old_points  # start-up: nbgrader

    warn_of_old_points(
        filter(None, map(scores_with_old_points, notebooks))
    )  # of those who were not graded now
    if left:
        raise NotAllGraded(left)


def _watch(name: str, submitted: Path | None, students: list[str] | None, options, exchange: bool) -> None:
    """Grade what arrives, until a signal ends it."""
    from autograder.gradebook.exchange import Inbound  # start-up: nbgrader
    from autograder.grading.watching import SECONDS, Watch

    notebooks = find_notebooks(course_root(), name)
    chosen, titles = notebooks[0], {notebook.part: notebook.title for notebook in notebooks}
    folder = submitted or chosen.submitted
    if submitted and not folder.is_dir():
        raise CourseError(f"--submitted {folder}: there is no such folder.")
    for student in students or ():
        if Path(student).is_dir() and not (folder / student).is_dir():
            where = shlex.quote(student)
            raise CourseError(
                f"{student} is a folder, not a student: use `--watch --submitted {where}` to watch it."
            )
    ended: list[int] = []

    def end(number: int, frame: object) -> None:
        ended.append(number)  # nbgrader's commands hold back what is raised in them
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    count = 0
    try:
        inbound = Inbound(chosen) if exchange else None
        with Watch(chosen, folder, options, _say_now, students or (), inbound) as watched:
            watched.start()
            where = f"{folder.name}/ and the exchange" if inbound else f"{folder.name}/"
            _say_now(
                f"Watching {where} for {chosen.name}; feedback goes to {chosen.feedback('STUDENT').relative_to(chosen.root)}/. Stop with Ctrl+C."
            )
            while not ended:
                for arrival in watched.look():
                    count += 1
                    _say_now(arrival_line(arrival.student, arrival.results, titles))
                time.sleep(SECONDS)
    except KeyboardInterrupt:
        if not ended:
            raise
    console.print(Text(f"Stopped: {count} graded. Run the same command to continue."))


def _say_now(sentence: str) -> None:
    """A line with the time, at once. Rich would print it again after a signal that comes while it prints."""
    shown = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in sentence)
    print(f"{datetime.now():%H:%M:%S}  {shown}", flush=True)


def watch(name: Name) -> None:
    """Show the progress of an `autograder grade` that was started elsewhere, until it has finished.

    For another terminal, or a notebook in JupyterLab: `!autograder watch 02_attention`.
    """
    from autograder.grading.progress import follow  # start-up: psutil

    progress = None
    for progress in follow(find_notebooks(course_root(), name)[0]):
        line = Text(str(progress))
        if console.is_terminal:  # each takes the place of the one before
            line.pad_right(max(0, console.width - 1 - len(line)))
        if console.is_terminal and not progress.ended:
            line.truncate(console.width - 1, overflow="ellipsis")
            console.print(line, end="\r")
        else:
            console.print(line, soft_wrap=True)
    if progress is None:
        raise CourseError(f"{name} is not being graded: start with `autograder grade {shlex.quote(name)}`.")


def regrade(
    name: Name,
    students: Students = None,
    yes: Annotated[bool, typer.Option("--yes", help="Change the gradebook without asking.")] = False,
    submitted: Submitted = None,
    workers: Workers = None,
    scheduler: Scheduler = "",
    json_file: Json = None,
    isolation: Jail = "bwrap",
) -> None:
    """Grade again after you corrected an exercise: show whose scores would change, ask, then change them.

    Scores and comments given by hand, extra credit that was typed in and extensions are kept. Late penalties
    follow the course's rule and the new score; the table shows every penalty that changes. Several notebooks are graded one after
    the other.
    """
    from autograder.grading.regrade import regrade as run  # start-up: nbgrader
    from autograder.grading.run import NotAllGraded

    notebooks = find_notebooks(course_root(), name)
    folders, left = _find_folders(notebooks[0], submitted or notebooks[0].submitted, students)
    options = _options(isolation, workers, scheduler)
    shown: list[dict[str, object]] = []
    with _grading(notebooks[0], len(folders) * len(notebooks)) as (on_result, _, progress):
        for notebook in notebooks:
            in_it = f" in {notebook.file}" if notebook.part else ""

            def agree(changes, in_it=in_it, notebook=notebook) -> bool:
                progress.stop()
                if notebook.part:
                    console.print(Text(f"{notebook.file}:"))
                console.print(change_table(changes, notebook.title))
                if json_file:
                    where = {"notebook": notebook.part} if notebook.part else {}
                    shown.extend({**where, **vars(change)} for change in changes)
                    write_json(json_file, shown)
                count = len({change.student for change in changes})
                return yes or typer.confirm(f"Change the scores of {people(count)}{in_it} in the gradebook?")

            done = run(notebook, folders, options, on_result, agree)
            if not done.changes:
                console.print(Text(f"No score of {people(len(folders))}{in_it} would change."))
            elif not done.done:
                console.print(Text(f"Nothing was changed{in_it}."))
            if done.left:
                console.print(
                    Text(
                        f"Not changed, because they have handed in again in the meantime: {', '.join(done.left)}."
                    )
                )
            left += [one for one in done.not_graded if one not in left]
    if left:
        raise NotAllGraded(left)


def grade_mine(
    names: Names = None,
    isolation: Annotated[
        Isolation,
        typer.Option(help="bwrap: run the notebook in the jail, which your own code does not need."),
    ] = "none",
) -> None:
    """Grade your own answers in the released notebooks, for independent learners. Nothing is recorded."""
    from autograder.grading.engine import Engine  # start-up: the jail
    from autograder.grading.store import Store
    from autograder.registered import registered_release
    from autograder.untrusted.submission import read_submission

    root = course_root()
    results = []
    with progress_bar() as progress:
        chosen = chosen_assignments(root, names)
        task = progress.add_task("grading", total=len(chosen))
        for assignment in chosen:
            with Engine(assignment, Store(root / ".autograder" / "store"), isolation) as engine:
                mine = read_submission(
                    assignment.release.parent, assignment.called, assignment, registered_release(assignment)
                )
                results.append((engine.grade(mine), assignment.title))
            progress.advance(task)
    console.print(own_table(results))


def _registered(notebooks: Sequence[Assignment]) -> Sequence[Assignment]:
    """All of several notebooks, known to the gradebook before the first is graded: a hand-in is done when each of them is."""
    if len(notebooks) > 1:
        from autograder.gradebook.gradebook import register  # start-up: nbgrader

        for notebook in notebooks:
            register(notebook)
    return notebooks


def _say_what_next(assignment: Assignment, results: Collection[Result]) -> None:
    """The commands that usually follow."""
    name = assignment.argument
    waiting = any(verdict.status == Status.MANUAL for result in results for verdict in result.verdicts)
    steps = [
        f"autograder report {name}",
        *([f"autograder written {name}"] if waiting else []),
        f"autograder feedback {name}",
    ]
    console.print(Text(f"Next: {', '.join(steps)}"), soft_wrap=True)


def _find_folders(assignment: Assignment, submitted: Path, wanted: list[str] | None) -> tuple[dict, list]:
    """The folders of the wanted students; and whoever else may have handed in and cannot be graded."""
    from autograder.grading.run import find_submissions  # start-up: the jail, msgspec
    from autograder.untrusted.submission import left_out

    folders = find_submissions(assignment, submitted, wanted or [])
    return folders, [] if wanted else left_out(submitted, assignment.name)


def _options(isolation: Isolation, workers: int | None, scheduler: str, fresh: bool = False):
    from autograder.grading.run import Options  # start-up: as above

    if workers and scheduler:
        raise CourseError(
            "--workers starts workers on this machine, --scheduler uses those of a cluster: choose one."
        )
    return Options(isolation, workers, scheduler, fresh)


@contextmanager
def _grading(assignment: Assignment, total: int) -> Iterator[tuple[Callable, Counter, Progress]]:
    """A progress bar, what to call with each result, and what was counted. `watch` sees the same."""
    from autograder.grading.progress import Record  # start-up: psutil

    counted: Counter[str] = Counter()
    title = f"grading {assignment.name}"
    with (
        Record(assignment, title, total) as record,
        progress_bar(TextColumn("{task.fields[troubled]}")) as progress,
    ):
        task = progress.add_task(escape(title), total=total, troubled="")

        def on_result(result) -> None:
            counted["done"] += 1
            if counted["done"] == 1 and not progress.console.is_terminal:
                teller(progress)(
                    f"The first notebook has been graded; `autograder watch {assignment.argument}` shows the progress of the run."
                )
            counted["troubled"] += result.trouble
            record.add(result.trouble)
            troubled = f"{counted['troubled']} could not be run to the end" if counted["troubled"] else ""
            progress.update(task, advance=1, troubled=troubled)

        yield on_result, counted, progress
