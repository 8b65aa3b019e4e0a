"""The command `autograder`: build the notebooks, grade submissions, report and export."""

import errno
import json
import os
import sys
import threading
import webbrowser
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from autograder import startup  # noqa: F401
from autograder.checks.status import Status
from autograder.course import Assignment, assignment, assignments, course_root
from autograder.errors import CourseError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Build and grade the notebooks of a course.",
)
console = Console()


class Isolation(StrEnum):
    bwrap = "bwrap"
    none = "none"


class Likeness(StrEnum):
    meaning = "meaning"
    words = "words"


class Destination(StrEnum):
    canvas = "canvas"
    moodle = "moodle"
    csv = "csv"


Names = Annotated[list[str] | None, typer.Argument(help="Assignments, such as 02_attention. Default: all.")]
Name = Annotated[str, typer.Argument(metavar="ASSIGNMENT", help="Such as 02_attention.")]
Students = Annotated[list[str] | None, typer.Argument(metavar="[STUDENT]...", help="Default: everyone.")]
Submitted = Annotated[Path | None, typer.Option(help="Folder with STUDENT/ASSIGNMENT/. Default: submitted/.")]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Notebooks that run at once on this machine. Default: one per core.")
]
Scheduler = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Grade on the workers of a Dask cluster: tcp://host:port.")
]
Seeds = Annotated[int, typer.Option(min=1, help="On how many draws of the inputs known answers are tried.")]
Json = Annotated[Path | None, typer.Option("--json", help="Also write the results to this file.")]
OnlyExercises = Annotated[
    list[str] | None,
    typer.Option("--exercise", help="Only this one, such as attention.entropy; may be repeated."),
]
Jail = Annotated[Isolation, typer.Option(help="none runs students' code with your rights.")]


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="Where; made if it is missing.")] = Path("."),
) -> None:
    """Begin a course in an empty folder: settings, and one assignment that can be built and graded at once."""
    from autograder.authoring.init import begin_course

    for path in begin_course(folder):
        console.print(f"wrote {path}", highlight=False, soft_wrap=True)
    console.print("Next, in that folder: `autograder build`; its README.md says how to go on.")


@app.command()
def demo(
    name: Annotated[str, typer.Argument(metavar="[ASSIGNMENT]", help="Default: a small one.")] = "",
    folder: Annotated[
        Path | None, typer.Option(help="Where; it must be empty. Default: a temporary folder.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the report and one feedback in the browser.")] = True,
    isolation: Jail = Isolation.bwrap,
) -> None:
    """Look at everything before reading anything: a made-up class of twenty, graded, with report and feedback.

    Some are right, some make known mistakes, some hand in late, nothing, a broken file, or an attack. They are collected
    as from Moodle, graded in the jail and packed for Moodle, in a copy of this course; the course stays as it is.
    """
    import tempfile

    from autograder.authoring.demo import run

    where = folder or Path(tempfile.mkdtemp(prefix="autograder-demo-"))
    shown = run(course_root(), where, name, isolation.value, lambda words: _say_lines([words]))
    _say_lines(
        [
            "",
            f"Report    {shown.report}",
            *(f"Feedback  {page}  ({kind})" for kind, page in shown.pages.items()),
            f"For Moodle: {shown.packed}",
            f"In JupyterLab, with formgrader: cd {shown.folder} && jupyter lab",
        ]
    )
    if browser and _has_display():
        pages = list(shown.pages.values())
        for page in (
            shown.report,
            next((page for kind, page in shown.pages.items() if "mistake" in kind), pages[0]),
        ):
            typer.launch(page.as_uri())


def _has_display() -> bool:
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


@app.command()
def doctor(isolation: Jail = Isolation.bwrap) -> None:
    """Say whether grading would work on this machine: a line for each thing that it needs, and what to do.

    ✓ is well, ! cannot be done here although grading can, ✗ stops grading; then the exit status is 1. The jail is not
    asked for but built, and a notebook is run in it.
    """
    from autograder.doctor import State, examine

    states = []
    for finding in examine(course_root(), isolation.value):
        states.append(finding.state)
        _say_lines([str(finding)])
    works = State.BAD not in states
    _say_lines(["Grading works on this machine." if works else "Grading would not work: mend what has a ✗."])
    if not works:
        raise typer.Exit(1)


