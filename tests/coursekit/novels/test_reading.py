"""Ambiguous English words in sentences: where they are, and which senses the nearest labelled sentences have."""

import numpy as np
import pandas as pd
import pytest
import torch

from coursekit.novels.reading import Occurrences, nearest_words, same_word, senses_found


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "word": ["bank", "bank", "bank", "rose", "rose"],
            "sense": ["river", "money", "money", "flower", "flower"],
            "split": ["train", "train", "test", "train", "test"],
            "at": [1, 0, 0, 0, 0],
        }
    )


def test_a_sense_is_that_of_the_nearest_labelled_sentence_with_the_same_word(table):
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.0, 1.0], [1.0, 0.0]])
    found = senses_found(table, vectors)
    assert np.isnan(found[[0, 1, 3]]).all()  # labelled sentences are not questions
    assert found[[2, 4]].tolist() == [0, 1]


def test_neighbours_have_another_spelling_and_occurrences_their_sense(table):
    words = np.array(["the", "bank", "spring", "bank"])
    vectors = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [0.1, 1.0], [1.0, 1.0]]] * 2)
    pool = Occurrences(table, words, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), vectors)
    target = torch.tensor([[0.0, 2.0]] * 2)
    assert nearest_words("bank", target, pool, count=1) == ["spring 1.00"] * 2
    assert same_word("bank", target, pool) == [(1, 1, 1.0)]
    assert same_word("rose", target, pool) == []
    assert pool.sense_at(1) == "river" and pool.sense_at(3) == ""
