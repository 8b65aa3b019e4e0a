"""What wrong numbers show about their cause, and nothing that they do not show."""

import numpy as np
import pytest

from autograder.checks.asking import Answer
from autograder.checks.comparing import Rule
from autograder.checks.explaining.nearness import MOST
from autograder.checks.explaining.situations import what_sets_apart
from autograder.checks.judging import judge

SIZES = ((3, 4, 5), (2, 5, 6), (4, 3, 7))


def drawn(*sizes, seed=0):
    """One array of numbers for each shape."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(size) for size in sizes or SIZES]


def reason(wrong, expected, cases=None, names="", tolerance=1e-4):
    """The words about answers `wrong`, one for each of `expected`."""
    verdict = judge(
        [Answer({"": np.asarray(one)}) for one in wrong],
        [Answer({"": np.asarray(one)}) for one in expected],
        Rule(tolerance=tolerance, axes={"": names}),
        cases=[{} for _ in expected] if cases is None else cases,
    )
    assert not verdict.passed
    return verdict.reason


def cases_of(arrays, **more):
    return [
        {"x": array, **{name: values[at] for name, values in more.items()}} for at, array in enumerate(arrays)
    ]


def softmax(x, axis):
    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)


ONE_OPERATION = [
    (lambda x: 3 * x, "Your numbers are 3 times the expected ones."),
    (lambda x: x / np.log(2), "1.443 (1/ln 2) times"),
    (lambda x: x * np.log(10), "2.303 (ln 10) times"),
    (lambda x: x / 7, "0.1429 (1/7) times"),
    (lambda x: x * np.sqrt(2), "1.414 (√2) times"),
    (lambda x: -x, "with the opposite sign"),
    (lambda x: -2 * x, "−2 times"),
    (lambda x: x / x.shape[-1], "multiplied by 1/`x.shape[-1]`: 0.2, 0.1667 and 0.1429 on these inputs."),
    (lambda x: x / np.sqrt(x.shape[-1]), "multiplied by 1/√`x.shape[-1]`: "),
    (lambda x: x * x.shape[-2] / x.shape[-1], "multiplied by `x.shape[-2]` divided by `x.shape[-1]`: "),
    (lambda x: x * x.shape[-1] / 50, "multiplied by 0.02 (1/50) times `x.shape[-1]`: "),
    (lambda x: x * x.shape[-1] / (x.shape[-1] - 1), "multiplied by n/(n − 1), where n is `x.shape[-1]`: "),
    (lambda x: x + 1, "larger than the expected ones by 1."),
    (lambda x: x - 0.25, "smaller than the expected ones by 0.25."),
    (lambda x: x + x.shape[-1], "plus `x.shape[-1]`: 5, 6 and 7 on these inputs."),
    (np.exp, "the exponential (exp) of the expected ones"),
    (np.square, "the square of the expected ones"),
    (np.tanh, "(tanh) of the expected ones"),
    (lambda x: 1 - x, "one minus the expected ones"),
    (lambda x: 1 / x, "the reciprocals of the expected ones"),
    (np.abs, "the absolute values of the expected ones"),
    (np.round, "rounded to the nearest whole number"),
    (lambda x: np.maximum(x, 0), "0 where a negative number is expected"),
    (np.arctanh, ""),
    (lambda x: softmax(x, -1), "one step too many: the softmax over the last axis"),
    (lambda x: softmax(x, -2), "one step too many: the softmax over axis −2"),
    (lambda x: np.flip(x, -1), "in reverse order along the last axis"),
    (lambda x: np.roll(x, 1, -2), "rolled by 1 position towards the end along axis −2"),
    (lambda x: np.concatenate([x[..., :1] * 0, x[..., :-1]], -1), "shifted by 1 position towards the end along the last axis"),
    (lambda x: x[:, [1, 2, 0, *range(3, x.shape[1])]], "the right vectors in another order along axis −2"),
    (lambda x: np.sort(x, -1), "sorting over the last axis"),
    (lambda x: x.swapaxes(-1, -2).reshape(x.shape), "a reshape (view) was used where the last two axes should be exchanged"),
    (lambda x: x * np.arange(1, x.shape[-2] + 1)[:, None], "Along the last axis the proportions are right"),
    (lambda x: x + np.cumsum(np.ones(x.shape[-2]))[:, None], "Along the last axis all of your numbers are off by the same amount"),
    (lambda x: 2 * x + 3, "2 times the expected ones plus 3"),
    (lambda x: 0 * x, "All of your numbers are 0."),
    (lambda x: 0 * x + x[:1], "the same at every position of axis −3"),
    (lambda x: np.where(np.arange(x.shape[-1]) == 0, x + 3.3 * np.abs(x), x), "They are exactly those at the first position of the last axis."),
    (lambda x: np.where(x < 0, x**3, x), "They are exactly those where a negative number is expected."),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "words"), ONE_OPERATION)
def test_one_operation_on_all_numbers_is_told_in_words(operation, words):
    right = drawn()
    with np.errstate(all="ignore"):
        given = reason([operation(x) for x in right], right, cases_of([x + 0.3 for x in right]))
    assert words in given


@pytest.mark.parametrize(("operation", "words"), ONE_OPERATION)
def test_an_operation_on_one_input_alone_is_not_told_of_all(operation, words):
    """The first input has another fault: no sentence about all numbers holds any more, and none is said."""
    right = drawn()
    noise = drawn(*SIZES, seed=9)
    with np.errstate(all="ignore"):
        wrong = [noise[0] ** 3, *(operation(x) for x in right[1:])]
        given = reason(wrong, right, cases_of([x + 0.3 for x in right]))
    assert not words or words not in given


@pytest.mark.parametrize("function", [np.exp, np.log, np.sqrt, np.square, np.tanh, lambda x: softmax(x, -1)])
def test_a_step_that_is_missing_is_told(function):
    given = [np.abs(x) + 0.2 for x in drawn()]
    told = reason(given, [function(x) for x in given])
    of_yours = ("that step missing", "One step is missing from your answer")
    of_expected = ("are the exponential (exp) of the expected", "are the square of the expected")
    assert any(words in told for words in (*of_yours, *of_expected))


def test_answers_of_another_shape_are_told_by_their_numbers():
    right = drawn()
    for wrong, words in (
        ([x.swapaxes(-1, -2) for x in right], "If these axes are exchanged, all of your numbers are right."),
        ([x[None] for x in right], "Your numbers are right; only their shape is not."),
        ([x.sum(-1) for x in right], "Your numbers are the sums of the expected ones along the last axis."),
        (
            [x.argmax(-2) for x in right],
            "the positions of the maxima (argmax) of the expected ones along axis −2",
        ),
        ([x[:, 1:] for x in right], "aligned at the end, the numbers that overlap are right"),
        ([x[..., :-1] for x in right], "aligned at the beginning, the numbers that overlap are right"),
    ):
        assert words in reason(wrong, right)
    assert "The expected numbers are the means of yours along the last axis." in reason(
        right, [x.mean(-1) for x in right]
    )
    assert "The expected number is the sum of all your numbers." in reason(right, [x.sum() for x in right])
    noise = drawn(*((x.shape[0], x.shape[2], x.shape[1]) for x in right), seed=4)
    swapped = reason(noise, right)
    assert "look swapped" in swapped and "are right" not in swapped


def test_numbers_of_another_shape_are_right_only_where_all_are_beside_an_infinity_too():
    masked = [np.where(np.tri(x.shape[-2], x.shape[-1]) > 0, x, -np.inf) for x in drawn()]
    assert "Your numbers are right; only their shape is not." in reason([x[None] for x in masked], masked)
    assert "are right" not in reason([x[None] + 1 for x in masked], masked)


def test_a_single_number_is_told_with_its_ratio_only_if_that_has_a_name_or_holds_on_other_inputs():
    assert reason([1.5 / np.log(2)], [1.5]).endswith("Your number is 1.443 times the expected one: 1/ln 2.")
    assert reason([3.0], [1.5]) == "Your number is 3; 1.5 is expected."
    assert "2 times the expected ones" in reason([3.0, 8.0], [1.5, 4.0])
    cases = [{"rows": np.ones((n, 2))} for n in (3, 5, 7)]
    sums = [reason([6.0, 20.0, 7.0], [2.0, 4.0, 1.0], cases)]
    assert "multiplied by `rows.shape[-2]`: 3, 5 and 7 on these inputs." in sums[0]


def test_a_factor_on_one_input_alone_has_no_cause():
    (right,) = drawn((3, 4))
    assert reason([right * 4], [right], [{"x": right, "heads": 4}]).endswith("4 times the expected ones.")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda x, b: x + 0.3 * b, "Your numbers minus the expected ones are 0.3 times `b`."),
        (lambda x, b: x - b, "`b` is missing from your answer"),
        (lambda x, b: x + b, "Your answer contains `b` once too often"),
        (lambda x, b: x / b, "The factor `b` is missing from your answer"),
        (lambda x, b: x * b, "Your answer contains the factor `b` once too often"),
        (lambda x, b: b + 0 * x, "Your answer is the input `b`"),
    ],
)
def test_an_input_that_is_missing_or_too_much_is_named(make, words):
    right, inputs = drawn(), drawn(seed=3)
    cases = [{"a": one**2, "b": one} for one in inputs]
    assert words in reason([make(*both) for both in zip(right, inputs, strict=True)], right, cases)


def test_the_places_that_an_input_marks_are_named():
    rng = np.random.default_rng(1)
    right = [np.abs(x) + 0.1 for x in drawn()]
    keep = [rng.random(x.shape[:2]) < 0.6 for x in right]
    for mask in keep:
        mask[0, 0], mask[:, -1], mask[-1] = False, True, True
    cases = [{"keep": mask} for mask in keep]
    nulled = [x * mask[..., None] for x, mask in zip(right, keep, strict=True)]
    assert (
        "They are exactly those where `keep` is False. Where they differ, your number is always 0."
        in reason(nulled, right, cases)
    )
    rows = [
        np.where(mask.all(1)[:, None, None], x, x**2 + 5 * rng.random(x.shape))
        for x, mask in zip(right, keep, strict=True)
    ]
    assert "They are exactly those in the rows where some entry of `keep` is False." in reason(
        rows, right, cases
    )
    counted = [x * mask.sum(1)[:, None, None] for x, mask in zip(right, keep, strict=True)]
    assert "a factor of its own, the number of True values in its row of `keep`" in reason(
        counted, right, cases
    )
    nan = [np.where(mask[..., None], x, np.nan) for x, mask in zip(right, keep, strict=True)]
    assert "are NaN" in reason(nan, right, cases) and "exactly those where `keep` is False" in reason(
        nan, right, cases
    )


def test_an_argument_in_the_place_of_another_is_named():
    ids = [np.array([[5, 6, 2, 2], [7, 2, 2, 2]]), np.array([[4, 9, 9], [6, 5, 9]])]
    cases = [{"eos": 3, "pad": 2}, {"eos": 1, "pad": 9}]
    wrong = [np.where(one == case["pad"], case["eos"], one) for one, case in zip(ids, cases, strict=True)]
    assert "Where they differ, your number is `eos` and `pad` is expected." in reason(wrong, ids, cases)
    own = [np.array([7, 3, 5]), np.array([8, 1, 4])]
    best = [np.array([3, 5, 4]), np.array([2, 4, 6])]
    cases = [{"query": 7}, {"query": 8}]
    assert "shifted" not in reason(own, best, cases)
    assert "Your answer contains `query` itself (7 on the first of these inputs)" in reason(own, best, cases)


def test_true_and_false():
    rng = np.random.default_rng(0)
    right = [np.tril(np.ones((n, n), bool)) for n in (4, 6)]
    assert "the opposite of the expected one" in reason([~one for one in right], right)
    assert "with rows and columns exchanged (transposed)" in reason([one.T for one in right], right)
    assert "below the diagonal" in reason([np.eye(len(one), dtype=bool) for one in right], right)
    some = [rng.random((4, 7)) < 0.5 for _ in range(2)]
    more = [one | (rng.random((4, 7)) < 0.5) for one in some]
    assert "your number is 1 and 0 is expected" in reason(more, some)


def test_a_single_truth_value_is_not_told_as_a_number():
    said = reason([np.array(False)] * 3, [np.array(True)] * 3)
    assert said == "Your answer is False; True is expected."


def test_softmax_over_another_axis():
    scores = drawn()
    right, wrong = [softmax(x, -1) for x in scores], [softmax(x, -2) for x in scores]
    given = reason(wrong, right, names="B query key")
    assert "The expected numbers sum to 1 along the axis key; yours do so along the axis query." in given
    over = [{"dim": dim} for dim in (0, 1, -1)]
    right = [softmax(x, case["dim"]) for x, case in zip(scores, over, strict=True)]
    wrong = [np.exp(x) / np.exp(x).sum() for x in scores]
    assert "`dim`" in reason(wrong, right, over)


@pytest.mark.slow
def test_what_two_unrelated_answers_have_in_common_is_not_told_as_a_cause():
    """Of 200 pairs of unrelated answers, none is told as one operation, an order or a place."""
    rng = np.random.default_rng(5)
    told = []
    for _ in range(200):
        right = [rng.standard_normal(size) for size in SIZES]
        wrong = [rng.standard_normal(size) for size in SIZES]
        cases = [{"x": rng.standard_normal(size), "d": int(rng.integers(2, 9))} for size in SIZES]
        told.append(reason(wrong, right, cases))
    assert {one.partition("ones.")[2].strip() for one in told} == {""}


@pytest.mark.slow
def test_unrelated_single_numbers_are_not_told_as_a_factor_of_a_size():
    rng = np.random.default_rng(6)
    told = []
    for _ in range(300):
        right, wrong = rng.uniform(1, 5, 3), rng.uniform(1, 5, 3)
        cases = [{"x": rng.random(rng.integers(2, 9, 3)), "k": int(rng.integers(2, 9))} for _ in range(3)]
        told.append(reason(wrong, right, cases))
    assert not [one for one in told if "times" in one or "plus" in one or "which is" in one]


# ------------------------------------------------------------------------------------------ what sets inputs apart

X = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("cases", "wrong", "sentence"),
    [
        ([{"p": 0.5}, {"p": 0.0}, {"p": 0.25}], [1], "It is wrong exactly where `p` is 0."),
        ([{"p": 0.0}, {"p": 0.5}, {"p": 0.25}], [1, 2], "It is right only where `p` is 0."),
        ([{"power": 0.75}, {"power": 0.5}, {"power": 0.75}], [1], "It is right only where `power` is 0.75."),
        ([{"power": 0.75}, {"power": 0.5}, {"power": 1.5}], [1], ""),
        ([{"dim": -1}, {"dim": 1}, {"dim": -2}], [0, 2], "It is wrong exactly where `dim` is negative."),
        ([{"texts": ["a", "b"]}, {"texts": []}], [1], "It is wrong exactly where `texts` is empty."),
        ([{"word_ids": [0, None]}, {"word_ids": [0]}, {"word_ids": [1, 0]}], [0], "It is wrong exactly where `word_ids` contains None."),
        ([{"how": "mean"}, {"how": "first"}, {"how": "first"}], [1, 2], 'It is wrong exactly where `how` is "first".'),
        ([{"tied": True}, {"tied": False}], [0], "It is wrong exactly where `tied` is True."),
        ([{"theirs": {"tied": True}}, {"theirs": {"tied": False}}], [0], ""),
        ([{"x": X}, {"x": X * 30}], [1], "It is wrong exactly where `x` contains numbers above 80."),
        ([{"x": X}, {"x": -X * 30}], [1], "It is wrong exactly where `x` contains numbers below −80."),
        ([{"x": X + 1}, {"x": X[None].repeat(2, 0) + 1}, {"x": X[None, None].repeat(2, 0) + 1}], [1, 2], "It is wrong exactly where `x` has more than 2 axes."),
        ([{"x": X + 1}, {"x": X[None].repeat(2, 0) + 1}, {"x": X[None, None].repeat(2, 0) + 1}], [1], ""),
        ([{"x": X + 1}, {"x": X[:0]}], [1], "It is wrong exactly where `x` is empty."),
        ([{"x": X + 1}, {"x": X * (X > 3)}], [1], "It is wrong exactly where a row of `x` is 0 throughout."),
        ([{"keep": X > -1}, {"keep": X > 3}, {"keep": X % 4 > 0}], [1], "It is wrong exactly where a row of `keep` is False throughout."),
        ([{"keep": X > -1}, {"keep": X % 4 < 3}], [1], "It is right only where `keep` is True throughout."),
        ([{"keep": X % 4 < 3}, {"keep": X % 4 > 0}], [1], "It is wrong exactly where `keep` begins with False."),
        ([{"a": X, "b": X}, {"a": X, "b": X[:2]}], [1], "It is wrong exactly where `a` and `b` have different shapes."),
        ([{"p": 0.0, "q": 0.5}, {"p": 0.5, "q": 0.0}], [1], ""),
        ([{"p": 0.0, "q": 0.0}, {"p": 0.5, "q": 0.5}], [0], ""),
        ([{"a": 1, "b": 7}, {"a": 9, "b": 3}], [0], ""),
        ([{"pad": 0, "bos": 7}, {"pad": 9, "bos": 3}], [1], "It is right only where `pad` is 0."),
        ([{"p": 0.5}, {"p": 0.5}], [1], ""),
        ([{"p": 0.5}], [0], ""),
    ],
)  # fmt: skip
def test_what_sets_the_wrong_inputs_apart_is_said_if_one_argument_does(cases, wrong, sentence):
    assert what_sets_apart(cases, wrong) == sentence


def test_what_sets_inputs_apart_reaches_the_verdict():
    right = drawn()
    wrong = [right[0], right[1] ** 2 + 1, right[2]]
    cases = [{"p": p} for p in (0.5, 0.0, 0.25)]
    assert reason(wrong, right, cases).startswith(
        "Your answer is right on 2 of 3 inputs. It is wrong exactly where `p` is 0."
    )


# ------------------------------------------------------------------------------------------ hostile and odd arrays


@pytest.mark.parametrize(
    "make",
    [
        lambda x: np.full_like(x, np.nan),
        lambda x: np.full_like(x, np.inf),
        lambda x: np.full_like(x, 1e308),
        lambda x: np.where(x > 0, np.inf, -np.inf),
        lambda x: np.full_like(x, 5e-324),
        lambda x: np.full(x.shape, np.iinfo(np.int64).min),
        lambda x: np.full(x.shape, 255, np.uint8),
        lambda x: x > 0,
        lambda x: x.astype(np.float16) * 60_000,
        lambda x: np.zeros((0, 4)),
        lambda x: np.zeros((1,) * 8),
        lambda x: np.zeros(()),
    ],
)
@pytest.mark.parametrize(
    "right", [drawn(), [np.zeros((2, 3))] * 2, [np.array([[1, 2], [3, 4]])] * 2, [np.full(3, -np.inf)]]
)
@pytest.mark.filterwarnings("error")
def test_any_arrays_get_words_and_no_warning(make, right):
    with np.errstate(all="ignore"):
        wrong = [make(np.asarray(x)) for x in right]
    cases = [{"x": x, "keep": x > 0, "k": 2, "dim": -1} for x in right]
    verdict = judge([Answer({"": x}) for x in wrong], [Answer({"": x}) for x in right], Rule(), cases=cases)
    assert verdict.passed or verdict.reason


def test_of_very_many_numbers_only_the_count_is_told():
    right = np.arange(1.0, MOST) + 1e6
    told = f"{MOST - 1} of your {MOST - 1} numbers differ from the expected ones."
    assert reason([right * 3], [right]) == told
    assert "3 times" in reason([right[: MOST // 4] * 3], [right[: MOST // 4]])
    assert reason([np.ones((MOST, 2))], [np.ones((MOST, 1))]).startswith("Your shape is")


def test_a_factor_that_is_shown_as_1_is_no_explanation():
    expected = drawn()
    wrong = [one * 1.00028 for one in expected]
    assert "1 times" not in reason(wrong, expected)
    assert "1 times" not in reason([one + 0.001 for one in wrong], expected)


def test_two_values_show_no_rounding():
    """The largest weight of each row is 1 and the others 0: so would weights be that are rounded, but nobody has rounded them."""
    expected = [softmax(6 * one, -1) for one in drawn()]
    hard = [(one == one.max(-1, keepdims=True)).astype(float) for one in expected]
    expected = [
        np.where(h > 0, np.maximum(e, 0.6), np.minimum(e, 0.4)) for h, e in zip(hard, expected, strict=True)
    ]
    assert "rounded" not in reason(hard, expected)


def test_that_a_place_is_right_is_not_said_where_every_input_has_the_same_there():
    expected = [np.concatenate([np.zeros((len(one), 1)), one[:, 1:]], 1) for one in drawn((3, 5), (4, 6))]
    wrong = [np.concatenate([one[:, :1], one[:, 1:] ** 3 + 1], 1) for one in expected]
    assert "first position" not in reason(wrong, expected)
    varied = [one + np.arange(len(one))[:, None] for one in expected]
    wrong = [np.concatenate([one[:, :1], one[:, 1:] ** 3 + 1], 1) for one in varied]
    assert "Everything at the first position of the last axis is right" in reason(wrong, varied)


@pytest.mark.parametrize(
    ("got", "want", "words"),
    [
        (np.zeros(0), np.ones((2, 3)), "Your array is empty; the shape (2, 3) is expected."),
        (np.zeros(0), np.ones(()), "Your array is empty; a number is expected."),
        (np.ones(4), np.zeros(0), "Nothing is expected here; your array has the shape (4,)."),
    ],
)
def test_nothing_is_no_shape(got, want, words):
    assert reason([got], [want]) == words


def test_nothing_is_said_of_parts_that_are_not_there_while_another_is_wrong():
    given = {"place": np.zeros(1), "output": np.zeros(0)}
    expected = {"place": np.ones(1), "output": np.ones(3)}
    verdict = judge([Answer(given)], [Answer(expected)], Rule())
    assert verdict.part == "place" and "output" not in verdict.reason


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: p**2 / (p**2).sum(-1, keepdims=True), "to the power 2 and normalised again to sum to 1."),
        (
            lambda p: p**0.5 / (p**0.5).sum(-1, keepdims=True),
            "to the power 0.5 (1/2) and normalised again to sum to 1.",
        ),
        (lambda p: p**3, "to the power 3."),
        (lambda p: p**2 / (p**2).sum(), ""),
    ],
)
def test_weights_of_another_temperature_are_told_by_their_power(make, words):
    expected = [softmax(one, -1) for one in drawn()]
    said = reason([make(one) for one in expected], expected)
    assert said.endswith(words) if words else "power" not in said


def test_parts_of_other_names_are_told_by_what_is_missing_and_what_is_too_much():
    def said(*names):
        return judge(
            [Answer(dict.fromkeys(names, np.ones(2)))],
            [Answer({"said": np.ones(2), "found": np.ones(2)})],
            Rule(),
        ).reason

    assert said("found") == "Your function did not return `said`."
    assert said("found", "said", "count") == "Your function returned `count`, which is not expected."
    assert (
        said("confidence", "found")
        == "Your function did not return `said`. Instead, it returned `confidence`, which is not expected."
    )
    many = said("found", "said", *(f"layer {n}" for n in range(9)))
    assert (
        many
        == "Your function returned `layer 0`, `layer 1`, `layer 2`, `layer 3` and 5 more, which are not expected."
    )


def test_codes_of_the_check_s_own_are_told_in_the_words_of_their_legend():
    """They name inputs of the case; what 0 and 2 have to do with one another says nothing of the student's code."""
    legend = {
        "inputs": "weights.",
        "0": "No parameter {names}.",
        "last": "{number} too many.",
        "last −1": "A buffer.",
    }
    rule = Rule(axes={"registered": "weights"}, legend={"registered": legend})
    cases = [{f"weights.{name}": np.ones(1) for name in "cab"}] * 2

    def told(*codes: float) -> str:
        given = [Answer({"registered": np.array(codes), "output": np.zeros(0)}) for _ in cases]
        expected = [Answer({"registered": np.array([2, 2, 2, 0]), "output": np.ones(3)}) for _ in cases]
        return judge(given, expected, rule, cases=cases).reason

    assert told(0, 2, 0, 0) == "No parameter `a` and `c`."
    assert told(2, 0, 2, 12) == "No parameter `b`. 12 too many."
    assert told(2, 2, 2, -1) == "A buffer."
    assert told(9, 2, 2, 0) == "The check could not read `a`."  # only a hostile notebook gives such a code
    assert "shape" in told(2, 2)


