"""Every exercise is complete, its known mistakes are named as themselves, and its hints hold."""

import re
from collections import defaultdict
from dataclasses import replace

import pytest

from autograder.authoring.trial import incomplete
from autograder.checks import answer_key
from autograder.checks.arrays import LISTS
from autograder.checks.comparing import compare
from autograder.checks.judging import judge
from autograder.source import grade_id
from tests.conftest import ASSIGNMENTS, release_of
from tests.draws import TRAINING, rates_on_draws

DRAWS = 3
"""Of the inputs. `make audit` tries 300."""
DRAWS_OF_TRAINING = 1


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_exercise_is_complete(name):
    problems = {place: list(incomplete(one)) for place, one in ASSIGNMENTS[name].exercises.items()}
    assert {place: said for place, said in problems.items() if said} == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_mistake_is_named_as_itself(name):
    """Judged with the committed key; test_fresh.py holds that the key is what the exercises give."""
    keys, misnamed = answer_key.load(ASSIGNMENTS[name].key), []
    for place, exercise in ASSIGNMENTS[name].exercises.items():
        key = keys[place]
        assert {mistake.name for mistake in exercise.mistakes} == {known.name for known in key.mistakes}
        for known in key.mistakes:
            verdict = judge(known.answers, key.expected, key.rule, key.mistakes)
            if (verdict.passed, verdict.mistake, verdict.hint) != (False, known.name, known.hint):
                misnamed.append((place, known.name, verdict))
    assert misnamed == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_no_verdict_depends_on_the_draw(name):
    rates = rates_on_draws(ASSIGNMENTS[name], 10**6, DRAWS, DRAWS_OF_TRAINING)
    assert [str(rate) for rate in rates if not rate.holds] == []
    kinds = {(rate.exercise, rate.kind) for rate in rates}
    wanted = ("mistake", "alternative", "lazy", "rounding")
    tried = {(exercise, kind) for exercise in ASSIGNMENTS[name].exercises for kind in wanted}
    assert kinds >= tried - {(exercise, "mistake") for exercise in TRAINING}


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_ids_are_whole_numbers_and_masks_true_or_false_where_the_annotation_says_so(name):
    """Of any size, or in a list: only floats for an Int, and numbers for a Bool, are refused."""
    keys, kept = answer_key.load(ASSIGNMENTS[name].key), []
    for place, exercise in ASSIGNMENTS[name].exercises.items():
        for want in keys[place].expected:
            for part, array in want.arrays.items():
                if array.dtype.kind not in exercise.rule.kinds or not array.size:
                    continue
                for dtype in (
                    ("float32", "float64") if array.dtype.kind == "i" else ("int64", "uint8", "float32")
                ):
                    if (array.astype(dtype) != array).any():
                        continue  # an id that does not fit
                    changed = replace(want, arrays={**want.arrays, part: array.astype(dtype)})
                    finding = compare(changed, want, exercise.rule)
                    if not finding or "where the annotation promises" not in finding.reason:
                        kept.append((place, part, dtype))
                    listed = replace(changed, notes=(*changed.notes, LISTS["torch"]))
                    assert compare(listed, want, exercise.rule) is None
                if array.dtype.kind == "i":
                    small = replace(want, arrays={**want.arrays, part: array.astype("int32")})
                    assert compare(small, want, exercise.rule) is None
    assert kept == []


DIFFERENTIABLE = "Autograd must be able to differentiate the result."


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_where_gradients_are_asked_for_the_task_says_so_and_a_detached_answer_is_a_mistake(name):
    exercises, cells = ASSIGNMENTS[name].exercises, release_of(name).cells
    keys = answer_key.load(ASSIGNMENTS[name].key)
    texts = {grade_id(cell): " ".join(cell.source.split()) for cell in cells}
    asks = {one for one in exercises if any(want.gradients for want in keys[one].expected)}
    assert asks == {one for one in exercises if DIFFERENTIABLE in texts[exercises[one].solution_id]}
    detached = {
        one for one in exercises for mistake in exercises[one].mistakes if mistake.name == "detached from its inputs"
    }  # fmt: skip
    assert asks == detached
    for one in asks:
        (mistake,) = [known for known in keys[one].mistakes if known.name == "detached from its inputs"]
        pairs = list(zip(mistake.answers, keys[one].expected, strict=True))
        assert not any(slope.size for answer, _ in pairs for slope in answer.gradients.values())
        assert any(slope.any() for _, want in pairs for slope in want.gradients.values())


