"""Record what the solution, and each known mistake in it, answers on given inputs."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from autograder.checks.answer_key import ExerciseKey
from autograder.checks.arrays import FORMS
from autograder.checks.asking import Answer, Case
from autograder.checks.comparing import GRADIENTS, KnownMistake, Rule, compare, same
from autograder.checks.measuring import measured
from autograder.checks.recording import AnswerId
from autograder.checks.status import Ending, Problem
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.exercise import Exercise, ways
from autograder.jail.inside.limits import Limits
from autograder.jail.outside.bubblewrap import View
from autograder.jail.outside.client import Outcome, Server
from autograder.jail.outside.jobs import Cases, cell, make_job
from autograder.parsing import parse
from autograder.settings import course_settings
from autograder.source import code_cells, grade_id, is_demo, read_source
from autograder.untrusted.frames import read_frame


def own_server(root: Path, modules: Sequence[str] = (), limits: Limits | None = None) -> Server:
    """A server without a jail for the course's own notebooks: solutions, and known wrong answers to them."""
    course = course_settings(root)
    view = View(packages=course.packages)
    return Server(limits, "none", view, modules=[*course.preload, *modules])


class Runner(Protocol):
    """Runs a job of ours: a server, or the warm servers of a run."""

    def run(self, job: bytes) -> Outcome:
        """Wait for the job to end, and return its output and status."""


Variants = Mapping[str, Mapping[str, str]]
"""{exercise: {name of the variant: source of its solution cell}}"""

BROKEN = "The cell of this variant does not run: "


def variant_cells(assignment: Assignment, variants: Variants) -> list[dict[str, str]]:
    """The solution's cells; after each check the same check again for every variant of its solution cell.

    The solution cell is run again before each variant, so that none takes over what the one before it left, and
    after the last, so that later exercises build on the right one. A variant's own cell carries its name.
    """
    solution = [c for c in code_cells(read_source(assignment.source)) if not is_demo(c)]
    sources = {grade_id(c): c.source for c in solution if grade_id(c)}
    cells = []
    for c in solution:
        exercise = assignment.by_check_id.get(grade_id(c))
        cells.append(cell(c.source, exercise.name if exercise else ""))
        if exercise and variants.get(exercise.name):
            again = cell(sources[exercise.solution_id])
            for variant, source in variants[exercise.name].items():
                cells += [cell(source, variant=variant), cell(c.source, exercise.name, variant), again]
    return cells


def solution_sources(assignment: Assignment) -> dict[str, str]:
    """Source of the solution cell of each exercise, by the exercise's name."""
    by_id = {grade_id(c): c.source for c in code_cells(read_source(assignment.source))}
    missing = [e.name for e in assignment.exercises.values() if not {e.solution_id, e.check_id} <= set(by_id)]
    if missing:
        raise CourseError(f"{assignment.source} lacks the solution or check cell of {', '.join(missing)}.")
    return {exercise.name: by_id[exercise.solution_id] for exercise in assignment.exercises.values()}


def mistake_sources(assignment: Assignment) -> dict[str, dict[str, str]]:
    """{exercise: {variant: source of the cell with the mistake in it}}."""
    sources = solution_sources(assignment)
    return {
        exercise.name: {
            variant: source
            for mistake in exercise.mistakes
            for variant, source in ways(sources[exercise.name], exercise, mistake).items()
        }
        for exercise in assignment.exercises.values()
    }


def record(
    server: Runner, assignment: Assignment, cases: Cases, variants: Variants
) -> dict[AnswerId, Answer]:
    """Answers of the solution (variant "") and of each variant, on `cases`; cells after the last of these are not run.

    A variant whose cell does not run answers every case with an exception whose message begins with BROKEN.
    """
    cells = _as_far_as(cases, variant_cells(assignment, variants))
    outcome = server.run(make_job(cells, cases, assignment.settings.arrays))
    frames = [read_frame(blob) for blob in outcome.frames]
    if outcome.status != Ending.FINISHED:
        last = cells[len(frames)]["source"] if len(frames) < len(cells) else ""
        raise CourseError(
            f"{assignment.source}: recording stopped with {str(outcome.status)!r} in the cell\n{last}"
        )
    answers: dict[AnswerId, Answer] = {}
    broken = ""
    for step, frame in zip(cells, frames, strict=True):
        if step["variant"] and not step["exercise"]:
            broken = frame.error_text if frame.problem else ""
        elif frame.problem and not step["variant"]:
            raise CourseError(
                f"{assignment.source}: the solution stops with an error in the cell\n{step['source']}\n{frame.error_text}"
            )
        elif step["variant"] and broken:
            answer = Answer(problem=Problem.EXCEPTION, message=BROKEN + broken)
            answers |= {where: answer for where in frame.answers}
        else:
            answers |= frame.answers
    rules = {name: exercise.rule for name, exercise in assignment.exercises.items()}
    return {
        (variant, name, number): measured(answer, cases[name][number], rules[name])
        for (variant, name, number), answer in answers.items()
    }