@app.command()
def build(
    names: Names = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 if a product is stale.")
    ] = False,
    seeds: Seeds = 300,
) -> None:
    """Make notebooks and answer keys from their sources.

    Refuses, and changes nothing of that notebook, when a mistake cannot be told from the right answer or from another
    one, when a variant does not run, or when the verdict on a known answer would depend on the inputs that are drawn
    (`autograder rates` says more). That trial is made once after each change; `.tried.json` beside the source, which
    belongs into the course's repository, remembers it.
    """
    from autograder.authoring import builder
    from autograder.authoring.rates import require_no_luck
    from autograder.authoring.reference import own_server
    from autograder.grading.stale import stale_scores

    root = course_root()
    chosen = _chosen(root, names)
    complaints, warnings = [], []
    with own_server(root) as server, _progress() as progress:
        task = progress.add_task("building", total=len(chosen) + 1)
        for one in chosen:
            progress.update(task, description=one.name)
            if check:
                complaints += builder.stale(server, one)
            else:
                made = builder.products(server, one, builder.generate(one))
                trying = progress.add_task(f"  on {seeds} draws of the inputs", total=len(one.exercises))
                require_no_luck(one, seeds, lambda done, _, t=trying: progress.update(t, completed=done))
                progress.remove_task(trying)
                builder.put(made)
                warnings += filter(None, [stale_scores(one)])
            progress.advance(task)
        if not check:
            builder.build_start_page(root)
        elif builder.StartPage(root).stale:
            complaints.append(
                f"{builder.StartPage(root).release.relative_to(root)} is not what its source gives"
            )
        progress.advance(task)
    for complaint in complaints:
        console.print(f"[red]stale[/red] {complaint}: run `autograder build`", highlight=False)
    _warn(warnings)
    if complaints:
        raise typer.Exit(1)


@app.command()
def collect(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A zip archive, or a folder.")],
    name: Annotated[
        str, typer.Argument(metavar="[ASSIGNMENT]", help="Default: what each notebook is called after.")
    ] = "",
    names: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE.csv",
            help="Moodle's grading worksheet or Canvas' exported gradebook: who is who, and with Moodle's also when.",
        ),
    ] = None,
) -> None:
    """Put what Moodle or Canvas lets you download into submitted/, where `autograder grade` looks for it.

    - Moodle: View all submissions, Download all submissions.
    - Canvas: the assignment's Download Submissions.
    - or STUDENT/ASSIGNMENT.ipynb, as a folder or in an archive; STUDENT is the student's id.

    Students are found in nbgrader's gradebook by their names, or by TABLE.csv. Of several notebooks the last counts. What
    cannot be matched is named, stops nothing else, and the exit status is 1.
    """
    from autograder.gradebook.collect import collect as run
    from autograder.gradebook.collect import explain
    from autograder.gradebook.gradebook import open_gradebook
    from autograder.gradebook.roster import read_table

    root = course_root()
    wanted = assignment(root, name).name if name else ""
    with open_gradebook(root) as gradebook:
        done = run(root, source, gradebook, wanted, read_table(names) if names else {})
    _say_lines(explain(done))
    _complain_of(done.left, "could not be matched")


