"""What a training function has achieved is measured from arrays that anybody may have made up."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from autograder.checks.asking import ask
from coursekit.project.codes import BELOW_UNIGRAM
from coursekit.project.measuring import FINE, UNREADABLE, measured
from coursekit.project.training import MOST_TOKENS, trained
from tests.conftest import ASSIGNMENTS

CASE = ASSIGNMENTS["project"].exercises["project.train"].draw(3)[0]


def train(model, ids, steps):
    T, losses = model.config.tokens, []
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        windows = ids[torch.randint(len(ids) - T, (16, 1)) + torch.arange(T + 1)]
        loss = cross_entropy(model(windows[:, :-1]).logits.transpose(1, 2), windows[:, 1:])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.detach())
    return torch.stack(losses)


@pytest.fixture(scope="module")
def asked():
    """The names of the inputs that the training function's call is given, and the evidence of the training."""
    given = []
    answer = ask(lambda case: given.append(set(case)) or trained(train, case), CASE, "torch")
    return given, answer.arrays


@pytest.fixture(scope="module")
def evidence(asked):
    return asked[1]


def code_of(arrays, case=CASE):
    return measured(arrays, case)["training"].tolist()


@pytest.mark.slow
def test_a_training_as_asked_is_fine(evidence):
    assert code_of(evidence) == [FINE]


def test_the_training_function_is_not_given_the_held_out_text(asked):
    assert "_held_out" in CASE and asked[0] == [set(CASE) - {"_held_out"}]


def test_weights_of_another_model_are_worth_what_they_predict(evidence):
    noise = np.random.default_rng(0).standard_normal(evidence["weights"].shape).astype(np.float32)
    assert code_of(evidence | {"weights": noise}) == [3]


@pytest.mark.slow
def test_losses_are_computed_once_more(evidence):
    assert code_of(evidence | {"losses": evidence["losses"] / 2}) == [10]
    assert code_of(evidence | {"losses": evidence["losses"] * np.nan}) == [10]


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", ["weights", "late", "sizes", "read", "losses", "scored", "logits", "gradient", "left"]
)
@pytest.mark.parametrize(
    "change",
    [
        lambda array: array[:0],
        lambda array: array.ravel(),
        lambda array: np.zeros((2, 0, 5), array.dtype),
        lambda array: np.asarray(3.0),
        lambda array: np.full(array.shape, np.nan),
        lambda array: np.full(array.shape, -1),
        lambda array: np.full(array.shape, 2**62),
        lambda array: np.ones(array.shape, bool),
        lambda array: array.repeat(2, axis=0),
    ],
)
def test_nothing_that_is_made_up_raises(evidence, part, change):
    (code,) = code_of(evidence | {part: change(evidence[part])})
    assert code in (FINE, UNREADABLE) or f"last {code}" in BELOW_UNIGRAM


def test_parts_that_are_missing_or_too_many_are_not_read(evidence):
    assert code_of({}) == code_of({"": evidence["weights"]}) == [UNREADABLE]
    assert code_of(evidence | {"training": np.array([FINE])}) == [UNREADABLE]


def test_weights_that_are_no_numbers_have_no_loss_below_the_baseline(evidence):
    assert code_of(evidence | {"weights": evidence["weights"] * np.nan}) == [3]


@pytest.mark.slow
def test_batches_that_are_too_large_are_said_to_be_so():
    rows = MOST_TOKENS // (CASE["steps"] * CASE["window"]) + 1

    def too_much(model, ids, steps):
        with torch.no_grad():
            model.token.weight += 1
            for _ in range(steps):
                model(ids[: model.config.tokens].expand(rows, -1))
        return torch.zeros(steps)

    answer = ask(lambda case: trained(too_much, case), CASE, "torch")
    assert code_of(answer.arrays) == [17] and sum(array.nbytes for array in answer.arrays.values()) < 1e6
