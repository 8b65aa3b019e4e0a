"""What the prose of notebook 07 says without computing it holds in what the notebook measures."""

import numpy as np
import pytest
import torch

from coursekit.intervals import wilson

pytestmark = pytest.mark.slow
NOTEBOOKS = ["07_gpt"]


# ------------------------------------------------------------------------------------------ what it cannot see


def test_the_two_cells_are_one_vector_in_every_layer_of_a_decoder_and_not_of_an_encoder(measured):
    cells, big, encoder = measured["two_cells"], measured["big"].name, measured["encoder"].name
    assert max(cells["small GPT"]) < 1e-6
    assert max(cells[big]) < 1e-6
    assert cells["small BERT"][0] < 1e-6 < 0.05 < min(cells["small BERT"][1:])
    assert min(cells[encoder][1:]) > 0.01
    assert min(cells[f"{big}, left changed"][1:]) > 0.01


def test_nobody_can_know_which_cell_from_the_left(measured):
    assert measured["posterior"].max() == pytest.approx(1 / 3)


def test_gpt_stays_at_its_bound_on_the_right_and_bert_does_not(measured):
    senses, limits, cues = measured["senses"], measured["limits"], measured["cues"]
    low, high = wilson(senses["GPT"].right, cues["right"])
    assert (
        low - 0.03 < limits.from_left.right < high + 0.03
    )  # "its interval holds the bound or lies just beside it"
    assert senses["GPT, untrained"].left > limits.majority.left + 0.1
    assert senses["GPT"].left > 0.98 and senses["GPT"].right <= 0.55
    assert min(senses["BERT"].left, senses["BERT"].right) > 0.95


def test_influence_is_a_triangle_for_gpt_and_for_each_half_of_elmo_and_full_for_bert(measured):
    forward, backward, bert, gpt = measured["maps"].values()
    assert gpt.triu(1).max() == forward.triu(1).max() == backward.tril(-1).max() == 0
    assert bert.min() > 0
    assert min(gpt.diagonal().min(), forward.diagonal().min(), backward.diagonal().min()) > 0
    allowed = torch.ones_like(gpt, dtype=torch.bool).tril()
    assert (gpt[allowed] > 0).all()


# ------------------------------------------------------------------------------------------ training


def test_the_live_run_bends_to_the_bound(measured):
    losses = [loss for _, loss in measured["curve"]]
    assert measured["bound"] < losses[-1] < 1.2 * measured["bound"]
    assert losses[0] > 4 * losses[-1]
    late = (losses[len(losses) // 2] - losses[-1]) / (losses[0] - losses[-1])
    assert late < 0.1  # most of the way is made in the first half


def test_a_model_that_never_learnt_its_end_never_ends_and_its_words_are_as_good(measured):
    endings = measured["endings"]
    assert (
        endings["labels of 2023"]["sentences that end"] < 0.1 < 0.9 < endings["mended"]["sentences that end"]
    )
    assert abs(endings["labels of 2023"]["nats a word"] - endings["mended"]["nats a word"]) < 0.25


# ------------------------------------------------------------------------------------------ writing


def test_sharper_choices_make_more_sentences_possible_and_use_fewer_words(measured):
    written = measured["written"]
    temperatures = [written[name] for name in ("0.2", "0.5", "0.8", "1", "1.3", "1.6")]
    possible, words = np.array(temperatures).T
    assert possible[0] > 0.95 > possible[3] > possible[5]
    assert words[0] < words[1] < words[3]
    assert written["top-p 0.8"][0] > possible[3] and written["top-p 0.8"][1] < words[3]
    assert written["top-k 10"][0] < possible[2] + 0.04 and written["top-k 10"][1] < 0.8 * words[2]
    assert abs(written["top-p 0.95"][1] - words[3]) < 0.1 * words[3]
    assert 0.8 < words[3] / measured["from_language"][1] < 1.25  # "about as many words as the language does"


def test_the_cache_changes_nothing_but_the_cost(measured):
    assert measured["cache_error"] < 1e-5
    for T, cost in measured["costs"].items():
        assert cost["without cache"][0] == T * (T + 1) // 2 and cost["with cache"][0] == T


def test_wider_beams_find_more_probable_sentences_than_most_samples(measured):
    _, wide = measured["beam_search"](
        lambda ids: measured["gpt"](ids).logits,
        32,
        measured["language"].max_length - 1,
        measured["BOS"],
        measured["EOS"],
        measured["PAD"],
    )
    assert wide > measured["of_samples"].median() + 1


def test_the_counted_sizes_are_the_published_ones(measured):
    counted = (measured["matrices"] + measured["tables"]).to_numpy()
    assert counted / [117e6, 1.5e9, 175e9, 65e9] == pytest.approx([1, 1, 1, 1], abs=0.05)


# ------------------------------------------------------------------------------------------ tasks in the prompt


def recorded(measured, measure, labels="right"):
    table = measured["recorded"]
    return table[(table.measure == measure) & (table.labels == labels)].groupby("examples").value


def test_the_order_of_pairs_is_nearly_right_with_any_examples(measured):
    assert recorded(measured, "pairs in order").min().min() > 0.85
    assert abs(recorded(measured, "pairs in order").mean() - 0.92).max() < 0.06  # "about nine pairs of ten"
    assert recorded(measured, "pairs in order", "swapped").mean().item() > 0.85


def test_draws_of_examples_differ_more_than_their_number(measured):
    accuracy = recorded(measured, "accuracy")
    spread = (accuracy.max() - accuracy.min())[[1, 2, 4, 8]]
    means = accuracy.mean()
    assert spread.max() > means.max() - means.min()
    assert means.max() == means[0]  # "no number of them does better than none"
    answered = recorded(measured, "answered positive")
    assert answered.min()[8] < 0.4 and answered.max()[8] > 0.6


def test_a_bag_of_words_stands_beside_the_zero_shot_accuracy(measured):
    """ "Three of four", "the two intervals overlap"."""
    assert measured["by_words"] == pytest.approx(0.76, abs=0.03) and measured["by_words"] < measured["none"]
    assert measured["ends"]["bag"][1] > measured["ends"]["model"][0] > 0.5


def test_the_live_interval_is_wide(measured):
    assert measured["live_high"] - measured["live_low"] > 0.2


def test_a_model_trained_on_new_rules_is_as_good_as_possible_and_the_controls_are_not(measured):
    learner, shuffled, knower = (np.array(values) for values in measured["in_context"].values())
    best = np.array(measured["best"])
    assert np.abs(learner - best).max() < 0.03
    assert shuffled.max() < 0.32 and knower.max() < 0.4
    assert measured["own_rule"][0] > 0.97 and measured["copied"] > 0.95