@app.command()
def grade(
    name: Name,
    students: Students = None,
    submitted: Submitted = None,
    workers: Workers = None,
    scheduler: Scheduler = "",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run everything again, also what has not changed.")
    ] = False,
    json_file: Json = None,
    isolation: Jail = Isolation.bwrap,
) -> None:
    """Grade submissions in the jail and record them in nbgrader's gradebook.

    Each student is recorded as soon as the grade is known. A run that was interrupted or killed goes on
    where it was: what was graded is kept in .autograder/store, by what was handed in and the rules, and run
    again only when either has changed.

    A cluster's workers need the same checkout and the same environment as this machine: start them there
    with `dask worker tcp://host:port`. docs/grading.md says more.
    """
    from autograder.grading.run import NotAllGraded, grade_class

    root = course_root()
    chosen = assignment(root, name)
    folders, left = _found(chosen, submitted or root / "submitted", students)
    options = _options(isolation, workers, scheduler, fresh)
    with _grading(chosen, len(folders)) as (on_result, counted, progress):
        tell = _teller(progress)
        tell(f"{name}: {_people(len(folders))} in {submitted or 'submitted/'}.")
        try:
            results = grade_class(chosen, folders, options, on_result, tell)
        except KeyboardInterrupt:
            progress.stop()
            console.print(
                f"Interrupted: {counted['done']} of {len(folders)} are recorded; the next run goes on."
            )
            raise typer.Exit(130) from None
        except NotAllGraded as error:
            results = error.results
            left += error.left
    if json_file:
        report = {"assignment": name, "submissions": [result.to_json() for result in results]}
        report["not_graded"] = [asdict(one) for one in left]
        json_file.write_text(json.dumps(report, indent=1), encoding="utf-8")
    console.print(_table(results))
    from autograder.grading.stale import stale_scores  # here, because the gradebook's library takes a second

    _warn(filter(None, [stale_scores(chosen)]))  # of those who were not graded now
    if left:
        raise NotAllGraded(left)


@app.command()
def watch(name: Name) -> None:
    """Show how far a run of `autograder grade` is that was started elsewhere, until it ends.

    For another terminal, or a notebook in JupyterLab: `!autograder watch 02_attention`.
    """
    from autograder.grading.progress import follow

    shown = None
    for shown in follow(assignment(course_root(), name)):
        line = Text(str(shown))
        if console.is_terminal:  # each takes the place of the one before
            line.pad_right(max(0, console.width - 1 - len(line)))
        if console.is_terminal and not shown.ended:
            line.truncate(console.width - 1, overflow="ellipsis")
            console.print(line, end="\r")
        else:
            console.print(line, soft_wrap=True)
    if shown is None:
        raise CourseError(f"No run of {name} is known: `autograder grade {name}` starts one.")


@app.command()
def regrade(
    name: Name,
    students: Students = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before the gradebook is changed.")] = False,
    submitted: Submitted = None,
    workers: Workers = None,
    scheduler: Scheduler = "",
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the changes to this file.")
    ] = None,
    isolation: Jail = Isolation.bwrap,
) -> None:
    """After an exercise was corrected: show whose score would change, ask, then change it.

    Scores and comments given by hand, extra credit that was typed in and extensions stay. Late penalties
    follow the course's rule and the new score; where they change the table says so.
    """
    from autograder.grading.regrade import regrade as run
    from autograder.grading.run import NotAllGraded

    root = course_root()
    chosen = assignment(root, name)
    folders, left = _found(chosen, submitted or root / "submitted", students)
    with _grading(chosen, len(folders)) as (on_result, _, progress):

        def agree(changes) -> bool:
            progress.stop()
            console.print(_changes(changes))
            if json_file:
                json_file.write_text(json.dumps([vars(change) for change in changes], indent=1), "utf-8")
            count = len({change.student for change in changes})
            return yes or typer.confirm(f"Change what the gradebook holds of {_people(count)}?")

        done = run(chosen, folders, _options(isolation, workers, scheduler), on_result, agree)
    if not done.changes:
        console.print(f"Nothing would change for any of {_people(len(folders))}.")
    elif not done.done:
        console.print("Nothing was changed.")
    if done.left:
        console.print(Text(f"Handed in anew meanwhile, and left as before: {', '.join(done.left)}."))
    if left + done.not_graded:
        raise NotAllGraded(left + done.not_graded)


@app.command()
def report(
    name: Name,
    output: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
) -> None:
    """One page about a graded assignment, for the instructor: it names students and shows their work.

    Scores, each exercise's success, the most frequent mistakes by name, slow and failed submissions, and
    groups that are nearly the same. The page needs nothing else and no network.
    """
    from autograder.report import write_report

    write_report(assignment(course_root(), name), output)
    console.print(f"wrote {output}")


