"""Untrained networks with random weights, and how much of the first word is left in their last state."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

D = 32
"""The size of word vectors and states."""
Run = Callable[[Float[Tensor, "T D"], int], Float[Tensor, " D"]]
"""A network from word vectors and a seed for its weights to its last state."""


def random_weights(
    seed: int, gates: int = 1, forget_bias: float = 0.0, enlarged: float = 1.0
) -> dict[str, Tensor]:
    """Untrained weights W_x, W_h and b in float64, with gates · D columns.

    The matrices are uniform between −1/√D and 1/√D, as PyTorch initialises them; W_h is multiplied by `enlarged`. The biases are 0,
    except for that of the forget gate of an LSTM.
    """
    generator = torch.Generator().manual_seed(seed)

    def matrix() -> Tensor:
        return (2 * torch.rand(D, gates * D, generator=generator).double() - 1) / D**0.5

    weights = {"W_x": matrix(), "W_h": enlarged * matrix(), "b": torch.zeros(gates * D).double()}
    weights["b"][D : 2 * D] = forget_bias
    return weights


def first_word_matters(run: Run, T: int, seed: int) -> float:
    """Norm of the derivative of the output of `run` with respect to the first of T random words."""
    x = torch.randn(T, D, generator=torch.Generator().manual_seed(1000 + seed)).double()

    def with_first(word: Float[Tensor, " D"]) -> Float[Tensor, " D"]:
        return run(torch.cat([word[None], x[1:]]), seed)

    return torch.autograd.functional.jacobian(with_first, x[0], vectorize=True).norm().item()


def over_seeds(run: Run, lengths: Sequence[int], seeds: int = 8) -> Float[np.ndarray, "seed length"]:
    """The derivative for each seed (different weights, different words) and each length."""
    return np.array([[first_word_matters(run, T, seed) for T in lengths] for seed in range(seeds)])


def difference_from_lstm(
    run: Callable[[Float[Tensor, "T D"], dict[str, Tensor]], Float[Tensor, " D"]], weights: dict[str, Tensor]
) -> float:
    """The largest difference between the last state of `run` and that of `nn.LSTM` with the same weights, after 20 random words."""
    theirs = torch.nn.LSTM(D, D).double()
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(weights["W_x"].T), theirs.weight_hh_l0.copy_(weights["W_h"].T)
        theirs.bias_ih_l0.copy_(weights["b"]), theirs.bias_hh_l0.zero_()
    sentence = torch.randn(20, D).double()
    return (theirs(sentence)[0][-1] - run(sentence, weights)).abs().max().item()