def _as_far_as(cases: Cases, cells: list[dict[str, str]]) -> list[dict[str, str]]:
    """The cells up to the last that belongs to one of these exercises."""
    last = max((place for place, cell in enumerate(cells) if cell["exercise"] in cases), default=-1)
    return cells[: last + 1]


DrawnCases = Mapping[str, tuple[Case, ...]]
"""The inputs of each exercise, by its name."""


def draw(assignment: Assignment, names: Iterable[str], seed: int) -> dict[str, tuple[Case, ...]]:
    """The inputs of these exercises."""
    return {name: tuple(assignment.exercises[name].draw(seed)) for name in names}


def exercise_keys(server: Runner, assignment: Assignment, seed: int) -> dict[str, ExerciseKey]:
    """Cases, expected answers and fingerprints of every exercise, for one seed, to grade with.

    No draw of the inputs ends a run: a fingerprint that cannot be told apart from the right answer on these inputs is left
    out, and inputs on which the solution has no clean answer are drawn again. `faults` says both before release.
    """
    keys = solution_keys(server, assignment, seed, draw(assignment, assignment.exercises, seed))
    mistakes = known_mistakes(server, assignment, keys)
    return {name: replace(key, mistakes=mistakes[name]) for name, key in keys.items()}


def solution_keys(
    server: Runner, assignment: Assignment, seed: int, cases: DrawnCases
) -> dict[str, ExerciseKey]:
    """Expected answers on `cases`, which `seed` has drawn, without mistakes. Unclean inputs are drawn again."""
    keys = _recorded(server, assignment, cases, {})
    for attempt in range(1, REDRAWS):
        if unclean := [name for name, key in keys.items() if _unclean(key)]:
            keys |= _recorded(server, assignment, draw(assignment, unclean, seed + attempt), {})
    if problems := list(filter(None, map(_unclean, keys.values()))):
        raise CourseError(problems[0])  # on every draw: the solution is at fault, and not the inputs
    return keys


def known_mistakes(
    server: Runner, assignment: Assignment, keys: Mapping[str, ExerciseKey]
) -> dict[str, tuple[KnownMistake, ...]]:
    """Of these exercises the fingerprints, on the inputs of their keys, that can be told from the right answer."""
    sources = mistake_sources(assignment)
    cases = {name: key.cases for name, key in keys.items()}
    recorded = _recorded(server, assignment, cases, {name: sources[name] for name in keys})
    return {name: _told_apart(key) for name, key in recorded.items()}


def public_keys(
    server: Runner, assignment: Assignment, seed: int, names: Sequence[str] = ()
) -> dict[str, ExerciseKey]:
    """The same for the answer key that students have, of all exercises or of those in `names`.

    Raises CourseError with the first fault of an exercise.
    """
    cases = draw(assignment, names or assignment.exercises, seed)
    sources = mistake_sources(assignment)
    keys = _recorded(server, assignment, cases, {name: sources[name] for name in cases})
    for fault in (fault for key in keys.values() for fault in faults(key)):
        raise CourseError(fault)
    return keys


def _recorded(
    server: Runner, assignment: Assignment, cases: DrawnCases, variants: Variants
) -> dict[str, ExerciseKey]:
    answers, sources = record(server, assignment, cases, variants), solution_sources(assignment)
    keys = (
        exercise_key(assignment.exercises[name], cases[name], variants.get(name, ()), answers)
        for name in cases
    )
    return {key.name: replace(key, arguments=arguments_of(sources[key.name])) for key in keys}


def arguments_of(source: str) -> tuple[str, ...]:
    """The names of what the functions of a cell take, and the methods of its classes: each once, in their order."""
    body = parse(source).body
    methods = [part for node in body if isinstance(node, ast.ClassDef) for part in node.body]
    functions = [node for node in (*body, *methods) if isinstance(node, ast.FunctionDef)]
    taken = (
        argument.arg
        for function in functions
        for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    )
    return tuple(dict.fromkeys(name for name in taken if name != "self"))


def exercise_key(
    exercise: Exercise, cases: tuple[Case, ...], variants: Iterable[str], recorded: Mapping[AnswerId, Answer]
) -> ExerciseKey:
    """The key of an exercise whose solution and variants gave the answers `recorded`.

    Its mistakes are those among the variants, as `mistake_sources` has them: all, or none.
    """

    def answers(variant: str) -> tuple[Answer, ...]:
        return tuple(
            recorded.get((variant, exercise.name, number), NO_ANSWER) for number in range(len(cases))
        )

    named = (
        [mistake for mistake in exercise.mistakes for _ in range(1 + len(mistake.also))] if variants else []
    )
    expected = answers("")
    mistakes = tuple(
        KnownMistake(
            mistake.name,
            mistake.hint,
            as_fingerprint(answers(variant), expected, exercise.rule),
            mistake.credit,
        )
        for mistake, variant in zip(named, variants, strict=True)
    )
    return ExerciseKey(exercise.name, exercise.rule, exercise.hints, exercise.uses, cases, expected, mistakes)


