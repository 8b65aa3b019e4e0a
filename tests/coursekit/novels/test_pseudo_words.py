"""Merged words: one word, one piece, the same places; and the course's pairs are what the card says."""

import numpy as np
import pytest

from coursekit.datasets import read_table
from coursekit.novels.pseudo_words import Pair, merge, read_pairs

PAIRS = [Pair("bank", "cell", "unrelated"), Pair("river", "light", "unrelated")]


@pytest.fixture(scope="module")
def corpora(corpus, tmp_path_factory):
    return corpus, merge(corpus, PAIRS, tmp_path_factory.mktemp("merged") / "corpus")


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_only_merged_words_change_and_their_sense_stands_at_the_same_place(corpora, split):
    before, after = corpora
    old, new = (np.asarray(corpus.word_rows(split).values) for corpus in corpora)
    said = {(before.words[one], after.words[two]) for one, two in zip(old, new, strict=True)}
    changed = {pair for pair in said if pair[0] != pair[1]}
    assert changed == {(word, pair.merged) for pair in PAIRS for word in pair[:2]}


def test_a_merged_word_is_a_piece_of_its_own(corpora):
    before, after = corpora
    size = before.tokenizer.get_vocab_size()
    rows, old = after.rows("train"), before.rows("train")
    assert after.tokenizer.get_vocab_size() == size + len(PAIRS)
    assert len(rows) == len(old) and (np.asarray(rows.values) >= size).sum() > 100
    text = after.tokenizer.decode(rows[0].tolist())
    assert not {"bank", "cell", "river", "light"} & set(text.replace(".", " ").split())
    assert "bank|cell" in text or "river|light" in text


def test_a_second_call_reads_what_is_there_and_strange_words_are_named(corpora, tmp_path):
    before, after = corpora
    assert merge(before, [], after.folder).words == after.words
    with pytest.raises(ValueError, match="'aardvark' is not a word of the corpus"):
        merge(before, [Pair("bank", "aardvark", "unrelated")], tmp_path / "new")
    with pytest.raises(ValueError, match="'bank' is not a word of the corpus, or occurs in two pairs"):
        merge(before, [*PAIRS, Pair("bank", "bell", "unrelated")], tmp_path / "new")


def test_the_course_s_pairs_are_of_equal_frequency_and_of_both_relations():
    table = read_table("novels/pseudo_words.csv")
    assert len(table) >= 60 and table.groupby("relation").size().min() >= 30
    words = [*table["first"], *table["second"]]
    assert len(set(words)) == len(words)
    counts = table[["first_in_train", "second_in_train"]]
    assert (counts.min(axis=1) / counts.max(axis=1)).min() > 0.88 and counts.min().min() > 800
    assert [pair.merged for pair in read_pairs()][0] == "years|morning"
