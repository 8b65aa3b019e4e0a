"""A check that asks for gradients: the values are right, and the notebook could not train through the answer."""

import numpy as np
import pytest
import torch

from autograder.checks import answer_key
from autograder.checks.asking import ask
from autograder.checks.card import Card
from autograder.checks.comparing import KnownMistake, Rule
from autograder.checks.exceptions import WrongCall
from autograder.checks.gradients import Differentiable
from autograder.checks.judging import judge
from autograder.exercise import Exercise, detached, edited
from autograder.grading.reference import as_fingerprint

RANDOM = np.random.default_rng(0)
CASES = tuple(
    {"x": RANDOM.standard_normal((2, n)).astype(np.float32), "W": RANDOM.standard_normal((n, 3)).astype(np.float32)}
    for n in (4, 5)
)  # fmt: skip
RULE = Rule(arrays="torch")
LINES = "`detach`, `no_grad`, `.data`, `.item()`, `.tolist()`, `torch.tensor(…)` and NumPy cut"


def solution(x, W):
    return (x @ W).softmax(-1)


def answers(function, at=True, cases=CASES):
    return tuple(ask(Differentiable(lambda case: function(**case), at), case, "torch") for case in cases)


def verdict(function, right=solution, mistakes=(), at=True, cases=CASES):
    return judge(answers(function, at, cases), answers(right, at, cases), RULE, mistakes, cases=cases)


def known(name, function, right=solution):
    wrong = as_fingerprint(answers(function), answers(right), RULE)
    return KnownMistake(name, f"The hint of {name}.", wrong)


def in_numpy(x, W):
    e = np.exp(x.numpy() @ W.numpy())
    return e / e.sum(-1, keepdims=True)


def in_place(x, W):
    e = (x @ W).exp()
    return e.div_(e.sum(-1, keepdim=True))


@torch.no_grad()
def under_no_grad(x, W):
    return solution(x, W)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, W: solution(x, W).detach(),
        lambda x, W: solution(x.data, W.data),
        lambda x, W: solution(x, W).tolist(),
        lambda x, W: torch.tensor([[number.item() for number in row] for row in solution(x, W)]),
        under_no_grad,
        in_numpy,
    ],
)
def test_right_values_that_nothing_can_be_trained_through_are_not_right(function):
    found = verdict(function)
    assert found.reason == (
        "The values are right, but no gradient reaches `W` and `x`. The notebook computes gradients through this "
        f"function; {LINES} them off."
    )
    assert not found.passed


def with_the_largest_detached(x, W):
    scores = x @ W
    e = torch.exp(scores - scores.amax(-1, keepdim=True).detach())
    return e / e.sum(-1, keepdim=True)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, W: torch.softmax(x.double() @ W.double(), dim=1),
        lambda x, W: solution(x, W).half(),
        lambda x, W: solution(x.bfloat16(), W.bfloat16()),
        lambda x, W: list(solution(x, W)),
        lambda x, W: [list(row) for row in solution(x, W)],
        with_the_largest_detached,  # it shifts all scores of a row alike
    ],
)
def test_an_answer_of_any_form_that_gradients_lead_through_is_right(function):
    found = verdict(function)
    assert found.passed, found.reason


def test_a_gradient_of_which_a_part_is_cut_off_is_named_with_its_input():
    found = verdict(lambda x, W: (x @ W).exp() / (x @ W.detach()).exp().sum(-1, keepdim=True))
    assert found.reason.startswith("The values are right, but the gradient that reaches `W` is wrong.")
    assert found.reason.endswith("cut a part of them off.")
    found = verdict(lambda x, W: solution(x, W.detach()))
    assert "no gradient reaches `W`." in found.reason


def test_what_prevents_the_gradient_is_told_unless_it_would_mislead():
    """torch's advice to whoever calls numpy on such a tensor is to detach it."""
    assert (
        "no gradient can be computed, and the notebook needs one: a line such as `x += …` or"
        in verdict(in_place).reason
    )
    stops = verdict(lambda x, W: solution(x, W) if not x.requires_grad else x.no_such_name)
    assert "AttributeError: 'Tensor' object has no attribute 'no_such_name'." in stops.reason
    assert "Tensor that requires grad" not in verdict(in_numpy).reason


def test_wrong_values_are_told_before_any_gradient():
    found = verdict(lambda x, W: in_numpy(x, W) + 1, mistakes=[known("detached", under_no_grad)])
    assert "gradient" not in found.reason and "larger than the expected ones by 1" in found.reason


def test_one_sentence_tells_of_gradients_and_none_of_the_inputs_on_which_they_are_right():
    cases = [*CASES, {"x": CASES[0]["x"][:1], "W": CASES[0]["W"]}]
    found = verdict(lambda x, W: solution(x, W) if len(x) == 1 else under_no_grad(x, W), cases=cases)
    assert found.reason == verdict(under_no_grad).reason
    wrong_once = verdict(lambda x, W: under_no_grad(x, W) + (len(x) == 1), cases=cases)
    assert "gradient" not in wrong_once.reason and "by 1" in wrong_once.reason


