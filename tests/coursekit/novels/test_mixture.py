"""The text in which half of the pairs' places are merged: what the recorded table of notebook 01 stands on."""

import numpy as np
import pytest

from coursekit.novels.corpus import WORDS
from coursekit.novels.pseudo_words import Pair
from experiments.novels_mixture import half_merged

PAIRS = [Pair("bank", "cell", "unrelated"), Pair("river", "light", "unrelated")]


@pytest.fixture(scope="module")
def corpora(corpus):
    return corpus, half_merged(corpus, PAIRS, seed=0)


def test_a_row_is_merged_whole_or_left_as_it_is(corpora):
    before, after = corpora
    old, new = (corpus.word_rows("train") for corpus in corpora)
    number = {word: place for place, word in enumerate(before.words)}
    of_pairs = [number[word] for pair in PAIRS for word in pair[:2]]
    kinds = set()
    for row in range(len(old)):
        changed = np.asarray(old[row]) != new[row]
        here = np.isin(old[row], of_pairs)
        assert not (changed & ~here).any() and changed.sum() in (0, here.sum())
        kinds.add(bool(changed.any()))
    assert kinds == {False, True}


def test_shares_range_from_a_tenth_to_nine_tenths_and_are_counted(corpora):
    before, after = corpora
    old, new = (np.asarray(corpus.word_rows("train").values) for corpus in corpora)
    assert min(after.shares) < 0.2 and max(after.shares) > 0.8
    for place, (pair, share) in enumerate(zip(PAIRS, after.shares, strict=True)):
        merged = new == WORDS + place
        assert (old[merged] == before.words.index(pair.first)).mean() == pytest.approx(share)
        assert set(old[merged]) == {before.words.index(word) for word in pair[:2]}