def test_two_numbers_that_have_changed_places_are_told_so():
    given = [Answer({"0": np.array(left), "1": np.array(right)}) for left, right in ((0.5, 2.0), (0.3, 7.0))]
    expected = [Answer({"0": one.arrays["1"], "1": one.arrays["0"]}) for one in given]
    first, second = judge(given, expected, Rule()).reason.splitlines()
    assert first.endswith("expected for part 2.") and second.endswith("expected for part 1.")


def test_standardised_numbers_are_told_as_multiples_plus_a_number():
    right = drawn()
    said = reason([(one - one.mean()) / one.std() for one in right], right)
    assert "On each input your numbers are a multiple of the expected ones plus a constant" in said


def test_a_factor_on_each_input_comes_with_what_it_makes_of_the_numbers():
    right = [2 * one for one in drawn((5,), (6,), (8,))]
    said = reason([one / np.sqrt((one**2).sum()) for one in right], right)
    assert (
        "times a single factor" in said
        and "Your vectors have length 1 along the vector; the expected ones do not." in said
    )


def test_a_middle_position_of_a_short_axis_is_named():
    right = [np.arange(12.0).reshape(4, 3) + 7 * n for n in range(3)]
    wrong = [one - 5 * (np.arange(3) == 1) for one in right]
    assert "at position 1 of the last axis, counted from 0" in reason(wrong, right)


def test_an_option_sets_inputs_apart_before_anything_that_may_be_chance():
    """`keep` begins with a False where `eps` is given, by chance."""
    begins = {"keep": np.array([False, True])}
    others = [{"keep": np.array([True, False])}, {"keep": np.array([True, True])}]
    assert what_sets_apart([begins, *others], [0]) == "It is wrong exactly where `keep` begins with False."
    assert (
        what_sets_apart([begins | {"eps": 0.1}, *others], [0]) == "It is wrong exactly where `eps` is given."
    )
    assert (
        what_sets_apart([begins, *({**one, "eps": 0.1} for one in others)], [0])
        == "It is wrong exactly where `eps` is not given."
    )
    assert what_sets_apart([begins | {"eps": 0.1, "p": 0.5}, *others], [0]) == ""
    assert (
        what_sets_apart([begins | {"norm_first": True}, *others], [0])
        == "It is wrong exactly where `norm_first` is True."
    )


def test_that_a_mask_has_the_shape_of_what_it_masks_is_no_cause():
    cases = [{"keys": X + 1, "keep": np.ones((5, 6), bool)}, {"keys": X + 2, "keep": X > -1}]
    assert "shape" not in what_sets_apart(cases, [0])
