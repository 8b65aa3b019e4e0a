"""Sentence pairs on which notebook 06 trains a small BERT within seconds."""

import numpy as np
import pytest
import torch

from coursekit.language import Language
from coursekit.small import BERT, BERTConfig, pairs
from coursekit.small.bert import CLS, PAD, SEP, corrupt


@pytest.fixture(scope="module")
def corner() -> Language:
    return pairs.simple_language("night")


def encode_pair(a, b, T, cls, sep, pad):
    ids = [cls, *a.tolist(), sep, *b.tolist(), sep]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    rest = T - len(ids)
    keep = torch.arange(T) < len(ids)
    return torch.tensor(ids + [pad] * rest), torch.tensor(segments + [0] * rest), keep


def collate(rows):
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    return ids, ids != PAD


def test_the_learning_rate_rises_for_three_tenths_of_the_steps_and_then_falls():
    rates = [pairs.learning_rate(step, 100) for step in range(100)]
    assert np.argmax(rates) == 29 and max(rates) == pytest.approx(6e-3)
    assert (np.diff(rates[:30]) > 0).all() and (np.diff(rates[31:]) < 0).all() and rates[-1] < 1e-5


def test_rows_have_no_padding_and_a_label_for_the_next_sentence(corner, capsys):
    rows = pairs.training_rows(corner, encode_pair, count=40)
    for ids, segments, label in rows:
        assert ids[0] == CLS and ids[-1] == SEP and PAD not in ids
        assert len(ids) == len(segments) and label in (0, 1)
    assert "training data: 40 pairs" in capsys.readouterr().out


def test_words_are_masked_only_in_pairs_of_different_texts_and_these_have_an_entropy(corner):
    test = pairs.held_out_test(corner, encode_pair, collate, corrupt, count=60)
    assert len(test.labels) == test.apart.sum() == (~test.passages.continues).sum()
    assert (test.batch[0][test.apart][test.hidden] > SEP).all()
    words, of_pairs = test.entropies()
    assert 0 < words < np.log(len(corner.vocabulary)) and of_pairs > 0


def test_gaps_in_brackets_are_filled_and_other_words_stay(corner):
    model = BERT(
        BERTConfig(len(corner.vocabulary), pairs.longest_pair(corner), dim=8, heads=2, feed_forward=8)
    )
    sentence = corner.decode(corner.passages(1, np.random.default_rng(0)).first.ids[0]).split()
    gapped = " ".join([*sentence[:-1], f"[{sentence[-1]}]"])
    filled = pairs.fill_gaps(model.eval(), corner, gapped).split()
    assert filled[:-1] == sentence[:-1] and filled[-1].startswith("[")
