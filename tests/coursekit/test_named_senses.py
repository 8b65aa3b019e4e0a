"""What notebook 01 does with sentences of the language before it trains on them."""

import numpy as np

from coursekit.language.named_senses import with_rarer_senses, with_senses_named


def test_every_sense_of_an_ambiguous_word_has_an_id_of_its_own(language):
    sentences = language.sample(500, np.random.default_rng(0), split="train")
    ids, id_of = with_senses_named(sentences, first_id=10_000)
    rows = np.flatnonzero(sentences.position >= 0)
    where = rows, sentences.position[rows]
    named = dict(zip(id_of.values(), id_of, strict=True))
    found = [named[one] for one in ids[where].tolist()]
    assert found == list(zip(sentences.ids[where].tolist(), sentences.sense[rows].tolist(), strict=True))
    assert (ids != sentences.ids).sum() == len(rows)


def test_first_senses_become_rarer_and_nothing_else_is_dropped(language):
    sentences = language.sample(4_000, np.random.default_rng(0), split="train")
    fewer = with_rarer_senses(language, sentences, np.random.default_rng(1))
    first = [language.senses.index(senses[0]) for senses in language.ambiguous.values()]
    before, after = (np.isin(some.sense, first) for some in (sentences, fewer))
    assert (~after).sum() == (~before).sum() and 0.3 < after.sum() / before.sum() < 0.8
