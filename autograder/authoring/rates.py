"""On how many seeds is each known answer judged right? A mistake and a lazy answer on none, a right one on all.

Inputs are drawn anew for each round of grading, so that an answer whose verdict depends on the seed is a matter of
luck for whoever hands it in. Here the solution and its variants run in this process, without a jail: all of it is
our own code.
"""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from operator import ne
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from autograder.authoring.generic import generic_mistakes
from autograder.authoring.lazy import lazy_answers
from autograder.authoring.mutants import MOST_SECONDS, mutants
from autograder.checks import recording
from autograder.checks.asking import Answer, Case, ask
from autograder.checks.comparing import Rule, compare, earned_credit, passes, recognised, same
from autograder.checks.measuring import measured
from autograder.checks.status import Problem
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.exercise import Exercise
from autograder.grading.reference import as_fingerprint, exercise_key, mistake_sources, solution_sources
from autograder.source import code_cells, grade_id, is_demo, read_source

NEVER = ("mistake", "lazy", "wrong", "generic")
NUDGES = 3  # of the public inputs, for each known answer
DELIBERATE_BITS = 12
"""A number that so few binary digits hold was written by a person, and stays as it is when inputs are nudged."""


@dataclass(frozen=True)
class Rate:
    """How often one known answer passed.

    kind    "mistake" and "lazy", which must never pass; "alternative", which must always; "rounding": the
            solution (or, on the public inputs, a mistake) answers the same when its inputs move by the last bit;
            "credit": a mistake earns the share of the points that is its own, and a lazy answer none, where the exercise
            gives any; "generic": a change of the solution that nobody listed, unless `survivors` says why it is as
            right; "wrong" and "right": answers that were given beside the exercise's own.
    """

    exercise: str
    variant: str
    kind: str
    seeds: int
    passed: int

    @property
    def wanted(self) -> int:
        """On how many seeds it has to pass: on none, or on all."""
        return 0 if self.kind in NEVER else self.seeds

    @property
    def holds(self) -> bool:
        """Whether the verdict never depends on the seed, and is the right one."""
        return self.passed == self.wanted

    def to_json(self) -> dict[str, Any]:
        """As `autograder rates --json` writes it."""
        return asdict(self)

    def __str__(self) -> str:
        does = "earns its own share of the points" if self.kind == "credit" else "passes"
        said = f"{self.exercise}, {self.kind} {self.variant!r}: {does} on {self.passed} of {self.seeds} seeds instead of {self.wanted}"
        remedy = ". Add a case on which it is wrong, or explain in `survivors` why it is equally right."
        return said + remedy if self.kind == "generic" else said


Cells = Mapping[str, Mapping[str, str]]
"""{exercise: {what is special: source of the cell}}"""


def seeds_from(first: int, count: int) -> list[int]:
    """The public seed, and `count` − 1 that no answer key was made with."""
    return [0, *(2**64 + first + 7919 * number for number in range(1, count))]


def assignment_rates(
    assignment: Assignment,
    seeds: Sequence[int],
    names: Sequence[str] = (),
    wrong: Cells | None = None,
    right: Cells | None = None,
    workers: int | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    generic: int = 0,
) -> list[Rate]:
    """The rates of an assignment's exercises, or of those in `names`; `wrong` and `right` are tried, too, and generic
    mistakes on the first `generic` of the seeds."""
    chosen = list(names or assignment.exercises)
    tasks = [
        (assignment, name, seeds, (wrong or {}).get(name, {}), (right or {}).get(name, {}), generic)
        for name in chosen
    ]
    rates: dict[str, list[Rate]] = {}
    workers = min(workers or os.cpu_count() or 1, len(tasks))
    if workers == 1:
        one_thread()
        for done, task in enumerate(tasks, 1):
            rates[task[1]] = exercise_rates(*task)
            on_progress(done, len(tasks))
    else:
        with ProcessPoolExecutor(workers, get_context("spawn"), one_thread_from_the_start) as pool:
            running = {pool.submit(exercise_rates, *task): task[1] for task in tasks}
            for done, future in enumerate(as_completed(running), 1):
                rates[running[future]] = future.result()
                on_progress(done, len(tasks))
    return [rate for name in chosen for rate in rates[name]]