def test_most_exercises_that_return_ids_or_masks_promise_it():
    promised = {
        place: one.rule.kinds for home in ASSIGNMENTS.values() for place, one in home.exercises.items()
    }
    for place, kinds in {
        "static.nearest": "i", "transformer.collate": "bi", "recurrence.decoder_mask": "b", "recurrence.greedy_translate": "i",
        "elmo.reverse_padded": "bi", "bert.encode_pair": "bi", "applications.align_labels": "i", "sentences.windows": "bi",
        "comparison.clear_differences": "b", "attention.softmax": "", "gpt.gpt": "",
    }.items():  # fmt: skip
        assert promised[place] == kinds, place


FAIR = {
    "static.cosine": "cosine_similarity",
    "static.word_similarity": "spearmanr",
    "attention.softmax": "torch.softmax",
    "attention.attention": "scaled_dot_product_attention",
    "transformer.MultiHeadAttention": "scaled_dot_product_attention",
    "transformer.layer_norm": "layer_norm",
    "recurrence.lstm_step": "lstm_cell",
    "recurrence.cross_attention": "scaled_dot_product_attention",
    "gpt.attention": "scaled_dot_product_attention",
    "sentences.spearman": "spearmanr",
    "decoders.norm_and_gate": "rms_norm",
}
"""Functions of libraries that are the whole answer to an exercise, or nearly."""


def test_an_exercise_says_that_a_library_s_function_is_a_fair_answer():
    """That it is right is tried with the other alternatives."""
    homes = {name: one for one in ASSIGNMENTS.values() for name in one.exercises}
    for name, function in FAIR.items():
        exercise = homes[name].exercises[name]
        release = next(
            cell for cell in release_of(homes[name].name).cells if grade_id(cell) == exercise.solution_id
        )
        assert any(function in code for code in exercise.alternatives.values()), name
        assert f"{function}`" in release.source, name


# Hints that say where an answer is right -----------------------------------------------------------------

PROMISES = re.compile(
    r"you are right|your answer is (?:right|correct)|(?<!that )\b(?:is|are) (?:right|correct) (?:where|when|if|with|without|until)\b",
    re.IGNORECASE,
)
TRUE_ALL_THE_SAME = {
    ("transformer.layer_norm", "epsilon not used"): "no public input has a large variance and a tiny epsilon",
    ("gpt.attention", "first rows of the mask used"): "an input asks at once and in pieces",
    ("decoders.attention", "positions restart at every call"): "an input asks at once and in pieces",
    ("decoders.attention", "cache not used"): "an input asks at once and in pieces",
    ("decoders.attention", "keys stored before they were rotated"): "an input asks at once and in pieces",
    (
        "decoders.attention",
        "positions counted after the cache was extended",
    ): "an input asks at once and in pieces",
}
"""Hints that no public input bears out. Each was read, and why it is true stands beside it."""
HINTS = defaultdict(list)
"""The known mistakes with such a hint, by exercise and name: one for each way in which it is made."""
for _assignment in ASSIGNMENTS.values():
    for _exercise, _key in answer_key.load(_assignment.key).items():
        for _mistake in filter(lambda mistake: PROMISES.search(mistake.hint), _key.mistakes):
            HINTS[_exercise, _mistake.name].append((_mistake, _key))


def test_a_hint_that_says_where_an_answer_is_right_has_an_input_that_shows_it():
    promised = HINTS.keys() - TRUE_ALL_THE_SAME.keys()
    assert [where for where in promised if not all(any(right) for right in _right_on_inputs(*where))] == []


def test_no_exception_is_out_of_date():
    """Each names a hint that is there, and that the test above would refuse."""
    for where in TRUE_ALL_THE_SAME:
        assert where in HINTS
        assert not all(any(right) for right in _right_on_inputs(*where))


def _right_on_inputs(exercise, name):
    """For each way in which the mistake is made, on which public inputs its values are right."""
    return [
        [
            compare(answer, replace(expected, gradients={}), key.rule) is None
            for answer, expected in zip(mistake.answers, key.expected, strict=True)
        ]
        for mistake, key in HINTS[exercise, name]
    ]
