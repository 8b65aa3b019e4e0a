"""Sentences that other people wrote: tags are balanced, and no document or word is on both sides."""

import re

import numpy as np
import pandas as pd
import pytest
import torch

from experiments import inside_corpora as corpora

BROWN = """
	The/at run/nn was/bedz long/jj ,/, ``/`` they/ppss run/vb ''/'' ./.
	Too/ql short/jj ./.
	A/at Light/nn-tl run/nn-hl and/cc can't/md* light/vb it/ppo ./.
"""


def test_words_of_brown_have_their_place_and_titles_and_headlines_are_left_out():
    table = corpora.occurrences({"ca01": BROWN})
    found = [
        (row.word, row.tag, row.sentence[row.start : row.start + len(row.form)]) for row in table.itertuples()
    ]
    assert found == [
        ("run", "noun", "run"),
        ("long", "adjective", "long"),
        ("run", "verb", "run"),
        ("light", "verb", "light"),
    ]
    assert table.sentence[0] == 'The run was long , " they run " .' and table.start[2] == 26


def made_table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        (word, tag, f"c{rng.integers(40)}")
        for word, tags in {"run": ("noun", "verb"), "fast": ("adjective", "adverb"), "cat": ("noun",)}.items()
        for number, tag in enumerate(tags)
        for _ in range(60 - 30 * number)
    ]
    return pd.DataFrame(rows + [("fast", "noun", "c0")] * 3, columns=["word", "tag", "document"])


def test_both_tags_of_a_word_are_equally_frequent_and_no_document_or_unseen_word_is_on_both_sides():
    kept = corpora.with_two_tags(made_table(), least=16, most=24)
    assert kept.groupby(["word", "tag"]).size().to_dict() == dict.fromkeys(
        [("fast", "adjective"), ("fast", "adverb"), ("run", "noun"), ("run", "verb")], 24
    )
    for seed in range(3):
        table = corpora.halves(kept, seed)
        assert table.groupby("document").split.nunique().eq(1).all()
        count = table.groupby(["word", "split", "tag"]).size()
        assert len(count) == 8 and count.groupby(["word", "split"]).nunique().eq(1).all()
        table = table.reset_index(drop=True)
        asked_words = []
        for setting, train, asked in corpora.settings(table, seed):
            assert not set(table.document[train]) & set(table.document[asked])
            if setting == corpora.UNSEEN:
                assert not set(table.word[train]) & set(table.word[asked])
                asked_words += table.word[asked].unique().tolist()
        assert sorted(asked_words) == ["fast", "run"]


def test_only_the_two_tags_of_the_word_are_compared():
    table = pd.DataFrame({"word": ["run", "fast"] * 2, "tag": ["noun", "adjective", "verb", "adverb"]})
    labels, others = corpora.tags_of(table)  # adjective 0, adverb 1, noun 2, verb 3
    assert (labels.tolist(), others.tolist()) == ([2, 0, 3, 1], [3, 1, 2, 0])
    scores = torch.tensor([[9.0, 0, 2, 1], [2.0, 1, 9, 9], [9.0, 0, 2, 1], [2.0, 1, 9, 9]])
    assert corpora.of_two(scores, labels, others).tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("lemma", "part", "matched", "others"),
    [
        ("city", "noun", ["city", "cities", "Citys"], ["citizen", "cit"]),
        ("box", "noun", ["boxes"], ["boxed", "boxer"]),
        ("plan", "verb", ["plans", "planned", "planning"], ["plane", "plant"]),
        ("carry", "verb", ["carried", "carries", "carrying"], ["carrier"]),
        ("move", "verb", ["moving", "moved", "moves"], ["movie", "remove"]),
    ],
)
def test_regular_forms_are_found_as_whole_words(lemma, part, matched, others):
    pattern = re.compile(corpora.forms(lemma, part), re.IGNORECASE)
    assert all(pattern.fullmatch(form) for form in matched)
    assert not any(pattern.search(form) for form in others)


WORDNET = """  1 This software and database is being provided to you
00000001 06 n 01 bank 0 001 @ 0 n 0000 | money; "he cashed it at the bank"; "that bank holds the mortgage"
00000002 17 n 02 bank 1 river_bank 0 000 | land; "they pulled up on the bank"; "no such word here at all"
00000003 17 n 01 bank 2 000 | a ridge; "a huge bank of earth"; "the bank"
00000004 04 n 01 cat 0 000 | an animal; "the cat sat down"; "a cat sat up"
"""


def test_examples_of_words_with_two_senses_and_two_examples_of_one():
    table = corpora.examples(WORDNET.splitlines(), "noun")
    assert table[["word", "sense", "field", "start"]].to_numpy().tolist() == [
        ["bank", "00000001", "06", 20],
        ["bank", "00000001", "06", 5],
        ["bank", "00000002", "17", 22],
        ["bank", "00000003", "17", 7],
    ]


def test_pairs_of_one_sense_are_compared_with_pairs_of_two_by_field():
    table = pd.DataFrame({"sense": ["a", "a", "b", "c"], "field": ["x", "x", "x", "y"]})
    cosines = torch.tensor([[1, 0.5, 0.6, 0.5], [0, 1, 0.4, 0.1], [0, 0, 1, 0.9], [0, 0, 0, 1]])
    found = corpora.aucs(cosines, table)
    assert found[corpora.NEAR] == pytest.approx(1 / 2)  # above 0.4, below 0.6
    assert found[corpora.OTHER] == pytest.approx((0.5 + 1 + 0) / 3)
    assert found[corpora.EVERY] == pytest.approx((0 + 0.5 + 1 + 1 + 0) / 5)
    assert np.isnan(corpora.aucs(cosines[1:, 1:], table[1:])[corpora.EVERY])  # no two of one sense
