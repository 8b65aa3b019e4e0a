"""Sorting by length: positions are counted with padding, and a wrong way back shows in the vectors."""

import torch

from coursekit.language import PAD
from coursekit.length_sorting import in_sorted_batches, positions

IDS = torch.arange(1, 65)[:, None] * (torch.arange(70) < torch.arange(64, 0, -1)[:, None]) + PAD
"""64 sequences of 64, 63 … 1 tokens; all tokens of a sequence are its number."""


def first_tokens(ids):
    assert (ids != PAD).any(dim=0).all(), "a column that is padding in every sequence"
    return ids[:, :1].float()


def by_length(lengths, size):
    order = lengths.argsort()
    return list(order.split(size)), order.argsort()


def test_positions_are_those_of_padded_batches():
    lengths = torch.tensor([9, 3, 8, 2])
    assert positions(lengths, torch.arange(4).split(2)) == 34
    assert positions(lengths, [torch.tensor([3, 1]), torch.tensor([2, 0])]) == 24


def test_vectors_are_compared_in_the_original_order_and_in_that_of_the_batches():
    found = in_sorted_batches(first_tokens, IDS, by_length)
    assert found.lengths.tolist() == list(range(64, 0, -1))
    assert (found.restored, found.unrestored) == (0, 63)
    wrong = in_sorted_batches(first_tokens, IDS, lambda *given: (by_length(*given)[0], torch.arange(64)))
    assert wrong.restored == 63
