"""What is measured in sentences that a decoder generates."""

import numpy as np
import pytest
import torch

from coursekit.generating import log_probabilities, next_turn, padded_with_end, words_above_the_line
from coursekit.language import BOS, EOS, PAD


def test_words_are_compared_at_the_same_fraction_of_possible_sentences():
    drawn = {
        "0.5": np.array([[1.0, 100.0], [0.9, 90.0]]),
        "1": np.array([[0.8, 200.0], [0.7, 190.0]]),
        "top-p 0.9": np.array([[0.9, 170.0], [0.7, 180.0]]),
    }
    assert words_above_the_line(drawn, "top-p 0.9") == pytest.approx([20, -10])


def test_a_dialogue_is_marked_turn_by_turn():
    asked = []

    def continue_text(text: str, tokens: int) -> list[str]:
        asked.append((text, tokens))
        return [" fine <|im_end|>\n"]

    assert next_turn(continue_text, "hello", "hi", "how are you", tokens=5) == "fine"
    assert asked == [
        (
            "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\nhi<|im_end|>\n"
            "<|im_start|>user\nhow are you<|im_end|>\n<|im_start|>assistant\n",
            5,
        )
    ]


def test_padding_adds_nothing_to_the_log_probability_of_a_sentence():
    def uniform(ids):
        return torch.zeros(*ids.shape, 8)

    ids = torch.tensor([[BOS, 5, EOS, PAD], [BOS, 5, 6, EOS]])
    assert log_probabilities(uniform, ids).tolist() == pytest.approx([-2 * np.log(8), -3 * np.log(8)])


def test_labels_see_the_end_token_in_place_of_padding():
    seen = padded_with_end(lambda ids, end: ids + 0 * end)(torch.tensor([[BOS, 5, EOS, PAD, PAD]]))
    assert seen.tolist() == [[BOS, 5, EOS, EOS, EOS]]