@app.command()
def written(
    name: Name,
    by: Annotated[
        Likeness, typer.Option(help="What makes answers alike: meaning needs c.Autograder.sentence_encoder.")
    ] = Likeness.meaning,
    again: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the answers offered for a second, blind reading.")
    ] = 0.05,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Default: any that is free.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Only say how far second readings agree with first ones.")
    ] = False,
) -> None:
    """Grade written answers in a browser: one question over the whole class, like answers side by side, no names.

    A person reads, and gives points to a group or to one answer; groups can be split and joined. Nothing is scored by a
    machine. Points and comments go into nbgrader's gradebook at once, so the page can be closed at any time. Several
    people may grade at a time. docs/written.md says more.
    """
    from autograder.written.likeness import course_encoder
    from autograder.written.server import Room, Server

    chosen = assignment(course_root(), name)
    _require_graded(chosen)
    room = Room(chosen, course_encoder(chosen) if by is Likeness.meaning else None, again)
    if agreement:
        console.print(_agreements(room.agreement()))
        return
    with Server(room, port).running() as server:
        console.print(f"Open {server.address}", highlight=False, soft_wrap=True)
        console.print("Who has this address can grade. Ctrl+C ends the page; all that was given is kept.")
        if browser:
            webbrowser.open(server.address)
        try:
            room.prepare(
                lambda question: console.print(f"grouped the answers to {question}", highlight=False)
            )
            console.print(escape(room.problem) if room.problem else "All are ready.")
            threading.Event().wait()
        except KeyboardInterrupt:
            console.print("Ended.")


@app.command()
def export(
    name: Name,
    to: Annotated[Destination, typer.Option(help="For whom the file is.")],
    output: Annotated[
        Path | None, typer.Option(help="The file to write. Default: canvas.csv, moodle.csv or grades.csv.")
    ] = None,
    column: Annotated[
        str, typer.Option(help="What the assignment's column is called there. Default: its name.")
    ] = "",
    unfinished: Annotated[
        bool,
        typer.Option("--unfinished", help="Also who still waits for grading by hand: the points so far."),
    ] = False,
) -> None:
    """Write the scores, after late penalties, as a file that another system imports.

    - canvas, for its page Grades, Import: students are found by the column ID (nbgrader's lms_user_id), or else
      by SIS Login ID (nbgrader's student id). The assignment is found by its title, as in "Attention (1234)" in
      Canvas' own export; another title makes a new assignment.
    - moodle, for its page Grades, Import, CSV file: map from "ID number" (nbgrader's student id) to the ID number
      or the user name, or from "Email address". Map the column to a grade item with the same maximum.
    - csv: everybody in the gradebook, with nbgrader's own columns.

    Who still waits for grading by hand, or handed in nothing, has no line for Canvas and Moodle. A text that
    begins like a formula (= + - @) gets an apostrophe in front.
    """
    from autograder.gradebook.export import EXPORTERS
    from autograder.gradebook.gradebook import open_gradebook

    root = course_root()
    chosen = assignment(root, name)
    exporter = EXPORTERS[to.value](column=column, unfinished=unfinished, assignment=[chosen.name])
    exporter.to = str(output or exporter.default_file)
    with open_gradebook(root) as gradebook:
        exporter.export(gradebook)
    console.print(f"wrote {exporter.to}")
    if exporter.waiting:
        console.print(Text(f"Left out, for they wait for grading by hand: {', '.join(exporter.waiting)}."))
    if exporter.missing:
        console.print(Text(f"Handed in nothing: {', '.join(exporter.missing)}."))
    if exporter.marked:
        console.print(Text(f"Got an apostrophe, and will not be found: {', '.join(exporter.marked)}."))


