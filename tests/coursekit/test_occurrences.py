"""Words of a sentence by their characters, and means over sentences in which words repeat."""

import numpy as np
import pandas as pd
import pytest
import torch

from coursekit.occurrences import (
    SENSE_PAIRS,
    accuracy_over_words,
    gaps_between_senses,
    number_of_word,
    spans_of_words,
)


def test_words_are_found_by_their_characters_and_punctuation_is_no_word():
    text = "“Don't!” said Ann-Marie, at 1996-08-27."
    words = [text[begin:end] for begin, end in spans_of_words(text).tolist()]
    assert words == ["Don't", "said", "Ann", "Marie", "at", "1996", "08", "27"]
    assert number_of_word(text, text.index("Marie")) == 3


def test_the_interval_of_an_accuracy_widens_with_few_words_not_with_few_sentences():
    correct = np.array([True, True, False, False] * 25)
    mean, low, high = accuracy_over_words(correct, np.arange(100))
    assert mean == 0.5 and 0.38 < low < 0.42 and 0.58 < high < 0.62
    of_four_words = accuracy_over_words(correct, np.tile(["a", "b", "c", "d"], 25))
    assert of_four_words == (0.5, 0.0, 1.0)


def test_the_gap_is_the_cosine_within_two_senses_minus_the_cosine_between_them():
    senses = pd.DataFrame(
        [(word, sense) for word, among in SENSE_PAIRS.items() for sense in among for _ in range(2)],
        columns=["word", "sense"],
    )
    angles = torch.zeros(len(senses))
    angles[torch.tensor((senses.sense == "fire").to_numpy())] = torch.pi / 3  # cosine 1/2 with the others
    gaps = gaps_between_senses(torch.stack([angles.cos(), angles.sin()], dim=1), senses)
    assert gaps["match"]["game", "fire"] == pytest.approx(0.5, abs=1e-6)
    assert gaps["match"]["game", "agree"] == pytest.approx(0, abs=1e-6)
    assert list(gaps["light"]) == [("brightness", "weight")]
