"""Beam search finds what greedy writing misses, and BLEU is the paper's."""

import numpy as np
import pytest
import torch
from torch import nn

from coursekit.language import BOS, EOS, PAD
from coursekit.writing import beam_translate, bleu

A, B, C, D = 5, 6, 7, 8


class Toy(nn.Module):
    """A first: 0.6, but what follows is split; B first: 0.4, and what follows is certain."""

    FOLLOWS = {BOS: {A: 0.6, B: 0.4}, A: {C: 0.5, D: 0.5}, B: {EOS: 1.0}, C: {EOS: 1.0}, D: {EOS: 1.0}}

    def encode(self, source):
        return torch.zeros(*source.shape, 1)

    def decode(self, ids, encoded, source_keep, keep):
        logits = torch.full((*ids.shape, 9), -1e9)
        for row, line in enumerate(ids.tolist()):
            for place, token in enumerate(line):
                for following, p in self.FOLLOWS.get(token, {PAD: 1.0}).items():
                    logits[row, place, following] = np.log(p)
        return logits


def test_a_beam_finds_the_more_probable_sentence_and_width_one_is_greedy():
    source = torch.tensor([[1, 9, 2], [1, 9, 2]])
    assert beam_translate(Toy(), source, width=2, longest=4).tolist() == [[B, EOS, PAD, PAD]] * 2
    assert beam_translate(Toy(), source, width=1, longest=4)[:, 0].tolist() == [A, A]


def rows(*sentences: list[int]) -> torch.Tensor:
    width = max(map(len, sentences)) + 1
    return torch.tensor([[*line, EOS, *[PAD] * (width - 1 - len(line))] for line in sentences])


def test_bleu_of_the_same_is_one_and_a_repeated_word_is_clipped():
    right = [5, 6, 7, 8, 9]
    assert bleu(rows(right), rows(right)) == pytest.approx(1)
    assert bleu(rows([5] * 7), rows([5, 6, 5, 7, 8, 9, 10]), order=1) == pytest.approx(
        2 / 7
    )  # the paper's "the the the"


def test_bleu_adds_up_over_the_corpus_and_punishes_what_is_short():
    guess, right = rows([5, 6, 7, 8], [5, 6]), rows([5, 6, 7, 8], [5, 6, 7, 9])
    matches, counts = [6, 4, 2, 1], [6, 4, 2, 1]
    expected = np.exp(1 - 8 / 6) * np.exp(np.mean(np.log(np.array(matches) / counts)))
    assert bleu(guess, right) == pytest.approx(expected)
    assert bleu(rows([5, 6, 9, 7]), rows([5, 6, 7, 9])) == 0  # no run of three is right
