"""What the checks of notebook 14 ask of a student's code."""

import pytest
import torch
from torch import nn

from coursekit.assistants import try_lora, without_change


def grown(turns):
    ids = turns[0]
    for turn in turns[1:]:
        ids += turn
    return ids


def test_a_function_that_writes_into_the_lists_it_was_given_is_told_so():
    assert without_change(lambda turns: [id for turn in turns for id in turn], [[1], [2]]) == [1, 2]
    with pytest.raises(ValueError, match="changed the lists"):
        without_change(grown, [[1], [2]])


def lora(table, other=None, **more):
    class Lora(nn.Module):
        def __init__(self, base, rank, alpha):
            super().__init__()
            self.base = base.requires_grad_(False)
            self.A, self.B = (
                nn.Parameter(table.clone()),
                nn.Parameter(torch.zeros(5, 2) if other is None else other.clone()),
            )

        def forward(self, x):
            return self.base(x) + x @ self.A.T @ self.B.T

    case = {
        "config": {"inputs": 4, "outputs": 5, "rank": 2, "alpha": 1.0, "bias": False},
        "x": torch.ones(3, 4),
    }
    weights = {"A": torch.ones(2, 4), "B": torch.ones(5, 2), "base.weight": torch.ones(5, 4)} | more
    return try_lora(Lora, case | {f"weights.{name}": value for name, value in weights.items()})


@pytest.mark.parametrize(
    ("table", "random"),
    [
        (0.02 * torch.randn(2, 4), True),
        (torch.randn(2, 4), True),
        (torch.rand(2, 4), True),
        (torch.zeros(2, 4), False),
        (torch.ones(2, 4), False),
        (torch.eye(2, 4), False),
        (100 * torch.randn(2, 4), False),
    ],
)
def test_a_begins_with_small_random_numbers(table, random):
    assert lora(table)["A begins with random numbers"].item() == random


def test_b_begins_with_what_changes_nothing():
    drawn = torch.randn(2, 4)
    assert not lora(drawn)["changes something before training"]
    assert lora(drawn, torch.ones(5, 2))["changes something before training"]


def test_nothing_is_told_of_a_layer_that_lacks_a_weight():
    answers = lora(torch.randn(2, 4), bias=torch.ones(5))
    assert answers["A begins with random numbers"].shape == answers["eval"].shape == (0,)