@app.command()
def feedback(
    name: Name,
    students: Students = None,
    packed: Annotated[
        bool, typer.Option("--zip", help="Also pack them the way Moodle or Canvas takes them back.")
    ] = False,
    output: Annotated[Path, typer.Option(help="The folder for the archives.")] = Path("."),
) -> None:
    """Make a page of feedback for each graded student, with every verdict and its reason, in feedback/.

    With --zip also one archive for the system that `autograder collect` had the hand-ins from.

    - Moodle: View all submissions, Upload multiple feedback files in a zip; the assignment's feedback type Feedback files
      must be on.
    - Canvas: the assignment's Upload Submissions (after Download Submissions). It shows each page under the name of the
      file that was handed in.
    """
    from autograder.gradebook.feedback import graded_students, make_pages, pack

    one = assignment(course_root(), name)
    with _progress() as progress:
        task = progress.add_task("feedback", total=len(students or graded_students(one)))
        made, left = make_pages(one, students or [], lambda student: progress.advance(task))
    _say_lines([f"{len(made)} page{'' if len(made) == 1 else 's'} in feedback/STUDENT/{name}/."])
    if packed:
        archives = pack(one, made, output)
        left += archives.left
        _say_lines(f"wrote {path}: {count} of them" for path, count in archives.archives.items())
    _complain_of(left, "not packed" if packed else "without a page")


@app.command("grade-mine")
def grade_mine(
    names: Names = None,
    isolation: Annotated[Isolation, typer.Option(help="Your own code needs no jail.")] = Isolation.none,
) -> None:
    """Grade the notebooks of the release where they lie, for those who learn alone. Records nothing."""
    from autograder.grading.engine import Engine
    from autograder.grading.original import original
    from autograder.grading.store import Store
    from autograder.untrusted.submission import read_submission

    root = course_root()
    results = []
    with _progress() as progress:
        chosen = _chosen(root, names)
        task = progress.add_task("grading", total=len(chosen))
        for one in chosen:
            with Engine(one, Store(root / ".autograder" / "store"), isolation.value) as engine:
                mine = read_submission(one.release.parent, one.name, one, original(one))
                results.append(engine.grade(mine))
            progress.advance(task)
    console.print(_table(results, first_column="notebook"))


@app.command("try")
def try_exercises(
    exercises: Annotated[list[str], typer.Argument(help="Exercises, such as attention.entropy.")],
    seeds: Seeds = 300,
    json_file: Json = None,
) -> None:
    """Say of single exercises, in seconds, what has to hold and whether it does. Writes no notebook and no key.

    Mistakes and lazy answers are never right, alternatives always, whatever inputs are drawn; mistakes are told apart;
    small changes of the solution are noticed, or `survivors` says why they are as right.
    """
    from autograder.authoring.trial import explain, find_exercises, try_exercise

    trials = []
    for home, name in find_exercises(course_root(), exercises):
        with _progress() as progress:
            task = progress.add_task(name, total=None)
            trials.append(
                try_exercise(
                    home,
                    name,
                    seeds,
                    lambda what, t=task, p=progress, n=name: p.update(t, description=f"{n}: {what}"),
                )
            )
        console.print(explain(trials[-1]))
    if json_file:
        json_file.write_text(json.dumps([trial.to_json() for trial in trials], indent=1), encoding="utf-8")
    if not all(trial.holds for trial in trials):
        raise typer.Exit(1)


@app.command()
def mutants(
    names: Names = None,
    exercise: OnlyExercises = None,
    json_file: Json = None,
) -> None:
    """Change the solutions in every small way and report the share that the checks catch.

    Fails if a change goes unnoticed and its exercise does not say why it is as right (`survivors`). What was found for a
    whole assignment is kept in `.tried.json` beside its source, which belongs into the course's repository.
    """
    from autograder.authoring.mutants import explain, run

    reports = []
    for one, chosen in _chosen_exercises(names, exercise):
        with _progress() as progress:
            task = progress.add_task(f"mutating {one.name}", total=None)
            report = run(
                one, lambda done, total, t=task, p=progress: p.update(t, completed=done, total=total), chosen
            )
        if len(chosen) == len(one.exercises):
            report.keep(one)
        reports.append(report)
        console.print(explain(report))
    if json_file:
        json_file.write_text(json.dumps([report.to_json() for report in reports], indent=1), encoding="utf-8")
    if any(report.unexplained for report in reports):
        raise typer.Exit(1)