def one_thread() -> None:
    """Small tensors are quicker with one thread than with two, and two processes beside each other need no more."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)


def one_thread_from_the_start() -> None:
    """The same in a process of our own, which imports torch later, or, for a course in numpy, never."""
    os.environ["OMP_NUM_THREADS"] = "1"
    one_thread()


def require_no_luck(
    assignment: Assignment,
    seeds: int,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Try every exercise on that many seeds. Raises CourseError if the verdict on a known answer depends on the seed."""
    if not assignment.exercises:
        return
    rates = assignment_rates(assignment, seeds_from(0, seeds), on_progress=on_progress)
    if broken := [str(rate) for rate in rates if not rate.holds]:
        raise CourseError("A verdict would depend on the inputs that are drawn.\n" + "\n".join(broken))


def exercise_rates(
    assignment: Assignment,
    name: str,
    seeds: Sequence[int],
    wrong: Mapping[str, str] | None = None,
    right: Mapping[str, str] | None = None,
    generic: int = 0,
) -> list[Rate]:
    """The rates of one exercise. The first of `seeds` is the one that the answer key is made with; generic mistakes are
    tried on the first `generic` of them."""
    # What wrong answers do with torch would be warned of.
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        return _exercise_rates(assignment, name, seeds, wrong or {}, right or {}, generic)


