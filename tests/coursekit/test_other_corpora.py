"""Other people's sentences: which pairs the AUC of a word compares, and that every recorded word has a value in every column."""

import pandas as pd
import pytest
import torch

from coursekit import other_corpora


def test_the_auc_compares_pairs_of_one_sense_with_pairs_of_two_within_each_word():
    rows = pd.DataFrame({"word": ["a", "b"] * 4, "sense": ["x", "x", "x", "y", "y", "x", "y", "y"]})
    of_sense = torch.tensor([[1.0, 0], [0, 1.0]])
    vectors = torch.stack([torch.ones(8, 2), of_sense[(rows.sense == "y").astype(int).tolist()]], dim=1)
    vectors[rows.word == "b", 1] = of_sense[[0, 0, 1, 1]]  # of the wrong sense in two of four sentences
    found = other_corpora.aucs_by_word(vectors, rows)
    assert found.loc["a"].tolist() == [0.5, 1]
    assert found.loc["b"].tolist() == [0.5, pytest.approx((0 + 0.5) / 2)]


@pytest.mark.slow
def test_every_recorded_word_has_every_value():
    brown, wordnet = other_corpora.recorded()
    assert brown.notna().all(axis=None) and wordnet.notna().all(axis=None)
    assert {*brown.loc["same words"].index} == {*brown.loc["unseen words"].index}
    layers = [f"layer {layer}" for layer in range(7)]
    for table in (brown, wordnet):
        assert [name for name in table if name.startswith("layer")] == layers
        assert table[layers].min(axis=None) >= 0 and table[layers].max(axis=None) <= 1
    assert len(other_corpora.by_layer(brown.loc["same words"])) == 7
