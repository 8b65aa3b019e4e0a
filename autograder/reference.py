"""Record what the solution, and each known mistake in it, answers on given inputs."""

from collections.abc import Mapping
from dataclasses import replace

from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.exercise import Exercise, edited
from autograder.jail.client import Server
from autograder.jail.frames import read_frame
from autograder.jail.jobs import Cases, cell, make_job
from autograder.source import code_cells, grade_id, is_demo, read_source
from coursekit.answer_key import ExerciseKey
from coursekit.asking import Answer, Case
from coursekit.judging import KnownMistake, compare, same
from coursekit.recording import AnswerId


def variant_cells(assignment: Assignment, variants: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
    """The solution's cells; after each check the same check again for every variant of its solution cell.

    `variants` is {exercise: {name of the variant: source of the cell}}. The solution cell is run again
    after its variants, so that later exercises build on the right one.
    """
    solution = [c for c in code_cells(read_source(assignment.source)) if not is_demo(c)]
    sources = {grade_id(c): c.source for c in solution if grade_id(c)}
    cells = []
    for c in solution:
        exercise = assignment.by_check_id.get(grade_id(c))
        cells.append(cell(c.source, exercise.name if exercise else ""))
        if exercise and variants.get(exercise.name):
            for variant, source in variants[exercise.name].items():
                cells += [cell(source), cell(c.source, exercise.name, variant)]
            cells.append(cell(sources[exercise.solution_id]))
    return cells


def solution_sources(assignment: Assignment) -> dict[str, str]:
    """Source of the solution cell of each exercise, by the exercise's name."""
    by_id = {grade_id(c): c.source for c in code_cells(read_source(assignment.source))}
    missing = [e.name for e in assignment.exercises.values() if not {e.solution_id, e.check_id} <= set(by_id)]
    if missing:
        raise CourseError(f"{assignment.source} lacks the solution or check cell of {', '.join(missing)}.")
    return {exercise.name: by_id[exercise.solution_id] for exercise in assignment.exercises.values()}


def mistake_sources(assignment: Assignment) -> dict[str, dict[str, str]]:
    """{exercise: {mistake: source of the cell with the mistake in it}}."""
    sources = solution_sources(assignment)
    return {
        exercise.name: {m.name: edited(sources[exercise.name], exercise, m) for m in exercise.mistakes}
        for exercise in assignment.exercises.values()
    }


def record(
    server: Server, assignment: Assignment, cases: Cases, variants: Mapping[str, Mapping[str, str]]
) -> dict[AnswerId, Answer]:
    """Answers of the solution (variant "") and of each variant, on `cases`."""
    cells = variant_cells(assignment, variants)
    outcome = server.run(make_job(cells, cases))
    frames = [read_frame(blob) for blob in outcome.frames]
    if outcome.status != "finished":
        last = cells[len(frames)]["source"] if len(frames) < len(cells) else ""
        raise CourseError(f"{assignment.source}: recording ended with {outcome.status!r} in the cell\n{last}")
    for step, frame in zip(cells, frames, strict=True):
        if frame.problem and not step["variant"] and not _is_variant_source(step["source"], variants):
            raise CourseError(
                f"{assignment.source}: the solution stops in the cell\n{step['source']}\n{frame.error_text}"
            )
    return {where: answer for frame in frames for where, answer in frame.answers.items()}


def _is_variant_source(source: str, variants: Mapping[str, Mapping[str, str]]) -> bool:
    return any(source in several.values() for several in variants.values())


def exercise_keys(server: Server, assignment: Assignment, seed: int) -> dict[str, ExerciseKey]:
    """Cases, expected answers and fingerprints of every exercise, for one seed."""
    cases = {exercise.name: exercise.draw(seed) for exercise in assignment.exercises.values()}
    given = record(server, assignment, cases, mistake_sources(assignment))
    return {e.name: _exercise_key(e, cases[e.name], given) for e in assignment.exercises.values()}


def _exercise_key(exercise: Exercise, cases: list[Case], given: Mapping[AnswerId, Answer]) -> ExerciseKey:
    def answers(variant: str) -> tuple[Answer, ...]:
        # A mistake that breaks the cell itself leaves no answer.
        return tuple(
            given.get((variant, exercise.name, number), Answer(problem="exception", message="no answer"))
            for number in range(len(cases))
        )

    expected = answers("")
    for number, answer in enumerate(expected):
        if answer.problem or answer.notes:
            raise CourseError(
                f"{exercise.name}: the solution's own answer to case {number} is not clean: "
                f"{answer.problem} {answer.message} {' '.join(answer.notes)}"
            )
    mistakes = tuple(KnownMistake(m.name, m.hint, answers(m.name)) for m in exercise.mistakes)
    for mistake in mistakes:
        _check_fingerprint(exercise, mistake, expected)
    return ExerciseKey(
        exercise.name, exercise.rule, exercise.hints, exercise.uses, tuple(cases), expected, mistakes
    )


def _check_fingerprint(exercise: Exercise, mistake: KnownMistake, expected: tuple[Answer, ...]) -> None:
    if all(answer.problem == "exception" for answer in mistake.answers):
        raise CourseError(
            f"{exercise.name}, mistake {mistake.name!r}: it stops with an error on every case, so it cannot be "
            f"told from any other error. {mistake.answers[0].message}"
        )
    if all(
        compare(answer, want, exercise.rule) is None
        for answer, want in zip(mistake.answers, expected, strict=True)
    ):
        raise CourseError(f"{exercise.name}, mistake {mistake.name!r}: its answers are right on every case.")


def without_messages(key: ExerciseKey) -> ExerciseKey:
    """The key as students get it: error messages of a mistake could quote the solution's lines."""

    def clean(answer: Answer) -> Answer:
        return replace(answer, message=answer.message.rpartition("\n")[2])

    mistakes = tuple(replace(m, answers=tuple(map(clean, m.answers))) for m in key.mistakes)
    return replace(key, mistakes=mistakes)


def same_answers(one: ExerciseKey, other: ExerciseKey) -> bool:
    """Whether two keys of an exercise agree, up to rounding."""
    if len(one.cases) != len(other.cases):
        return False
    pairs = [(one.expected, other.expected)]
    pairs += [(m.answers, n.answers) for m, n in zip(one.mistakes, other.mistakes, strict=True)]
    return all(same(a, b, one.rule) for left, right in pairs for a, b in zip(left, right, strict=True))
