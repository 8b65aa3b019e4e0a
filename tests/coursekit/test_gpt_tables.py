"""Numbers in the tables of notebook 07."""

import pytest
import torch

from coursekit.novels.per_character import nats_of
from coursekit.pictures.gpt import share_of_later_words
from coursekit.pictures.gpt_tables import counted_parameters, sizes_of_decoders


def test_the_counted_sizes_are_the_published_ones():
    counted = counted_parameters(sizes_of_decoders()).to_numpy()
    assert counted / [117e6, 1.5e9, 175e9, 65e9] == pytest.approx([1, 1, 1, 1], abs=0.05)


def test_the_influence_of_later_words_is_above_the_diagonal():
    assert share_of_later_words(torch.tensor([[1.0, 2.0], [4.0, 1.0]])) == pytest.approx(0.25)


def test_losses_of_batches_of_similar_length_come_back_in_the_order_of_the_texts():
    def next_is_larger(ids):
        """p of token i is proportional to exp(i)."""
        return torch.arange(6.0).expand(*ids.shape, 6)

    rows = [[0, 1, 5], [0, 1], [0, 1, 2, 2, 2]] * 5
    total = torch.arange(6.0).logsumexp(dim=0).item()
    expected = [total - 1 + total - 5, total - 1, 4 * total - 1 - 3 * 2] * 5
    assert nats_of(rows, 1, next_is_larger) == pytest.approx(expected, rel=1e-5)
    assert nats_of(rows, 2, next_is_larger)[0] == pytest.approx(total - 5, rel=1e-5)
