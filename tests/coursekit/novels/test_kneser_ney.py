"""Kneser–Ney by hand on a stream of nine tokens, and what every such model obeys."""

import numpy as np
import pytest

from coursekit.novels.kneser_ney import KneserNey

STREAM = np.array([0, 1, 2, 0, 1, 3, 0, 1, 2])


def test_bigrams_by_hand():
    """Pairs: 01 three times, 12 twice, 20, 13 and 30 once. 0 follows {2, 3}, 1 follows {0}, 2 {1}, 3 {1}."""
    model = KneserNey(STREAM, vocabulary=4, order=2)
    assert model.discounts[1] == pytest.approx(3 / (3 + 2 * 1))  # three pairs once, one twice
    first = 3 / (3 + 2 * 1)  # of single tokens: three follow one other, one follows two
    unigram = (1 - first) / 5 + first * 4 / 5 / 4  # of token 2: one context of five, four kinds of token
    bigram = (2 - 0.6) / 3 + 0.6 * 2 / 3 * unigram  # after 1: twice of three, two kinds
    assert np.exp(model.log_p(np.array([1, 2])))[1] == pytest.approx(bigram)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_probabilities_add_up_to_one_after_any_context(order):
    rng = np.random.default_rng(0)
    model = KneserNey(rng.integers(0, 7, 500), vocabulary=7, order=order)
    for context in ([1, 2, 3, 4], [6, 6, 6, 6], [0]):
        rows = np.array([[*context, token] for token in range(7)])
        assert np.exp(model.log_p(rows)[:, -1]).sum() == pytest.approx(1)


def test_a_token_never_seen_costs_but_is_not_impossible():
    model = KneserNey(STREAM, vocabulary=9, order=3)
    nats = -model.log_p(np.array([0, 1, 8]))
    assert np.isfinite(nats).all() and nats[2] > nats[1]


def test_longer_contexts_help_where_they_tell_something():
    rng = np.random.default_rng(1)
    steps = rng.integers(0, 2, 4000)
    stream = np.cumsum(steps + 1) % 5  # the next is one or two further
    held_out = np.cumsum(rng.integers(0, 2, 500) + 1) % 5
    unigram, bigram = (-KneserNey(stream, 5, order).log_p(held_out).mean() for order in (1, 2))
    assert unigram == pytest.approx(np.log(5), abs=0.02) and bigram == pytest.approx(np.log(2), abs=0.02)