@app.command()
def rates(
    names: Names = None,
    exercise: OnlyExercises = None,
    seeds: Seeds = 300,
    natural: Annotated[
        Path | None,
        typer.Option(
            help="A Python file with WRONG and RIGHT, {exercise: {what is special: cell}}: try those, too."
        ),
    ] = None,
    workers: Workers = None,
    json_file: Json = None,
) -> None:
    """On how many seeds is each mistake, lazy answer and right answer judged right? Only none and all are allowed.

    "rounding" says whether an answer stays when its inputs move by the last bit of a number, as on another processor.
    """
    from autograder.authoring.rates import assignment_rates, read_natural, seeds_from

    wrong, right = read_natural(natural) if natural else ({}, {})
    tried = []
    for one, chosen in _chosen_exercises(names, exercise):
        with _progress() as progress:
            task = progress.add_task(f"{one.name}, {seeds} seeds", total=len(chosen))
            tried += assignment_rates(
                one,
                seeds_from(0, seeds),
                chosen,
                wrong,
                right,
                workers,
                lambda done, total, t=task, p=progress: p.update(t, completed=done),
            )
    if json_file:
        json_file.write_text(json.dumps([rate.to_json() for rate in tried], indent=1), encoding="utf-8")
    broken = [rate for rate in tried if not rate.holds]
    for rate in broken:
        console.print(f"[red]luck[/red] {escape(str(rate))}", highlight=False, soft_wrap=True)
    counts = Counter(rate.kind for rate in tried)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    console.print(
        f"{len({rate.exercise for rate in tried})} exercises, {seeds} seeds: {kinds}; {len(broken)} do not hold."
    )
    if broken:
        raise typer.Exit(1)


@app.command("student-release")
def student_release(
    target: Annotated[
        Path | None, typer.Argument(help="The zip file to write. Default: dist/COURSE-student.zip.")
    ] = None,
    alone: Annotated[
        bool,
        typer.Option(
            "--alone", help="For those who learn alone: with functions to borrow, and the keys to them."
        ),
    ] = False,
) -> None:
    """Pack what students get: notebooks, answer keys and what notebooks need, without solutions."""
    from autograder.authoring.release import student_release as pack

    console.print(f"wrote {pack(target, alone)}")


@app.command()
def lend(
    name: Name,
    early: Annotated[
        bool, typer.Option("--early", help="Also before the time in c.Autograder.lend_from.")
    ] = False,
) -> None:
    """Print the line with which students borrow working functions of a notebook: publish it when they may.

    It needs c.Autograder.lend = "key" in nbgrader_config.py before the notebook is handed out. What is borrowed earns
    nothing; who has the key can read the functions, too, so publish it when nothing can be handed in any more, or where
    that does not matter.
    """
    from autograder.authoring.lending import published_key

    key = published_key(assignment(course_root(), name), early)
    console.print(f'borrow(key="{key}")', highlight=False, soft_wrap=True)


def _found(one: Assignment, submitted: Path, wanted: list[str] | None) -> tuple[dict, list]:
    """The folders of the wanted students; and whoever else may have handed in and cannot be graded."""
    from autograder.grading.run import find_submissions
    from autograder.untrusted.submission import left_out

    folders = find_submissions(one, submitted, wanted or [])
    return folders, [] if wanted else left_out(submitted, one.name)


def _chosen(root: Path, names: Iterable[str] | None) -> list[Assignment]:
    return [assignment(root, name) for name in names] if names else assignments(root)


def _chosen_exercises(
    names: Iterable[str] | None, exercises: list[str] | None
) -> list[tuple[Assignment, list[str]]]:
    """The chosen assignments, each with its exercises, or with those of `exercises`; without those that have none."""
    from autograder.authoring.trial import find_exercises

    root = course_root()
    if exercises:
        find_exercises(root, exercises)
    pairs = [
        (one, [name for name in one.exercises if not exercises or name in exercises])
        for one in _chosen(root, names)
    ]
    if not any(chosen for _, chosen in pairs):
        raise CourseError(
            f"{', '.join(names or [])} has none of these exercises: {', '.join(exercises or ['any'])}."
        )
    return [(one, chosen) for one, chosen in pairs if chosen]


