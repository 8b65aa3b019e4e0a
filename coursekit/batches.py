"""Batches of sequences of similar length, which need little padding."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Int
from torch import Tensor


def by_length(
    read: Callable[[Int[Tensor, " b"]], Tensor], lengths: Sequence[int] | Tensor, size: int, dim: int = 0
) -> Tensor:
    """The results of `read` for all sequences, in their own order; sequences of similar length are read together.

    read(places) gets the places of at most `size` sequences, and returns one slice along `dim` for each of them.
    """
    order = torch.as_tensor(lengths).argsort(stable=True)
    sorted_results = torch.cat([read(places) for places in order.split(size)], dim=dim)
    return sorted_results.index_select(dim, order.argsort())
