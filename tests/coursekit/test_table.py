"""The table of all readers: bounds, readers of counts and models by kind of question."""

import pytest

from coursekit.exam import QUESTIONS, bounds
from coursekit.language import load_language
from coursekit.small.table import LAYERS, loss_table, sense_table

KINDS = list(QUESTIONS)


@pytest.fixture(scope="module")
def table():
    return sense_table(load_language())


@pytest.mark.slow
def test_what_is_known_exactly_stands_above_the_models(table):
    assert table.loc["bound, whole sentence", KINDS].min() > 0.999
    assert table.loc["bound, no order", ["order1", "order2"]].to_numpy() == pytest.approx(0.5)
    assert table.loc["position and length", KINDS].max() < 0.48
    assert table.loc["most frequent sense", "right"] == bounds().majority.right


@pytest.mark.slow
def test_every_model_has_its_layers_and_an_interval_over_three_seeds(table):
    for name, layers in LAYERS.items():
        rows = table.loc[[f"{name}, layer {layer}" for layer in range(layers)]]
        assert rows[KINDS].min().min() >= 0 and rows[KINDS].max().max() <= 1
        assert rows[[f"{kind} ±" for kind in KINDS]].notna().all().all()
    assert (loss_table().seeds >= 3).all()


@pytest.mark.slow
def test_no_order_blind_reader_knows_what_order_tells(table):
    for reader in ("bag of words", "near words", "most frequent sense"):
        assert table.loc[reader, ["order1", "order2"]].max() < 0.52
