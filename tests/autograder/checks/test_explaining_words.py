"""What is said of wrong numbers and shapes, where one word would make it false."""

import numpy as np
import pytest

from autograder.checks.asking import Answer
from autograder.checks.comparing import KnownMistake, Rule
from autograder.checks.explaining.shapes import shape_sentence
from autograder.checks.explaining.words import as_sentence, number
from autograder.checks.judging import judge

RANDOM = np.random.default_rng(0)


def said(make, shapes=((4, 5), (6, 7), (3, 8)), axes=""):
    """The reason for answers that `make` makes of the expected ones."""
    cases = [{"x": RANDOM.standard_normal(shape)} for shape in shapes]
    expected = [Answer({"": case["x"] + 3}) for case in cases]
    answers = [Answer({"": make(answer.arrays[""])}) for answer in expected]
    return judge(answers, expected, Rule(axes={"": axes}), cases=cases).reason


@pytest.mark.parametrize(
    ("value", "name"), [(np.inf, "∞"), (-np.inf, "−∞"), (np.nan, "NaN"), (-2.0, "−2"), (0.123456, "0.1235")]
)
def test_numbers_as_a_sentence_says_them(value, name):
    assert number(value) == name


@pytest.mark.parametrize(
    ("step", "end", "way"), [(1, "last", "towards the end"), (-1, "first", "towards the front")]
)
def test_a_rolled_answer_is_told_by_its_end(step, end, way):
    sentence = said(lambda x: np.roll(x, step, -1))
    assert f"rolled by 1 position {way} along the last axis: what was {end} is now at the" in sentence


def test_a_factor_is_told_by_the_size_it_comes_from():
    n = np.array([4, 6, 9])
    sentence = said(lambda x: x * np.sqrt((len(x) - 1) / len(x)), [(size, 5) for size in n])
    assert "√((n − 1)/n)" in sentence


def test_rows_that_should_sum_to_one_are_told_so():
    def wrong(x):
        return RANDOM.uniform(0.1, 5, x.shape)

    cases = [RANDOM.uniform(0.1, 1, shape) for shape in ((4, 5), (6, 7), (3, 8))]
    expected = [Answer({"": case / case.sum(-1, keepdims=True)}) for case in cases]
    verdict = judge([Answer({"": wrong(case)}) for case in cases], expected, Rule())
    assert "The expected numbers sum to 1 along the last axis; yours do not." in verdict.reason


def test_errors_at_one_end_of_an_axis_are_found_there():
    def last_wrong(x):
        changed = x.copy()
        changed[..., -1] += RANDOM.uniform(1, 2, changed[..., -1].shape)
        return changed

    assert "at the last position of the last axis" in said(last_wrong)


@pytest.mark.parametrize(
    ("got", "want", "words"),
    [
        ((3, 1), (3,), "One axis too many: axis 1 of size 1. Is a keepdim or an unsqueeze left over?"),
        ((3, 2), (3,), "One axis too many: axis 1 of size 2."),
        ((3, 5), (3, 4), "Look at axis 1 (size 4), which has size 5 in your answer."),
        ((4, 3), (3, 4), "look swapped"),
        ((3,), (3, 4), "Axis 1 (size 4) is missing: was it summed or squeezed away?"),
        ((2, 5, 3), (2, 3, 5), "Axis 1 (size 3) and axis 2 (size 5) look swapped"),
        ((3, 5), (2, 3, 5), "Axis 0 (size 2) is missing"),
        ((2, 3, 1), (2, 3), "axis 2 of size 1. Is a keepdim or an unsqueeze left over?"),
        ((), (2,), "Axis 0 (size 2) is missing"),
    ],
)
def test_a_wrong_shape_is_told_by_its_axes(got, want, words):
    sentence = shape_sentence(got, want)
    assert words in sentence and ("keepdim" in sentence) == ("keepdim" in words)


def test_right_on_some_inputs_is_told_with_their_number():
    want = [Answer({"": np.arange(4.0) + n}) for n in range(3)]
    got = [want[0], want[1], Answer({"": -want[2].arrays[""]})]
    assert judge(got, want, Rule()).reason.startswith("Your answer is right on 2 of 3 inputs.")


@pytest.mark.parametrize(("size", "name"), [(2, ""), (4, "minus")])
def test_a_mistake_on_some_inputs_is_named_when_enough_numbers_show_it(size, name):
    want = [Answer({"": np.arange(1.0, size + 1)}), Answer({"": np.arange(2.0, size + 2)})]
    wrong = KnownMistake("minus", "Your sign.", tuple(Answer({"": -answer.arrays[""]}) for answer in want))
    verdict = judge([want[0], wrong.answers[1]], want, Rule(), [wrong])
    assert verdict.mistake == name


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("the sum", "The sum"),
        ("a mean too many", "A mean too many"),
        ("NaN for padding", "NaN for padding"),
        ("ε outside the root", "ε outside the root"),
        ("d instead of √d", "d instead of √d"),
        ("√d left out", "√d left out"),
        ("−100 counts", "−100 counts"),
    ],
)
def test_a_symbol_at_the_beginning_of_a_sentence_stays_as_it_is(name, sentence):
    """With a capital letter it would be another: D is another number than d, and the capital of ε looks like an E."""
    assert as_sentence(name) == sentence
