"""What the prose of notebook 15 says without computing it holds in what the notebook measures."""

import numpy as np
import pytest

from coursekit.intervals import bootstrap, mean_and_half
from coursekit.pictures.latents import f1_by_word
from coursekit.small.results import recorded_senses
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


# ------------------------------------------------------------------------------------------ gradients


def test_a_gradient_finds_the_place_and_underestimates_large_steps(measured):
    exact, acts = measured["order_maps"], 2
    single = measured["estimates"]["gradient × difference"]
    along = measured["estimates"]["integrated gradients"]
    assert exact[:, 0, acts].mean() == pytest.approx(0.9, abs=0.03)
    assert single[:, 0, acts].mean() == pytest.approx(1 / 7, abs=0.01)  # "about a seventh"
    assert single[:, 1, acts].mean() == pytest.approx(2 / 3, abs=0.05)  # "two thirds of the effect"
    for layer in (0, 1):
        assert bootstrap(exact[:, layer, acts] - single[:, layer, acts])[0] > 0
        assert abs(along[:, layer, acts].mean() - exact[:, layer, acts].mean()) < 0.06  # "nearly agree"
    assert measured["right_place"][1] > 0.95
    assert measured["right_place"][0] == pytest.approx(2 / 3, abs=0.05)  # "in a third of the pairs"


# ------------------------------------------------------------------------------------------ the circuit


def test_two_heads_carry_order_and_little_else(measured):
    assert measured["circuit"] == [(0, 1), (0, 2)]
    lost = measured["held_out_costs"]
    before, tested = measured["before_test"], measured["tested"]
    for kind in ("order1", "order2"):
        each = lost["the circuit"][kind]
        after = before[tested.cue == kind].mean() - each.mean()
        assert bootstrap(each)[0] > 0.3 and before[tested.cue == kind].mean() > 0.97 and after < 0.65
    low, high = bootstrap(lost["the circuit"]["left"])
    assert low < 0 < high  # "does not change measurably"
    assert bootstrap(lost["the circuit"]["right"])[0] > 0
    assert lost["the circuit"]["right"].mean() == pytest.approx(0.02, abs=0.005)
    assert measured["loss_by_circuit"] == pytest.approx((0.19, 0.14, 0.24), abs=0.01)
    others = lost["two other heads"]
    assert max(each.mean() for each in others.values()) < 0.02  # "nearly nothing"
    four = lost["four other heads"]
    assert len(measured["REMOVALS"]["four other heads"]) == 4
    assert max(each.mean() for each in four.values()) < 0.03


def test_exchanging_heads_finds_the_one_that_moves_the_person_and_not_the_circuit(measured):
    shares = measured["by_exchange"]
    assert max(shares, key=shares.get) == measured["collector"] == (1, 0) and shares[1, 0] > 0.9
    assert max(abs(shares[which]) for which in measured["circuit"]) < 0.03
    for lost in measured["alone"][1, 0].values():  # "costs accuracy everywhere"
        assert bootstrap(lost)[0] > 0.1


# ------------------------------------------------------------------------------------------ the autoencoder


def values_of(measured, method, kind, column="f1", width=256, k=8):
    rows = measured["recorded"].query("method == @method and kind == @kind")
    if method in ("top-k", "tied"):
        rows = rows.query("width == @width and k == @k")
    return rows.sort_values("seed")[column].to_numpy()


def test_the_autoencoder_finds_topics_parts_of_speech_and_slots(measured):
    ours = values_of(measured, "top-k", "topic")
    assert len(ours) == 3
    for other in ("principal components", "random directions"):
        rest = values_of(measured, other, "topic")
        mean, half = mean_and_half(ours - 2 * rest)
        assert mean - half > 0, other  # "more than twice"
        for kind in ("part of speech", "slot"):
            mean, half = mean_and_half(values_of(measured, "top-k", kind) - values_of(measured, other, kind))
            assert mean - half > 0, (other, kind)
    assert 0.75 * values_of(measured, "linear probe", "topic")[0] < ours.mean()  # "close to"
    assert values_of(measured, "linear probe", "topic")[0] == pytest.approx(0.7, abs=0.02)


def test_it_is_not_ahead_for_the_other_features(measured):
    mean, half = mean_and_half(
        values_of(measured, "top-k", "clause depth") - values_of(measured, "always active", "clause depth")
    )
    assert mean + half < 0
    assert (
        values_of(measured, "always active", "clause depth", "precision")[0] > 0.25
    )  # "more than a quarter"
    mean, half = mean_and_half(
        values_of(measured, "top-k", "sense") - values_of(measured, "random directions", "sense")
    )
    assert mean - half < 0 < mean + half
    assert values_of(measured, "top-k", "sense").mean() == pytest.approx(0.84, abs=0.01)
    number = values_of(measured, "top-k", "number")
    assert number.max() < values_of(measured, "principal components", "number")[0]
    for kind in ("clause depth", "number", "sense"):  # "can be read from the vectors"
        ours, probe = values_of(measured, "top-k", kind), values_of(measured, "linear probe", kind)
        assert ours.max() < probe[0] - 0.1, kind


def test_width_helps_with_rare_features(measured):
    narrow, wide = (values_of(measured, "top-k", "slot", width=width) for width in (64, 512))
    mean, half = mean_and_half(wide - narrow)
    assert mean - half > 0 and 1.8 < wide.mean() / narrow.mean() < 2  # "nearly doubles"
    mean, half = mean_and_half(wide - values_of(measured, "linear probe", "slot"))
    assert mean - half < 0 < mean + half and abs(mean) < 0.03  # "to that of the probe"


