"""Costs of recurrence and attention, from formulas and from given times."""

import numpy as np
import pytest
import torch

from coursekit.costs import Costs, count_operations, meeting_point
from coursekit.recurrence import D, first_word_matters, random_weights


def test_operations_are_those_of_the_formulas():
    costs = Costs([16, 64], 64, {"recurrence": [1.0, 4.0], "attention": [1.0, 2.0]}, {}, 0.0, 0.0, 0.0)
    table = count_operations(costs)
    assert table.loc["operations: attention / plain network", 64] == "3.00"  # (2 + 4) / 2 at T = D
    assert table.loc["operations: attention / LSTM", 16] == "0.56"
    assert table.loc["time: attention / plain network", 64] == "0.5"


def test_lines_meet_between_two_sizes_or_beyond_the_last():
    assert meeting_point([1, 4], [2.0, 2.0], [1.0, 4.0]) == pytest.approx(2)
    assert meeting_point([1, 2], [4.0, 4.0], [1.0, 2.0]) == pytest.approx(4)


def test_the_derivative_is_that_of_the_first_word():
    def run(x, seed):
        return 3 * x[0] + 5 * x[-1]

    assert first_word_matters(run, T=4, seed=0) == pytest.approx(3 * np.sqrt(D))


def test_weights_are_those_that_pytorch_draws_and_one_gate_may_be_open():
    weights, open_gate = random_weights(0, gates=4), random_weights(0, gates=4, forget_bias=3.0)
    assert weights["W_x"].shape == (D, 4 * D) and weights["W_x"].abs().max() <= D**-0.5
    assert torch.equal(weights["W_h"], open_gate["W_h"])
    assert open_gate["b"].sum() == 3 * D and (open_gate["b"][D : 2 * D] == 3).all()