def as_fingerprint(answers: Sequence[Answer], expected: Sequence[Answer], rule: Rule) -> tuple[Answer, ...]:
    """A mistake whose values are wrong is known by them, whatever gradients come with them."""
    findings = [compare(answer, want, rule) for answer, want in zip(answers, expected, strict=True)]
    if all(finding is None or finding.part == GRADIENTS for finding in findings):
        return tuple(answers)
    return tuple(replace(answer, gradients={}) for answer in answers)


NO_ANSWER = Answer(
    problem=Problem.EXCEPTION, message="no answer: is there a check of that name, and does its cell run?"
)
REDRAWS = 5


def faults(key: ExerciseKey) -> Iterator[str]:
    """What is wrong with an exercise on these inputs, each as a sentence."""
    unclean = _unclean(key)
    if unclean:
        yield unclean
        return
    for place, mistake in enumerate(key.mistakes):
        about = f"{key.name}, mistake {mistake.name!r}"
        if problem := _no_fingerprint(key, mistake):
            yield f"{about}: {problem}"
            continue
        for other in key.mistakes[:place]:
            if other.name != mistake.name and _same_answers(mistake.answers, other.answers, key.rule):
                yield f"{about}: its answers are those of {other.name!r}, so the two cannot be distinguished."


def _unclean(key: ExerciseKey) -> str:
    for number, answer in enumerate(key.expected):
        if answer.problem or set(answer.notes) - set(FORMS):
            return (
                f"{key.name}: the solution's own answer to case {number} has a problem: "
                f"{answer.problem} {answer.message} {' '.join(answer.notes)}"
            )
    return ""


def _told_apart(key: ExerciseKey) -> tuple[KnownMistake, ...]:
    return tuple(mistake for mistake in key.mistakes if not _no_fingerprint(key, mistake))


def _no_fingerprint(key: ExerciseKey, mistake: KnownMistake) -> str:
    """Why a mistake cannot be recognised by its answers, or ""."""
    first = mistake.answers[0]
    if first.message.startswith(BROKEN):
        return f"its cell does not run. {first.message.removeprefix(BROKEN)}"
    if all(answer.problem == Problem.EXCEPTION for answer in mistake.answers):
        return (
            "it stops with an error on every case, so it cannot be distinguished from any other error. "
            + first.message
        )
    if mistake.credit and key.rule.kind == "exposes":
        return "a test of tests earns all of its points or none: leave its credit out."
    if mistake.credit and all(answer.problem for answer in mistake.answers):
        return "it does not return arrays for any case, so any answer that fails in this way would earn the partial credit."
    if all(
        compare(answer, want, key.rule) is None
        for answer, want in zip(mistake.answers, key.expected, strict=True)
    ):
        return "its answers are right on every case."
    return ""


def _same_answers(left: tuple[Answer, ...], right: tuple[Answer, ...], rule: Rule) -> bool:
    return all(same(a, b, rule) for a, b in zip(left, right, strict=True))


def without_messages(key: ExerciseKey) -> ExerciseKey:
    """The key as students get it: error messages of a mistake could quote the solution's lines."""

    def clean(answer: Answer) -> Answer:
        return replace(answer, message=answer.message.rpartition("\n")[2])

    mistakes = tuple(replace(m, answers=tuple(map(clean, m.answers))) for m in key.mistakes)
    return replace(key, mistakes=mistakes)


SLACK = 10
"""How many times a rule's tolerance a mistake's answer may differ: large scores without their mask enlarge the rounding."""


def same_answers(key: ExerciseKey, other: ExerciseKey) -> bool:
    """Whether two keys of an exercise agree, up to what another processor rounds otherwise."""
    if len(key.cases) != len(other.cases):
        return False
    loose = replace(key.rule, tolerance=SLACK * key.rule.tolerance)
    return _same_answers(key.expected, other.expected, key.rule) and all(
        _same_answers(mistake.answers, recorded.answers, loose)
        for mistake, recorded in zip(key.mistakes, other.mistakes, strict=True)
    )


ROUNDING = 1e-5
"""By how much, relative to its scale, an input may differ that was drawn on another processor."""


def same_cases(cases: Sequence[Case], others: Sequence[Case]) -> bool:
    """Whether two keys ask with the same inputs, up to rounding."""
    return len(cases) == len(others) and all(map(_same_input, cases, others))


def _same_input(value: Any, other: Any) -> bool:
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return value.keys() == other.keys() and all(_same_input(value[name], other[name]) for name in value)
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(_same_input, value, other))
    left, right = np.asarray(value), np.asarray(other)
    if left.shape != right.shape or left.dtype.kind != right.dtype.kind:
        return False
    if left.dtype.kind not in "fc":
        return bool(np.array_equal(left, right))
    scale = np.abs(left[np.isfinite(left)]).max(initial=0.0)
    return bool(np.allclose(left, right, rtol=0, atol=ROUNDING * scale, equal_nan=True))
