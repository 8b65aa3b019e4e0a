"""`autograder try attention.entropy`: everything that has to hold for one exercise, in seconds.

The solution and its variants run in this process, as in `rates`; the mutants, which may loop forever, in a server.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from autograder.authoring import mutants
from autograder.authoring.builder import PUBLIC_SEED
from autograder.authoring.rates import Bench, Rate, exercise_rates, one_thread, seeds_from
from autograder.checks.answer_key import ExerciseKey
from autograder.checks.asking import Answer
from autograder.checks.judging import judge
from autograder.checks.status import Problem
from autograder.course import Assignment, assignments
from autograder.errors import CourseError
from autograder.exercise import Exercise
from autograder.grading.reference import BROKEN, exercise_key, faults, mistake_sources

FEWEST_MISTAKES, FEWEST_ALTERNATIVES, FEWEST_SHAPES = 6, 2, 3

KINDS = {
    "mistake": "mistakes never pass",
    "lazy": "lazy answers never pass",
    "alternative": "right answers always pass",
    "rounding": "verdicts never depend on the last bit of an input",
    "credit": "partial credit is never earned by chance",
    "generic": "mistakes that nobody listed are detected on every draw",
}


@dataclass(frozen=True)
class Requirement:
    """One thing that has to hold: of how much it was tried, of how much it holds, and a sentence for each exception."""

    what: str
    tried: int
    holding: int
    problems: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether there is no exception."""
        return not self.problems


@dataclass(frozen=True)
class Trial:
    """What was found out about one exercise."""

    exercise: str
    seeds: int
    requirements: tuple[Requirement, ...]

    @property
    def holds(self) -> bool:
        """Whether every requirement does."""
        return all(requirement.holds for requirement in self.requirements)

    def to_json(self) -> dict[str, Any]:
        """As `autograder try --json` writes it."""
        return {**asdict(self), "holds": self.holds}


def find_exercises(root: Path, names: Sequence[str]) -> list[tuple[Assignment, str]]:
    """The assignment of each exercise. Raises CourseError for a name that none has."""
    homes = {name: assignment for assignment in assignments(root) for name in assignment.exercises}
    for name in names:
        if name not in homes:
            topic = name.partition(".")[0]
            near = [other for other in homes if other.partition(".")[0] == topic] or list(homes)
            raise CourseError(f"There is no exercise {name!r}. Available: {', '.join(near) or 'none'}.")
    return [(homes[name], name) for name in names]


def try_exercise(
    assignment: Assignment,
    name: str,
    seeds: int,
    on_progress: Callable[[str], None] = lambda what: None,
) -> Trial:
    """Try one exercise on `seeds` draws of its inputs.

    Raises CourseError where nothing can be tried: an edit does not apply, the solution stops or has no clean answer.
    """
    one_thread()
    exercise = assignment.exercises[name]
    on_progress("the answer key")
    key = public_key(assignment, exercise)
    requirements = [_completeness(exercise), fingerprints(key)]
    on_progress(f"{seeds} draws of the inputs, and mutants")
    with ThreadPoolExecutor(1) as beside:  # the mutants run in a process of their own
        caught = beside.submit(mutants_caught, assignment, key)
        requirements += by_kind(exercise_rates(assignment, name, seeds_from(0, seeds), generic=seeds))
        requirements.append(caught.result())
    return Trial(name, seeds, tuple(requirements))


def public_key(assignment: Assignment, exercise: Exercise) -> ExerciseKey:
    """The exercise's answer key, recorded in this process. Raises CourseError if the solution's answers are not clean."""
    bench = Bench(assignment, exercise)
    cases = exercise.draw(PUBLIC_SEED)

    def answers() -> list[Answer]:
        return [bench.answer(case) for case in cases]

    recorded = {("", exercise.name, number): answer for number, answer in enumerate(answers())}
    sources = mistake_sources(assignment)[exercise.name]
    for variant, source in sources.items():
        if problem := bench.problem_in(source):
            wrong = [Answer(problem=Problem.EXCEPTION, message=BROKEN + problem)] * len(cases)
        else:
            wrong = answers()
        recorded |= {(variant, exercise.name, number): answer for number, answer in enumerate(wrong)}
    return exercise_key(exercise, tuple(cases), sources, recorded)