def test_a_tied_encoder_reconstructs_less_and_finds_topics_less_well(measured):
    def difference(kind, column="f1"):
        return mean_and_half(
            values_of(measured, "tied", kind, column) - values_of(measured, "top-k", kind, column)
        )

    mean, half = difference("topic", "unexplained")
    assert mean - half > 0
    mean, half = difference("topic")
    assert mean + half < 0
    for kind in set(measured["recorded"].kind) - {"topic"}:
        mean, half = difference(kind)
        assert mean - half < 0 < mean + half, kind


def test_features_split_and_are_absorbed_with_more_latents(measured):
    parts = [values_of(measured, "top-k", "part of speech", "parts", width) for width in (64, 256, 512)]
    for few, many in zip(parts, parts[1:], strict=False):
        mean, half = mean_and_half(many - few)
        assert mean - half > 0
    assert parts[2].mean() == pytest.approx(15, abs=0.5)
    absorbed = values_of(measured, "top-k", "number", "absorbed", 512)
    assert (absorbed.min(), absorbed.max()) == pytest.approx((0.37, 0.49), abs=0.006)
    mean, half = mean_and_half(absorbed - values_of(measured, "top-k", "number", "absorbed"))
    assert mean - half > 0
    absorbed = values_of(measured, "top-k", "number", "absorbed")
    assert (absorbed.min(), absorbed.max()) == (
        pytest.approx(0.19, abs=0.005),
        pytest.approx(0.35, abs=0.006),
    )
    for column, sign in (("precision", 1), ("recall", -1)):
        sparse, dense = (values_of(measured, "top-k", "topic", column, k=k) for k in (4, 8))
        mean, half = mean_and_half(sign * (sparse - dense))
        assert mean - half > 0, column
    with_l1 = values_of(measured, "L1", "topic", "active")
    assert with_l1.mean() == pytest.approx(30, abs=2)
    unexplained = [values_of(measured, method, "topic", "unexplained").mean() for method in ("L1", "top-k")]
    assert unexplained[0] == pytest.approx(unexplained[1], abs=0.01)
    assert measured["of_live"]["dead"] < 0.02  # "hardly any latent is dead"


# ------------------------------------------------------------------------------------------ latents of SmolLM2


def test_few_latents_recur_but_those_of_topics_do(measured):
    exact = measured["of_exact"].groupby("latents").recurring.mean()
    assert exact["all latents"] == pytest.approx(0.26, abs=0.015)  # "about a quarter"
    assert exact["topic"] == pytest.approx(0.9, abs=0.02)  # "nine in ten"
    of_seeds = measured["of_seeds"]
    assert len(of_seeds) == 3 and (of_seeds.tokens == 180_618).all()
    assert of_seeds["unexplained, novels"].to_numpy() == pytest.approx(0.25, abs=0.005)
    assert (of_seeds.recurring > 0.28).all() and (of_seeds.recurring < 1 / 3).all()  # "fewer than a third"


def test_the_latents_of_cell_and_bank_do_worse_on_sentences_that_did_not_choose_them(measured):
    choosing, testing = measured["where_chosen"], measured["best_of_senses"].set_index("name").f1
    assert choosing.f1.mean() > testing.mean() + 0.05
    assert testing["sense cell#prison"] < measured["of_baselines"]["always active"][2]
    for side, sentences in ((measured["choosing"], 13), (measured["testing"], 9)):
        assert (side.truth.sum(dim=0) == sentences).all()
    assert measured["of_smollm2"].k == 16 and len(measured["of_smollm2"].bias) == 800


# ------------------------------------------------------------------------------------------ steering


def test_a_difference_of_means_steers_a_little_and_too_much_of_it_harms(measured):
    change, table = measured["change"], measured["steering"]
    mean, low, high = change("difference of means", 0.5, "towards")
    assert (mean, low, high) == pytest.approx((-0.022, -0.028, -0.015), abs=0.003)
    assert change("difference of means", 0.5, "away")[1] > 0
    start = table[(table.vector == "difference of means") & (table.strength == 0)].towards.mean()
    assert -mean < 0.1 * start  # "more than nine tenths remain"
    for column in ("towards", "away"):
        assert change("random vector", 0.5, column)[1] > 0
    low, high = change("difference of two latents", 0.5, "towards")[1:]
    assert low < 0 < high and change("difference of two latents", 0.5, "away")[1] > 0
    for vector in measured["VECTORS"]:
        for column in ("towards", "away"):
            assert change(vector, 2.0, column)[1] > 0
        assert 0.055 < change(vector, 2.0, "impossible")[0] < 0.095  # "6 to 9 points"


def test_latents_detect_senses_better_than_always_active_worse_than_a_probe_and_no_better_than_chance(
    measured,
):
    recorded = measured["of_senses"]
    assert recorded.query("method == 'linear probe'").name.nunique() == 93
    ours = f1_by_word(recorded, "sparse autoencoder")
    assert len(ours) == 44
    for method, mean, interval in (
        ("always active", 0.09, (0.06, 0.13)),  # "0.09 higher (95 % interval 0.06 to 0.13)"
        ("linear probe", -0.07, (-0.10, -0.05)),  # "0.07 lower"
    ):
        difference = (ours - f1_by_word(recorded, method)).to_numpy()
        assert difference.mean() == pytest.approx(mean, abs=0.005), method
        assert bootstrap(difference) == pytest.approx(interval, abs=0.006), method
    low, high = bootstrap((ours - f1_by_word(recorded, "random directions")).to_numpy())
    assert low < 0 < high  # "cannot be distinguished"
