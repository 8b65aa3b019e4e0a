"""Every exercise keeps its promises: mistakes are named, unusual right answers pass, lazy ones fail."""

from functools import cache

import numpy as np
import pytest

from autograder import reference
from autograder.builder import PUBLIC_SEED
from autograder.exercise import EditDoesNotApply, Mistake, edited
from coursekit.asking import Answer
from coursekit.judging import judge
from tests.conftest import ASSIGNMENTS

FRESH = [2**100 + 7919 * number for number in range(20)]
FEW = 2  # of them, in `make test-fast`
EXERCISES = [(name, exercise) for name, one in ASSIGNMENTS.items() for exercise in one.exercises]
MISTAKES = [
    (name, exercise, mistake.name)
    for name, exercise in EXERCISES
    for mistake in ASSIGNMENTS[name].exercises[exercise].mistakes
]
ALTERNATIVES = [
    (name, exercise, unusual)
    for name, exercise in EXERCISES
    for unusual in ASSIGNMENTS[name].exercises[exercise].alternatives
]


@pytest.fixture(scope="session")
def keys(open_server):
    """Keys by (assignment, seed), recorded once."""
    return cache(lambda name, seed: reference.exercise_keys(open_server, ASSIGNMENTS[name], seed))


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(FRESH[:FEW], id=f"{FEW} seeds"),
        pytest.param(FRESH[FEW:], id=f"{len(FRESH) - FEW} more", marks=pytest.mark.slow),
    ],
)
def fresh(request, open_server):
    """Per assignment: answers of the solution, the mistakes and the alternatives on many seeds, in one job."""
    seeds = request.param

    @cache
    def record(name):
        assignment = ASSIGNMENTS[name]
        cases = {
            e.name: [case for seed in seeds for case in e.draw(seed)] for e in assignment.exercises.values()
        }
        variants = reference.mistake_sources(assignment)
        for exercise in assignment.exercises.values():
            variants[exercise.name] |= {f"right: {k}": code for k, code in exercise.alternatives.items()}
        given = reference.record(open_server, assignment, cases, variants)

        def answers(exercise, variant):
            count = len(cases[exercise])
            size = count // len(seeds)
            flat = [given.get((variant, exercise, number)) for number in range(count)]
            return [flat[start : start + size] for start in range(0, count, size)]

        return answers

    return record


@pytest.mark.parametrize(("name", "exercise", "mistake"), MISTAKES)
def test_a_mistake_is_named_as_itself(keys, name, exercise, mistake):
    key = keys(name, PUBLIC_SEED)[exercise]
    own = next(known for known in key.mistakes if known.name == mistake)
    verdict = judge(own.answers, key.expected, key.rule, key.mistakes)
    assert (verdict.passed, verdict.mistake) == (False, mistake)
    assert verdict.hint == own.hint


@pytest.mark.parametrize(("name", "exercise", "mistake"), MISTAKES)
def test_a_mistake_fails_on_every_fresh_seed(fresh, name, exercise, mistake):
    rule = ASSIGNMENTS[name].exercises[exercise].rule
    for wrong, right in zip(fresh(name)(exercise, mistake), fresh(name)(exercise, ""), strict=True):
        assert not judge(wrong, right, rule).passed


@pytest.mark.parametrize(("name", "exercise", "unusual"), ALTERNATIVES)
def test_an_unusual_right_answer_passes_on_every_fresh_seed(fresh, name, exercise, unusual):
    rule = ASSIGNMENTS[name].exercises[exercise].rule
    for answer, right in zip(
        fresh(name)(exercise, f"right: {unusual}"), fresh(name)(exercise, ""), strict=True
    ):
        assert judge(answer, right, rule).reason == ""


@pytest.mark.parametrize(("name", "exercise"), EXERCISES)
def test_the_solution_is_clean_on_every_fresh_seed(fresh, name, exercise):
    for answers in fresh(name)(exercise, ""):
        for answer in answers:
            assert not answer.problem
            assert answer.arrays and not any(np.isnan(array).any() for array in answer.arrays.values())


def lazy_answers(key, public):
    """Answers that need no understanding, as (what, one answer per case)."""
    random = np.random.default_rng(0)
    everything = np.concatenate([a.ravel() for answer in key.expected for a in answer.arrays.values()])
    mean = everything[np.isfinite(everything)].mean()

    def fill(make):
        """Answers of the right shapes and types, made from (expected array, case)."""
        return [
            Answer({part: make(want, case).astype(want.dtype) for part, want in answer.arrays.items()})
            for answer, case in zip(key.expected, key.cases, strict=True)
        ]

    yield "zeros", fill(lambda want, case: np.zeros(want.shape))
    yield "ones", fill(lambda want, case: np.ones(want.shape))
    yield "the mean", fill(lambda want, case: np.full(want.shape, mean))
    yield "noise", fill(lambda want, case: random.standard_normal(want.shape) * 3)
    yield "the public answers", list(public.expected)
    for given in key.cases[0]:
        arrays = [case.get(given) for case in key.cases]
        if all(isinstance(array, np.ndarray) for array in arrays):
            yield f"the input {given}", [Answer({"": array}) for array in arrays]
            yield (
                f"{given}, resized",
                fill(lambda want, case, given=given: np.resize(case[given], want.shape)),
            )


@pytest.mark.parametrize(("name", "exercise"), EXERCISES)
def test_lazy_answers_fail(keys, name, exercise):
    public, key = keys(name, PUBLIC_SEED)[exercise], keys(name, FRESH[0])[exercise]
    for what, answers in lazy_answers(key, public):
        assert not judge(answers, key.expected, key.rule).passed, what


@pytest.mark.parametrize(("name", "exercise"), EXERCISES)
def test_an_exercise_is_complete(name, exercise):
    one = ASSIGNMENTS[name].exercises[exercise]
    cases = one.draw(PUBLIC_SEED)
    shapes = {
        tuple(value.shape for value in case.values() if isinstance(value, np.ndarray)) for case in cases
    }
    assert len(shapes) >= 3, "three public case shapes or more"
    assert len(one.mistakes) >= 6 and len({m.hint for m in one.mistakes}) == len(one.mistakes)
    assert len(one.alternatives) >= 2
    assert len(set(one.hints)) == 4


def test_an_edit_that_does_not_apply_is_an_error():
    exercise = next(iter(next(iter(ASSIGNMENTS.values())).exercises.values()))
    with pytest.raises(EditDoesNotApply, match="stands 0 times"):
        edited("def f(): ...", exercise, Mistake("gone", "hint", {"no such text": ""}))
    with pytest.raises(EditDoesNotApply, match="stands 2 times"):
        edited("a + a", exercise, Mistake("twice", "hint", {"a": "b"}))