def _progress(*more: ProgressColumn) -> Progress:
    # A notebook lays each line over the one before, colours and all: every line has the same length.
    plain = Console(stderr=True, color_system=None)
    columns = (TextColumn("{task.description}"), BarColumn(None), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, *more, console=plain, transient=True, expand=True)


def _options(isolation: Isolation, workers: int | None, scheduler: str, fresh: bool = False):
    from autograder.grading.run import Options

    if workers and scheduler:
        raise CourseError("--workers starts workers here, --scheduler uses those of a cluster: choose one.")
    return Options(isolation.value, workers, scheduler, fresh)


@contextmanager
def _grading(one: Assignment, total: int) -> Iterator[tuple[Callable, Counter, Progress]]:
    """A progress bar, what to call with each result, and what was counted. `watch` sees the same."""
    from autograder.grading.progress import Record

    counted, title = Counter(), f"grading {one.name}"
    with Record(one, title, total) as record, _progress(TextColumn("{task.fields[troubled]}")) as progress:
        task = progress.add_task(title, total=total, troubled="")

        def on_result(result) -> None:
            counted["done"] += 1
            if counted["done"] == 1 and not progress.console.is_terminal:
                _teller(progress)(f"The first is graded; `autograder watch {one.name}` shows how far it is.")
            counted["troubled"] += result.trouble
            record.add(result.trouble)
            troubled = f"{counted['troubled']} could not be run to the end" if counted["troubled"] else ""
            progress.update(task, advance=1, troubled=troubled)

        yield on_result, counted, progress


def _teller(progress: Progress) -> Callable[[str], None]:
    """Says what is being done, on a terminal above the bar."""
    return lambda words: progress.console.print(Text(words), soft_wrap=True)


def _require_graded(one: Assignment) -> None:
    from autograder.gradebook.gradebook import recorded_students

    if not recorded_students(one):
        raise CourseError(f"Nobody's {one.name} has been graded: run `autograder grade {one.name}` first.")


def _agreements(rows: list[dict]) -> Table | str:
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


def _warn(warnings: Iterable[object]) -> None:
    for warning in warnings:
        console.print(f"[yellow]stale[/yellow] {escape(str(warning))}", highlight=False)


def _say_lines(lines: Iterable[str]) -> None:
    """Students' names are no commands to the terminal."""
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _complain_of(left: Iterable[object], what: str) -> None:
    """Name what is left, and end with status 1 if there is any."""
    if left := list(left):
        _say_lines([f"{len(left)} {what}:", *(f"  {one}" for one in left)])
        raise typer.Exit(1)


def _people(count: int) -> str:
    return "1 student" if count == 1 else f"{count} students"


def _changes(changes) -> Table:
    """Before and after, student by student."""
    table = Table(box=None, header_style="bold")
    for column in ("student", "exercise"):
        table.add_column(column)
    for column in ("before", "after"):
        table.add_column(column, justify="right")
    table.add_column("why")
    shown = ""
    for change in changes:
        student = "" if change.student == shown else change.student
        shown = change.student
        numbers = ["–" if score is None else f"{score:g}" for score in (change.before, change.after)]
        style = "bold" if change.what == "total" else ""
        table.add_row(Text(student), change.what, *numbers, Text(change.why), style=style)
    return table


def _table(results, first_column: str = "student") -> Table:
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


def _reasons(result) -> str:
    """What was lost and why; cells that share a reason share a line."""
    from autograder.grading.history import in_short

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


def main() -> None:
    """Our own errors end with one sentence and exit status 1."""
    from autograder.jail.outside.client import JailError, ServerDied

    try:
        app()
    except (CourseError, ServerDied) as error:
        _complain(str(error))
    except ModuleNotFoundError as error:
        if find_spec("nbgrader"):
            raise
        _complain(f"This needs the package {error.name}: `pip install 'words-in-context[grading]'`.")
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
