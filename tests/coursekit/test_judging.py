"""Wrong answers of every kind get a sentence of their own."""

import numpy as np
import pytest
import torch

from coursekit.asking import Answer, ask
from coursekit.judging import KnownMistake, Rule, judge, shape_sentence

CASES = [{"x": np.arange(6, dtype=np.float32).reshape(2, 3)}, {"x": np.ones((4, 5), np.float32)}]
RULE = Rule(axes={"": "batch token"})


def verdict(call, cases=CASES, right=lambda case: case["x"] * 2, rule=RULE, mistakes=()):
    expected = [ask(right, case) for case in cases]
    return judge([ask(call, case) for case in cases], expected, rule, mistakes)


@pytest.mark.parametrize(
    ("call", "note"),
    [
        (lambda case: case["x"] * 2, ""),
        (lambda case: case["x"].double() * 2, ""),
        (lambda case: (case["x"] * 2).half(), ""),
        (lambda case: (case["x"] * 2).bfloat16(), "bfloat16"),
        (lambda case: (case["x"] * 2).numpy(), "numpy array"),
        (lambda case: (case["x"] * 2).requires_grad_(), ""),
        (lambda case: (case["x"] * 2).tolist(), ""),
        (lambda case: case["x"].clone().mul_(2), ""),
    ],
)
def test_right_answers_of_unusual_types_pass(call, note):
    given = verdict(call)
    assert given.passed, given.reason
    assert note in " ".join(given.notes)


def raise_value_error(case):
    raise ValueError("my own words")


def changes_input(case):
    case["x"] *= 2
    return case["x"]


@pytest.mark.parametrize(
    ("call", "status", "words"),
    [
        (lambda case: None, "failed", "returned None"),
        (lambda case: "text", "failed", "returned a str"),
        (lambda case: torch.exp, "failed", "was it called?"),
        (lambda case: case["x"] + 1j, "failed", "complex"),
        (lambda case: (case["x"], case["x"]), "failed", "2 tensors; expected are one tensor"),
        (lambda case: case["x"].T * 2, "failed", "look swapped"),
        (lambda case: case["x"].sum(-1), "failed", "Missing: token (3)"),
        (lambda case: case["x"][None] * 2, "failed", "One too many: axis 0 of size 1"),
        (lambda case: case["x"][:, :2], "failed", "token (3), which has 2 in yours"),
        (lambda case: case["x"] / 0 * 0, "failed", "NaN"),
        (lambda case: case["x"] / 0 + 1, "failed", "NaN"),
        (lambda case: 1 / (case["x"] * 0), "failed", "infinite"),
        (lambda case: case["x"], "failed", "5 of 6 of your numbers differ"),
        (raise_value_error, "error", "ValueError: my own words"),
        (changes_input, "failed", "changed its input (x)"),
    ],
)
def test_wrong_answers_are_told_apart(call, status, words):
    given = verdict(call)
    assert given.status == status
    assert words in given.reason


def test_an_unwritten_answer_is_no_error():
    def stub(case):
        raise NotImplementedError

    assert verdict(stub).status == "missing"
    assert "Not answered yet" in verdict(stub).reason


def test_code_for_one_batch_size_is_recognised():
    given = verdict(
        lambda case: case["x"].reshape(2, -1) * 2 if case["x"].numel() == 6 else case["x"].view(2, 3)
    )
    assert "Right when the first axis has size 2, wrong for 4" in given.reason


def test_a_known_mistake_is_named_only_if_it_explains_every_case():
    tripled = KnownMistake(
        "tripled", "Three times is one too many.", tuple(ask(lambda c: c["x"] * 3, c) for c in CASES)
    )
    assert verdict(lambda case: case["x"] * 3, mistakes=[tripled]).hint == tripled.hint
    other = verdict(lambda case: case["x"] * (3 if len(case["x"]) == 2 else 5), mistakes=[tripled])
    assert (other.status, other.mistake) == ("failed", "")


def test_infinities_must_stand_in_the_same_places():
    want = [Answer({"": np.array([0.0, -np.inf], np.float32)})]
    assert judge(want, want, Rule()).passed
    assert not judge([Answer({"": np.array([-np.inf, 0.0], np.float32)})], want, Rule()).passed
    assert not judge([Answer({"": np.array([0.0, -1e9], np.float32)})], want, Rule()).passed


def test_tolerance_is_relative_to_the_scale():
    want = [Answer({"": np.array([1e6, 1.0], np.float32)})]
    near = [Answer({"": np.array([1e6 + 50, 2.0], np.float32)})]
    far = [Answer({"": np.array([1e6 + 500, 1.0], np.float32)})]
    assert judge(near, want, Rule(tolerance=1e-4)).passed
    assert not judge(far, want, Rule(tolerance=1e-4)).passed


def test_whole_numbers_are_compared_exactly():
    want = [Answer({"": np.array([3, 4])})]
    assert judge([Answer({"": np.array([3.0, 4.0])})], want, Rule()).passed
    assert not judge([Answer({"": np.array([3, 5])})], want, Rule()).passed
    assert not judge([Answer({"": np.array([3.0, 4.4])})], want, Rule()).passed


@pytest.mark.parametrize(
    ("got", "want", "words"),
    [
        ((2, 5, 3), (2, 3, 5), "axis 1 (size 3) and axis 2 (size 5) look swapped"),
        ((3, 5), (2, 3, 5), "Missing: axis 0 (size 2)"),
        ((2, 3, 1), (2, 3), "axis 2 of size 1"),
        ((), (2,), "Missing: axis 0 (size 2)"),
    ],
)
def test_shapes_are_explained(got, want, words):
    assert words in shape_sentence(got, want)
