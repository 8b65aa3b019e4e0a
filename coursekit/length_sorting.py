"""Texts that are encoded in batches of similar length: how many positions this saves, and whether their vectors stay the same (notebook 09)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from coursekit.language import PAD

SIZE, ENCODED = 16, 64
"""Sequences of a batch, and how many of them are encoded to compare their vectors."""

Encode = Callable[[Int[Tensor, "B T"]], Float[Tensor, "B D"]]
LengthSorted = Callable[[Int[Tensor, " n"], int], tuple[Sequence[Int[Tensor, " b"]], Int[Tensor, " n"]]]
"""The student's `length_sorted`."""


@dataclass(frozen=True)
class ByLength:
    """The lengths of sequences, their batches, and the largest difference between vectors encoded in one batch and in sorted batches."""

    lengths: Int[Tensor, " n"]
    batches: Sequence[Int[Tensor, " b"]]
    restored: float
    """After the original order was restored."""
    unrestored: float


def positions(lengths: Int[Tensor, " n"], batches: Sequence[Int[Tensor, " b"]]) -> int:
    """How many positions a model processes, padding included, if each batch is padded to its longest sequence."""
    return sum(len(batch) * int(lengths[batch].max()) for batch in batches)


def in_sorted_batches(encode: Encode, ids: Int[Tensor, "n T"], length_sorted: LengthSorted) -> ByLength:
    """Sort sequences into batches with `length_sorted`, and encode the first of them in one batch and in sorted ones."""
    lengths = (ids != PAD).sum(dim=1)
    some, back = length_sorted(lengths[:ENCODED], SIZE)
    together = _encoded(encode, ids[:ENCODED], [torch.arange(ENCODED)])
    sorted_ones = _encoded(encode, ids[:ENCODED], some)
    return ByLength(
        lengths,
        length_sorted(lengths, SIZE)[0],
        (together - sorted_ones[back]).abs().max().item(),
        (together - sorted_ones).abs().max().item(),
    )


def _encoded(
    encode: Encode, ids: Int[Tensor, "n T"], batches: Sequence[Int[Tensor, " b"]]
) -> Float[Tensor, "n D"]:
    """The vectors in the order of the batches, each without the columns that are padding in all of its sequences."""
    return torch.cat(
        [encode(ids[batch][:, : int((ids[batch] != PAD).sum(dim=1).max())]) for batch in batches]
    )
