"""What the prose of notebook 15 says without computing it holds in what the notebook measures."""

import numpy as np
import pytest

from coursekit.small.recorded import recorded_senses
from tests.notebooks.answers import right_cells

pytestmark = pytest.mark.slow

NOTEBOOKS = ["15_circuits"]

KL = {"circuits-kl_divergence": right_cells("15_circuits", "kl_divergence")["circuits-kl_divergence"]}
HALF_FINISHED = {
    "the cross-entropy in place of the divergence": {
        "circuits-kl_divergence": """
def kl_divergence(p, logits):
    return -(p * logits.log_softmax(dim=-1)).sum(dim=-1)
"""
    },
    "the divergence right, the lens not written": KL,
    "the divergence right, the lens without a norm": {
        **KL,
        "inside-logit_lens": """
def logit_lens(stream, gain, bias, table):
    return stream @ table.T
""",
    },
}
SAYS = {
    "the cross-entropy in place of the divergence": "You return the cross-entropy",
    "the divergence right, the lens not written": "logit_lens",
    "the divergence right, the lens without a norm": "without the layer norm",
}


# ------------------------------------------------------------------------------------------ causes


def test_the_lens_reads_the_word_itself_first_and_the_right_answer_last(measured):
    lens, counts = measured["lens"], measured["counts"]
    read, fitted, other, raw = (np.array(lens[name])[:, 0] for name in lens)
    assert (np.diff(read) < 0).all() and read[-1] < 0.05  # "closer with every part", "nearly exact"
    assert read[0] > raw[0] + 5  # "further from the exact distribution than an untrained model"
    says = measured["says"]
    assert says.loc["predicts the word just read"].iloc[0] > 0.85
    assert says.loc["predicts the word just read"].iloc[-1] < 0.02
    assert says.loc["exact probability of the predicted word"].iloc[-1] == pytest.approx(
        measured["most_possible"], abs=0.01
    )
    assert lens["logit lens"][2][2] < counts["bigram counts"][1]  # intervals apart
    assert raw.mean() == pytest.approx(6, abs=0.3)  # "about 6 nats"
    assert counts["bigram counts"][0] == pytest.approx(1.4, abs=0.1)
    assert (other > raw).all() and other[-1] > other[1:-1].max() + 1  # "throughout", "with confidence"
    assert (fitted[:-1] < read[:-1]).all() and fitted[-1] == pytest.approx(read[-1], abs=0.01)
    bert, raw_bert = (np.array(values)[:, 0] for values in measured["lens_bert"].values())
    assert (np.diff(bert) < 0).all() and bert[-1] < 0.1 and (raw_bert > 7).all()


def test_cell_comes_up_in_the_last_layers_and_not_in_the_controls(measured):
    lens = measured["cell_lens"]
    ranks = np.array([lens[text][0] for text in measured["CELL_FOLLOWS"]])
    control = np.array([lens[text][0] for text in measured["NO_CELL"]])
    assert (np.median(ranks[:, :21], axis=0) > 100).all()  # "far from the top"
    assert np.median(ranks[:, -1]) < 3 and np.median(control[:, -1]) > 200
    log_p = np.array([lens[text][1] for text in measured["CELL_FOLLOWS"]]).mean(axis=0)
    assert (log_p[5:21] < measured["even_guess"]).all()


def test_what_heads_are_worth_does_not_add_up(measured):
    worths, together = measured["worths"], measured["together"]
    for network in ("GPT", "BERT"):
        zeros, means = (worths[network, way].mean(axis=1) for way in measured["TWO_WAYS"])
        assert abs(zeros - means).max() < 0.07  # "a few hundredths"
        for way in measured["TWO_WAYS"]:
            added, at_once = worths[network, way].sum(axis=0), together[network, way]
            assert measured["in_nats"](at_once - added)[1] > 0
            assert at_once.mean() > 2.5 * added.mean()  # "several times the sum"


def test_order_is_in_who_acts_until_the_last_layer_and_a_cue_word_in_cell_after_the_first(measured):
    order, cell = measured["order_maps"].mean(axis=0), measured["cell_maps"].mean(axis=0)
    acts, word, others = 2, 5, 8
    assert order[1, acts] > 0.95 and abs(order[1, word]) < 0.05 and abs(order[1, others]) < 0.1
    assert order[2, word] == pytest.approx(1, abs=1e-3)
    beside = [place for place in range(10) if place not in (acts, word, others)]
    assert np.abs(order[:, beside]).max() < 0.05
    cue, place, rest = cell
    assert place[1] == pytest.approx(0.75, abs=0.08) and (np.diff(cue) < 0.02).all() and cue[-2] < 0.25
    assert np.abs(rest).max() < 0.1  # "next to nothing"
    same = np.abs(measured["same_order"].mean(axis=0)).max(), np.abs(measured["same_cell"].mean(axis=0)).max()
    assert same[0] < 0.1 and same[1] < 0.35, same
    first, last = ([rows.order1 for rows in recorded_senses("bert", layer=layer)] for layer in (1, 2))
    assert abs(first[0] - 0.5) < 0.04 and last[0] > 0.98  # seed 0 is shipped: "at chance level", "all"
    assert max(first[1:]) == pytest.approx(0.75, abs=0.05)  # "finds three out of four at layer 1"


def test_where_one_word_tells_the_small_bert_hands_it_on_as_late_as_where_order_does(measured):
    assert len(measured["told_by_a_word"]) >= 40
    for other_sense, sure, sure_there in measured[
        "told_by_a_word"
    ]:  # the exact posterior: this word alone tells
        assert other_sense and min(sure, sure_there) > 0.99
    after_1 = measured["in_word_after_1"]
    assert after_1["one word"][0] == pytest.approx(1 / 12, abs=0.02)  # "about a twelfth"
    assert after_1["order"][2] < after_1["one word"][1]  # "hardly more": more, for these pairs
    assert after_1["one word"][2] < 0.15 < 0.5 < after_1["one word, MiniLM"][1]  # "not the whole explanation"
    cue, word, rest = measured["word_maps"].mean(axis=0)
    assert (
        cue[1] > 0.4 and rest[1] > 0.2 and word[2] == pytest.approx(1, abs=1e-3)
    )  # "the rest", "layer 2 collects"
    assert np.abs(measured["same_word"].mean(axis=0)).max() < 0.1
