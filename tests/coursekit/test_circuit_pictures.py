"""Numbers and words in the tables of notebook 15."""

import torch

from coursekit.pictures.circuits import most_active_words


def test_words_of_a_latent_are_frequent_enough_and_ordered_by_their_mean_code():
    words = ["cell"] * 3 + ["bank"] * 4 + ["rare"] + ["silent"] * 3
    code = torch.tensor([1.0, 2.0, 3.0, 4.0, 4.0, 4.0, 0.0, 9.0, 0.0, 0.0, 0.0])
    assert most_active_words(code, words) == "bank, cell"
    assert most_active_words(code, words, number=1, least=1) == "rare"