def _exercise_rates(
    assignment: Assignment,
    name: str,
    seeds: Sequence[int],
    wrong_cells: Mapping[str, str],
    right_cells: Mapping[str, str],
    generic: int,
) -> list[Rate]:
    exercise, mistakes = assignment.exercises[name], mistake_sources(assignment)[name]
    notebook = Bench(assignment, exercise)
    drawn = [exercise.draw(seed) for seed in seeds]
    given = [[ask(notebook.call, case, exercise.rule.arrays) for case in cases] for cases in drawn]
    expected = [_measured(*both, exercise.rule) for both in zip(given, drawn, strict=True)]

    def right(number: int, case: int) -> bool:
        answer = notebook.answer(drawn[number][case])
        return compare(answer, expected[number][case], exercise.rule, exercise.unseen) is None

    def passed(
        source: str,
        seeds: int = len(drawn),
        limit: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> int:
        """On how many draws; `limit()` bounds each of them."""
        with limit():
            if not notebook.define(source):
                return 0
        count = first = 0
        for number, cases in enumerate(drawn[:seeds]):
            # The case that was wrong on the last draw comes first: mostly it is so again, and one call decides.
            order = sorted(range(len(cases)), key=partial(ne, first))
            with limit():
                wrong = next((case for case in order if not right(number, case)), None)
            count += wrong is None
            first = first if wrong is None else wrong
        return count

    clean = sum(all(map(_is_clean, answers)) for answers in given)
    rates = [Rate(name, "the solution", "alternative", len(seeds), clean)]
    for kind, cells in (
        ("mistake", mistakes),
        ("alternative", exercise.alternatives),
        ("wrong", wrong_cells),
        ("right", right_cells),
    ):
        rates += [Rate(name, variant, kind, len(seeds), passed(source)) for variant, source in cells.items()]
    solution = notebook.solution
    for mutant in (*mutants(name, solution), *generic_mistakes(name, solution)) if generic else ():
        if any(part in mutant.change for part in exercise.survivors):
            continue
        try:
            count = passed(mutant.source, generic, partial(no_longer_than, MOST_SECONDS))
        except TooLong:  # one that loops for ever is noticed, whatever the inputs
            continue
        rates.append(Rate(name, mutant.change, "generic", min(generic, len(seeds)), count))
    notebook.define(solution)
    rates += _lazy_rates(exercise, drawn, given, expected)
    rates += _rounding_rates(mistakes, exercise, notebook, drawn, expected)
    if any(mistake.credit for mistake in exercise.mistakes):
        rates += _credit_rates(mistakes, exercise, notebook, drawn, given, expected)
    return rates


def _is_clean(answer: Answer) -> bool:
    numbers = [array for array in answer.arrays.values() if array.dtype.kind == "f"]
    return bool(answer.arrays) and not answer.problem and not any(np.isnan(array).any() for array in numbers)


def _measured(answers: Sequence[Answer], cases: Sequence[Case], rule: Rule) -> list[Answer]:
    return [measured(answer, case, rule) for answer, case in zip(answers, cases, strict=True)]


def _lazy_rates(
    exercise: Exercise,
    drawn: Sequence[Sequence[Case]],
    given: Sequence[Sequence[Answer]],
    expected: Sequence[Sequence[Answer]],
) -> list[Rate]:
    """`given` are the solution's answers as they come, `expected` what is compared."""
    counts: dict[str, list[bool]] = {}
    for number, cases in enumerate(drawn):
        for what, answers in lazy_answers(cases, given[number], given[0]):
            if number == 0 and what == "the public answers":
                continue  # there they are the right ones
            counts.setdefault(what, []).append(
                len(answers) == len(cases)
                and passes(
                    _measured(answers, cases, exercise.rule), expected[number], exercise.rule, exercise.unseen
                )
            )
    return [Rate(exercise.name, what, "lazy", len(passed), sum(passed)) for what, passed in counts.items()]


def _rounding_rates(
    mistakes: Mapping[str, str],
    exercise: Exercise,
    notebook: "Bench",
    drawn: Sequence[Sequence[Case]],
    expected: Sequence[Sequence[Answer]],
) -> list[Rate]:
    """Whether an answer lies on an edge where the last bit of a number, or another processor, decides."""

    def steady(cases: Sequence[Case], answers: Sequence[Answer], nudge: int) -> bool:
        moved = (notebook.answer(nudged(case, nudge)) for case in cases)
        return all(same(again, answer, exercise.rule) for again, answer in zip(moved, answers, strict=True))

    notebook.define(notebook.solution)
    times = [
        steady(cases, answers, n) for n, (cases, answers) in enumerate(zip(drawn, expected, strict=True))
    ]
    rates = [Rate(exercise.name, "the solution", "rounding", len(times), sum(times))]
    nudges = NUDGES if any(map(_has_floats, drawn[0])) else 1  # otherwise each time with the same inputs
    for variant, source in mistakes.items():
        notebook.define(source)
        answers = as_fingerprint([notebook.answer(case) for case in drawn[0]], expected[0], exercise.rule)
        times = [steady(drawn[0], answers, nudge) for nudge in range(nudges)]
        rates.append(Rate(exercise.name, variant, "rounding", len(times), sum(times)))
    return rates


def _credit_rates(
    mistakes: Mapping[str, str],
    exercise: Exercise,
    notebook: "Bench",
    drawn: Sequence[Sequence[Case]],
    given: Sequence[Sequence[Answer]],
    expected: Sequence[Sequence[Answer]],
) -> list[Rate]:
    """Whether every known answer earns on every draw the share of the points that is its own."""
    recorded: dict[str, list[list[Answer]]] = {}
    for variant, source in mistakes.items():
        runs = notebook.define(source)
        recorded[variant] = [
            [notebook.answer(case) if runs else STOPPED for case in cases] for cases in drawn
        ]
    draws = range(len(drawn))
    keys = [
        exercise_key(
            exercise,
            tuple(drawn[number]),
            mistakes,
            {
                (variant, exercise.name, case): answer
                for variant, draw in [("", expected), *recorded.items()]
                for case, answer in enumerate(draw[number])
            },
        )
        for number in draws
    ]

    def earned(answers: Sequence[Answer], number: int) -> float:
        key = keys[number]
        credited = [mistake for mistake in key.mistakes if mistake.credit]
        if not recognised(answers, key.rule, credited):
            return 0.0
        return earned_credit(recognised(answers, key.rule, key.mistakes))

    rates = []
    for mistake, (variant, answers) in zip(keys[0].mistakes, recorded.items(), strict=True):
        own = sum(earned(answers[number], number) == mistake.credit for number in draws)
        rates.append(Rate(exercise.name, variant, "credit", len(drawn), own))
    nothing: dict[str, list[bool]] = {}
    for number in draws:
        for what, lazy in lazy_answers(drawn[number], given[number], given[0]):
            if len(lazy) == len(drawn[number]):
                compared = _measured(lazy, drawn[number], exercise.rule)
                nothing.setdefault(what, []).append(not earned(compared, number))
    return rates + [
        Rate(exercise.name, what, "credit", len(held), sum(held)) for what, held in nothing.items()
    ]


class TooLong(BaseException):
    """No Exception: nothing that is tried shall catch it."""


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Raises TooLong in what runs for longer, in the main thread of a system that has alarms."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> NoReturn:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


STOPPED = Answer(problem=Problem.EXCEPTION, message="the cell does not run")


def nudged(case: Case, seed: int) -> dict[str, Any]:
    """The case with its floats moved by one unit in the last place, up or down; equal numbers stay equal.

    Numbers that few binary digits hold (0, 0.5, 0.25, −∞) are left alone: a case asks for them on purpose.
    """
    return {name: _nudged(value, seed) for name, value in case.items()}


def _has_floats(case: Case) -> bool:
    return any(map(_is_nudged, case.values()))


def _is_nudged(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size > 0


def _nudged(value: Any, seed: int) -> Any:
    if not _is_nudged(value):
        return value
    mantissa, _ = np.frexp(np.where(np.isfinite(value), value, 0))
    deliberate = mantissa * 2**DELIBERATE_BITS % 1 == 0
    bits = np.ascontiguousarray(value).view(f"u{value.dtype.itemsize}").reshape(value.shape).astype(np.uint64)
    with np.errstate(over="ignore"):
        up = (bits + np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(63) == 1
    moved = np.nextafter(value, np.where(up, np.inf, -np.inf).astype(value.dtype))
    return np.where(deliberate, value, moved).astype(value.dtype)


class _CallKeeper(recording.Recorder):
    """Keeps the call of the check that is expected, where a recorder would make it on every case."""

    call: Callable[[Case], Any] | None = None

    def record(self, exercise: str, call: Any) -> None:
        """What `check` does in record mode."""
        if exercise == self.expecting:
            self.call = call


class Bench:
    """The solution's notebook up to the check of one exercise, run in this process; the check's call is kept."""

    def __init__(self, assignment: Assignment, exercise: Exercise):
        """Raises CourseError if a cell stops, or if none with the check's grade id asks for the exercise."""
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.solution = solution_sources(assignment)[exercise.name]
        keeper = _CallKeeper({})
        with recording.recording_with(keeper):
            for cell in code_cells(read_source(assignment.source)):
                if not is_demo(cell):
                    keeper.expecting = exercise.name if grade_id(cell) == exercise.check_id else ""
                    self._run_or_complain(cell.source, assignment)
                if grade_id(cell) == exercise.check_id:
                    break
        if keeper.call is None:
            raise CourseError(
                f"{assignment.source}: the cell {exercise.check_id} does not call check({exercise.name!r}, …)."
            )
        self.call = keeper.call
        self._rule = exercise.rule

    def answer(self, case: Case) -> Answer:
        """What is compared of the answer to one case."""
        return measured(ask(self.call, case, self._rule.arrays), case, self._rule)

    def define(self, source: str) -> bool:
        """Run the solution cell, and over it a variant of it. False if that does not run."""
        return not self.problem_in(source)

    def problem_in(self, source: str) -> str:
        """The same; "" if the variant runs, or else the error that stops it."""
        self._run(self.solution)
        try:
            self._run(source)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return ""

    def _run_or_complain(self, source: str, assignment: Assignment) -> None:
        try:
            self._run(source)
        except Exception as error:
            stops = f"{assignment.source}: the solution stops with an error in the cell\n{source}"
            raise CourseError(f"{stops}\n{type(error).__name__}: {error}") from error

    def _run(self, source: str) -> None:
        exec(compile(source, "<cell>", "exec"), self.names)
