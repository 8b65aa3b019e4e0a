"""Sequences of similar length are read together, and nothing but the work depends on it."""

import torch

from coursekit.batches import by_length


def test_results_come_in_the_order_of_the_sequences_whatever_was_read_together():
    lengths, together = [5, 1, 4, 1, 3], []

    def read(places):
        together.append(places.tolist())
        return torch.stack([10 * places, places])  # 2 b

    assert by_length(read, lengths, 2, dim=1).tolist() == [[0, 10, 20, 30, 40], [0, 1, 2, 3, 4]]
    assert together == [[1, 3], [4, 2], [0]]
