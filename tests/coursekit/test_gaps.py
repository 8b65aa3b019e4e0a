"""Gaps in English sentences, read by an encoder."""

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import nn

from coursekit.novels import gaps

WORDS = ["[UNK]", "[CLS]", "[SEP]", "[MASK]", "on", "and", "left", "right", "."]


class Neighbours(nn.Module):
    """An encoder of at most 8 tokens, in whose last state each token has the one-hot vector of the token before it."""

    def __init__(self):
        super().__init__()
        self.position = nn.Embedding(8, 1)

    def forward(self, ids, segments, real):
        assert ids.shape[1] <= 8 and real.all() and not segments.any()
        states = nn.functional.one_hot(ids.roll(1, dims=1), len(WORDS)).float()
        return states[None], states[:, 0]


@pytest.fixture
def reader() -> gaps.Reader:
    vocabulary = {word: i for i, word in enumerate(WORDS)}
    pieces = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    pieces.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return gaps.Reader(Neighbours(), lambda states: 100 * states, pieces)


def test_a_long_text_is_truncated_around_the_gap(reader):
    for text in ("left [MASK]", "on and " * 20 + "left [MASK]" + " and on" * 20):
        assert gaps.best_guesses(reader, text, 1) == "left 1.00"
    assert gaps.best_guesses(reader, "[MASK] and", 1) == "[CLS] 1.00"
    assert gaps.best_guesses(reader, "left") == "this text contains no [MASK]"


def test_a_reader_is_asked_with_each_side_removed_and_masked(reader):
    read = gaps.read_gaps(reader, [("on", "right", "and"), ("on", "on", "and")])
    assert read.nats["both"].tolist() == read.nats["left"].tolist()  # this reader looks to the left
    assert read.nats["both"][0] > 50 and read.nats["both"][1] == pytest.approx(0, abs=1e-3)
    assert read.nats["right, rest hidden"][1] > 50  # there, [MASK] comes before the gap
    assert read.ranks.tolist()[1] == 0 and read.ends == [False, False]


def test_a_text_that_ends_is_recognised_by_its_punctuation(reader):
    assert gaps.read_gaps(reader, [("on .", "and", "left")]).ends == [True]


def test_the_log_probabilities_sum_to_one(reader):
    assert gaps.log_p_of_gap(reader, "on [MASK]").exp().sum() == pytest.approx(1)
