"""Commands for who writes exercises: build, try, and pack what students get."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from autograder.cli.options import (
    Json,
    Name,
    Names,
    OnlyExercises,
    Seeds,
    Workers,
    chosen_assignments,
    write_json,
)
from autograder.cli.terminal import console, counter, describer, progress_bar, warn_of_old_points
from autograder.course import Assignment, course_root, find_notebooks
from autograder.errors import CourseError
from autograder.source import read_source


def build(
    names: Names = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Change nothing; exit with status 1 if a notebook or key is out of date."
        ),
    ] = False,
    seeds: Seeds = 20,
) -> None:
    """Make notebooks and answer keys from their sources.

    A notebook is left as it was, and the command says why, if a known mistake gives the same results as the right answer
    or as another mistake, if a variant does not run, or if the verdict on a known answer depends on the inputs that are
    drawn. Before a release, try many more draws with `autograder rates`.
    """
    from autograder.authoring import builder  # start-up: nbgrader
    from autograder.authoring.rates import require_no_luck
    from autograder.generating import generate
    from autograder.grading.old_points import scores_with_old_points
    from autograder.grading.reference import own_server

    root = course_root()
    chosen = chosen_assignments(root, names)
    complaints: list[str] = []
    warnings: list[object] = []
    with own_server(root) as server, progress_bar() as progress:
        task = progress.add_task("building", total=len(chosen) + 1)
        for assignment in chosen:
            progress.update(task, description=escape(assignment.called))
            if check:
                complaints += builder.stale(server, assignment)
            else:
                made = builder.products(server, assignment, generate(assignment))
                trying = progress.add_task(
                    f"  on {seeds} draws of the inputs", total=len(assignment.exercises)
                )
                require_no_luck(assignment, seeds, counter(progress, trying))
                progress.remove_task(trying)
                builder.put(made)
                warnings += filter(None, [scores_with_old_points(assignment)])
            progress.advance(task)
        page = builder.start_page(root)
        if not check:
            builder.put(page)
        else:
            complaints += (
                f"{path.relative_to(root)} differs from what its source generates"
                for path, content in page.items()
                if not path.exists() or path.read_bytes() != content
            )
        progress.advance(task)
    for complaint in complaints:
        console.print(f"[red]stale[/red] {complaint}: run `autograder build`", highlight=False)
    warn_of_old_points(warnings)
    if complaints:
        raise typer.Exit(1)


def try_exercises(
    exercises: Annotated[list[str], typer.Argument(help="Exercises, such as attention.entropy.")],
    seeds: Seeds = 300,
    json_file: Json = None,
) -> None:
    """Test single exercises in seconds, without writing a notebook or a key.

    On every draw of the inputs, known mistakes and lazy answers must be judged wrong, and alternatives right. Each mistake
    must be distinguishable from the others. Small changes to the solution must be noticed, unless `survivors` explains
    why the changed solution is right, too.
    """
    from autograder.authoring.trial import find_exercises, trial_table, try_exercise  # start-up: nbgrader

    trials = []
    for home, name in find_exercises(course_root(), exercises):
        with progress_bar() as progress:
            task = progress.add_task(name, total=None)
            trials.append(try_exercise(home, name, seeds, describer(progress, task, name)))
        console.print(trial_table(trials[-1]))
    if json_file:
        write_json(json_file, [trial.to_json() for trial in trials])
    if not all(trial.holds for trial in trials):
        raise typer.Exit(1)


def mutants(
    names: Names = None,
    exercise: OnlyExercises = None,
    json_file: Json = None,
) -> None:
    """Make small changes to the solutions (mutants) and report how many of them the checks catch.

    The command fails if a mutant passes its check and the exercise does not explain (in `survivors`) why the mutant is right.
    """
    from autograder.authoring.mutants import judge_mutants, survivor_table  # start-up: nbgrader

    reports = []
    for assignment, chosen in chosen_exercises(names, exercise):
        with progress_bar() as progress:
            task = progress.add_task(f"mutating {escape(assignment.called)}", total=None)
            report = judge_mutants(assignment, counter(progress, task), chosen)
        reports.append(report)
        console.print(survivor_table(report))
    if json_file:
        write_json(json_file, [report.to_json() for report in reports])
    if any(report.unexplained for report in reports):
        raise typer.Exit(1)


def rates(
    names: Names = None,
    exercise: OnlyExercises = None,
    seeds: Seeds = 300,
    natural: Annotated[
        Path | None,
        typer.Option(
            help="A YAML file with further answers to test, as students would write them, in the format of tests/natural."
        ),
    ] = None,
    workers: Workers = None,
    json_file: Json = None,
) -> None:
    """Count the seeds on which each known answer is judged right: a mistake must pass on none of them, a right answer on all.

    "rounding" tests whether a verdict changes when the last bit of an input does, as it may on another processor.
    "generic" stands for small changes to the solution that nobody listed, such as a missing keyword argument or a loop that
    ends too soon.
    """
    from autograder.authoring.natural import cells, read_natural  # start-up: the jail
    from autograder.authoring.rates import assignment_rates, seeds_from
    from autograder.grading.reference import solution_sources

    tried = []
    for assignment, chosen in chosen_exercises(names, exercise):
        answers = read_natural(natural, solution_sources(assignment)) if natural else []
        with progress_bar() as progress:
            task = progress.add_task(f"{escape(assignment.called)}, {seeds} seeds", total=len(chosen))
            on_progress = counter(progress, task)
            tried += assignment_rates(
                assignment,
                seeds_from(0, seeds),
                chosen,
                cells(answer for answer in answers if not answer.right),
                cells(answer for answer in answers if answer.right),
                workers,
                on_progress,
                generic=seeds,
            )
    if json_file:
        write_json(json_file, [rate.to_json() for rate in tried])
    broken = [rate for rate in tried if not rate.holds]
    for rate in broken:
        console.print(f"[red]luck[/red] {escape(str(rate))}", highlight=False, soft_wrap=True)
    counts = Counter(rate.kind for rate in tried)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    console.print(
        f"{len({rate.exercise for rate in tried})} exercises, {seeds} seeds: {kinds}; {len(broken)} of these answers break their rule."
    )
    if broken:
        raise typer.Exit(1)


def student_release(
    target: Annotated[
        Path | None, typer.Argument(help="The zip file to write. Default: dist/COURSE-student.zip.")
    ] = None,
    alone: Annotated[
        bool,
        typer.Option(
            "--alone", help="For independent learners: include functions to borrow, and their keys."
        ),
    ] = False,
) -> None:
    """Pack the zip file for students: notebooks, answer keys and everything that the notebooks need, without solutions."""
    from autograder.authoring.student_zip import write_student_zip  # start-up: nbgrader

    console.print(f"wrote {write_student_zip(target, alone)}")


def lend(
    name: Name,
    early: Annotated[
        bool, typer.Option("--early", help="Print the key even before the time in c.Autograder.lend_from.")
    ] = False,
) -> None:
    """Print the line with which students can borrow a notebook's working functions, for you to publish.

    Set c.Autograder.lend = "key" in nbgrader_config.py before you hand out the notebook. Borrowed functions earn no points.
    Anyone who has the key can also read the functions, so publish it after the last submission, or when it does not matter that students can read them.
    """
    from autograder.authoring.lending import published_key  # start-up: cryptography

    for notebook in find_notebooks(course_root(), name):
        if notebook.part and not notebook.exercises:
            continue  # it lends nothing
        comment = f"  # {notebook.file}" if notebook.part else ""
        key = published_key(notebook, early)
        console.print(f'borrow(key="{key}"){comment}', markup=False, highlight=False, soft_wrap=True)


def minutes(
    names: Names = None,
    by_section: Annotated[bool, typer.Option("--sections", help="Also show every section.")] = False,
) -> None:
    """Estimate how many minutes a student needs for each notebook.

    We assume that students read 150 words per minute, that an exercise takes the time that its docstring states, and that a written answer takes five minutes. The
    core path is everything outside sections whose headings begin with "Extension" or "Further".
    """
    from autograder.authoring.minutes import minutes as minutes_of  # start-up: what draws checks
    from autograder.authoring.minutes import sections

    table = Table(
        "notebook", *(("section",) if by_section else ()), "words", "exercises", "answers", "minutes"
    )
    for column in table.columns[-4:]:
        column.justify = "right"
    for assignment in chosen_assignments(course_root(), names):
        notebook = read_source(assignment.source)
        parts = list(sections(notebook))
        for part in parts if by_section else ():
            table.add_row(
                escape(assignment.called), part.title or "(beginning)", f"{part.word_count:,}", f"{part.exercises:g}",
                str(part.written), f"{part.minutes:.0f}{' further' if part.further else ''}",
            )  # fmt: skip
        core = [part for part in parts if not part.further]
        table.add_row(
            escape(assignment.called), *(("core path",) if by_section else ()),
            f"{sum(part.word_count for part in core):,}", f"{sum(part.exercises for part in core):g}",
            str(sum(part.written for part in core)),
            f"{minutes_of(notebook):.0f} + {minutes_of(notebook, further=True):.0f} further", end_section=by_section,
        )  # fmt: skip
    console.print(table)


def chosen_exercises(
    names: Iterable[str] | None, exercises: list[str] | None
) -> list[tuple[Assignment, list[str]]]:
    """The chosen assignments, each with its exercises, or with those of `exercises`; without those that have none."""
    from autograder.authoring.trial import find_exercises  # start-up: nbgrader

    root = course_root()
    if exercises:
        find_exercises(root, exercises)
    pairs = [
        (assignment, [name for name in assignment.exercises if not exercises or name in exercises])
        for assignment in chosen_assignments(root, names)
    ]
    if not any(chosen for _, chosen in pairs):
        raise CourseError(
            f"{', '.join(names or [])} has none of these exercises: {', '.join(exercises or ['any'])}."
        )
    return [(assignment, chosen) for assignment, chosen in pairs if chosen]