def incomplete(exercise: Exercise) -> Iterator[str]:
    """What is missing from an exercise, in sentences."""
    shapes = {
        tuple(value.shape for value in case.values() if isinstance(value, np.ndarray))
        for case in exercise.draw(PUBLIC_SEED)
    }
    for what, count, fewest in (
        ("shapes of inputs", len(shapes), FEWEST_SHAPES),
        ("mistakes", len(exercise.mistakes), FEWEST_MISTAKES),
        ("alternatives", len(exercise.alternatives), FEWEST_ALTERNATIVES),
    ):
        if count < fewest:
            yield f"{count} {what}: at least {fewest} are required."
    for what, texts in (
        ("mistakes", [mistake.hint for mistake in exercise.mistakes]),
        ("rungs", exercise.hints),
    ):
        if len(set(texts)) < len(texts):
            yield f"Two {what} have the same hint."
    if len(exercise.hints) != 4:
        yield f"{len(exercise.hints)} hints: a question, the shapes, pseudocode and a near miss are required."


def _completeness(exercise: Exercise) -> Requirement:
    problems = tuple(incomplete(exercise))
    return Requirement("complete", 1, int(not problems), problems)


def fingerprints(key: ExerciseKey) -> Requirement:
    """Each mistake is told from the right answer and from every other one, and is named as itself."""
    problems = list(faults(key))
    for mistake in key.mistakes if not problems else ():
        named = judge(mistake.answers, key.expected, key.rule, key.mistakes).mistake
        if named != mistake.name:
            problems.append(
                f"{key.name}, mistake {mistake.name!r}: its answers are not recognised as this mistake."
            )
    total = len(key.mistakes)
    return Requirement("mistakes distinguished", total, total - len(problems), tuple(problems))


def by_kind(rates: Sequence[Rate]) -> list[Requirement]:
    """A requirement for each kind of known answer."""
    kinds: Mapping[str, list[Rate]] = {kind: [rate for rate in rates if rate.kind == kind] for kind in KINDS}
    return [
        Requirement(
            KINDS[kind],
            len(tried),
            sum(rate.holds for rate in tried),
            tuple(str(rate) for rate in tried if not rate.holds),
        )
        for kind, tried in kinds.items()
        if tried
    ]


def mutants_caught(assignment: Assignment, key: ExerciseKey) -> Requirement:
    """Each small change of the solution is noticed, or the exercise says why it changes nothing."""
    report = mutants.judge_mutants(assignment, keys={key.name: key})
    problems = tuple(
        f"{key.name}: no case detects the change {change}. Add one that does, or explain in `survivors` why it is equally right."
        for _, change in report.unexplained
    )
    return Requirement("mutants caught, or explained", report.total, report.total - len(problems), problems)


def trial_table(trial: Trial) -> Group:
    """A table of what holds, and under it a sentence for each thing that does not."""
    title = f"{trial.exercise}, on {trial.seeds} draws of the inputs"
    table = Table(box=None, header_style="bold", title=title, title_justify="left")
    table.add_column("")
    table.add_column("requirement")
    table.add_column("holds", justify="right")
    for requirement in trial.requirements:
        sign = "[green]✓[/green]" if requirement.holds else "[red]✗[/red]"
        table.add_row(sign, escape(requirement.what), f"{requirement.holding} of {requirement.tried}")
    sentences = [problem for requirement in trial.requirements for problem in requirement.problems]
    return Group(table, *(Text(f"✗ {sentence}", style="red") for sentence in sentences))