def test_a_known_mistake_is_named_by_its_values_and_one_with_right_values_by_its_gradients():
    over_the_rows = known("over the rows", lambda x, W: (x @ W).softmax(0))
    detached, half = known("detached", under_no_grad), known("W alone", lambda x, W: solution(x, W.detach()))
    mistakes = [over_the_rows, detached, half]
    assert verdict(in_numpy, mistakes=mistakes).mistake == "detached"
    assert verdict(lambda x, W: solution(x, W.data), mistakes=mistakes).mistake == "W alone"
    assert verdict(lambda x, W: solution(x.data, W), mistakes=mistakes).mistake == ""
    assert verdict(in_place, mistakes=mistakes).mistake == ""  # detached it is not
    assert verdict(lambda x, W: (x @ W).softmax(0).tolist(), mistakes=mistakes).mistake == "over the rows"


def test_gradients_are_asked_for_at_the_named_inputs_alone():
    assert verdict(lambda x, W: solution(x, torch.from_numpy(W.numpy())), at=["x"]).passed
    assert "reaches `x`" in verdict(lambda x, W: solution(x.detach(), W), at=["x"]).reason


def test_neither_whole_numbers_nor_inputs_that_lead_nowhere_have_a_gradient():
    cases = [{"x": np.float32([1, 2, 3]), "ids": np.array([2, 0]), "draws": np.float32([0.2, 0.9])}]
    found = verdict(
        lambda x, ids, draws: x[ids] * torch.from_numpy(draws.numpy() > 0.5),
        right=lambda x, ids, draws: x[ids] * (draws > 0.5),
        at=["x", "ids"],
        cases=cases,
    )
    assert found.passed, found.reason


def test_a_gradient_that_is_not_finite_is_not_compared():
    """0 · ∞ on the branch that is not taken: the values are right, and they are all that is promised there."""
    cases = [{"x": np.float32([200, -1, 0.5])}, {"x": np.float32([0.25, -1, 0.5])}]

    def branches(x):
        return torch.where(x > 0, torch.log1p(torch.exp(-x)), torch.log1p(torch.exp(x)) - x)

    assert verdict(branches, right=lambda x: torch.nn.functional.softplus(-x), cases=cases).passed


def test_a_gradient_that_is_the_rounding_of_another_is_not_compared():
    """That of the temperature, where the softmax is saturated."""
    cases = [{"x": np.float32([[0, 90, 30]]), "scale": np.float32([1]), "values": np.float32([1, 2, 3])}]

    def mean(x, scale, values):
        return (x * scale).softmax(-1) @ values

    assert verdict(lambda x, scale, values: mean(x, scale.item(), values), right=mean, cases=cases).passed
    cases[0]["x"] /= 90
    cut = verdict(lambda x, scale, values: mean(x, scale.item(), values), right=mean, cases=cases)
    assert "no gradient reaches `scale`" in cut.reason


def test_a_notebook_that_switches_gradients_off_elsewhere_loses_nothing():
    with torch.no_grad():
        assert verdict(solution).passed


def test_what_a_function_prints_is_shown_once_for_each_input(capsys):
    answers(lambda x, W: print(len(x)) or solution(x, W))
    assert capsys.readouterr().out == "2\n2\n"


def test_the_gradients_of_a_key_come_back_from_its_file_and_no_picture_is_drawn_of_equal_numbers(tmp_path):
    expected = answers(solution)
    key = answer_key.ExerciseKey(
        "demo.f", RULE, ("", "", "", ""), (), CASES, expected, (known("detached", under_no_grad),), ("x", "W")
    )
    (tmp_path / "demo.key").write_bytes(answer_key.to_bytes([key]))
    read = answer_key.load(tmp_path / "demo.key")["demo.f"]
    for before, after in zip(expected, read.expected, strict=True):
        assert {name: array.tolist() for name, array in before.gradients.items()} == {
            name: array.tolist() for name, array in after.gradients.items()
        }
    given = answers(under_no_grad)
    found = judge(given, read.expected, read.rule, read.mistakes, cases=read.cases)
    assert found.mistake == "detached"
    card = Card(read, found, given)
    assert (
        card.picture() is None
        and "yours" not in card.text()
        and "Your answer is wrong on all 2 inputs." in card.text()
    )
    assert judge(answers(solution), read.expected, read.rule).passed


def test_a_course_in_numpy_cannot_ask_for_gradients():
    with pytest.raises(WrongCall, match="needs tensors"):
        ask(Differentiable(lambda case: case["x"]), CASES[0], "numpy")


def test_the_mistake_of_a_detached_answer_is_made_of_any_solution():
    names = {"torch": torch}
    mistake = detached("solution")
    source = "def solution(x, W):\n    return (x @ W).softmax(-1)\n"
    exercise = Exercise(
        cases=lambda draw: [], mistakes=(mistake,), alternatives={}, hints=("", "", "", ""), name="a.b"
    )
    exec(edited(source, exercise, mistake), names)
    assert verdict(names["solution"]).reason == verdict(under_no_grad).reason
    assert mistake.hint.startswith("Your values are right, but no gradient reaches the inputs.")
