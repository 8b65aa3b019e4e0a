"""What the prose of notebook 07 says without computing it holds in what the notebook measures."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest
import torch

from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS
from coursekit.generating import words_above_the_line
from coursekit.intervals import bootstrap, mean_and_half, wilson
from coursekit.novels.recipes import NOVELS
from coursekit.rule_prompts import (
    HELD_OUT_RULES,
    OPTIMAL_LOSS,
    OPTIMUM,
    TRAINING_RULES,
    best_head,
    head_scores,
    largest_match_of_one_layer,
    over_runs,
)
from coursekit.scoreboard import readers_of_counts
from coursekit.stored import models_folder

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
    rows, place = measured["rows"][:1].numpy(), np.array([measured["place"]])
    assert measured["language"].sense_posterior(rows, place, "left").max() == pytest.approx(1 / 3)


def test_who_acts_is_told_before_the_word_or_after_it(measured):
    """Half of the questions of one clause, two thirds of those of two; all on the left, none on the right."""
    shares = measured["shares_told"]
    assert (shares.left, shares.right) == (1, 0)
    assert shares.order1 == pytest.approx(1 / 2, abs=0.05) and shares.order2 == pytest.approx(2 / 3, abs=0.05)


def test_gpt_knows_what_it_is_told_with_either_reader_and_guesses_the_rest(measured):
    told = measured["told"]
    guess = measured["best_guess"][~told].mean()
    for right in measured["readers"].values():
        assert right[told].mean() > 0.97
        low, high = wilson(right[~told].mean(), (~told).sum())
        assert low < guess < high  # "no better and no worse"
    assert not (measured["best_guess"][~told] > 0.51).any()


def test_gpt_stands_at_its_own_bound_in_each_panel_with_any_number_of_labels(measured):
    seeds, before = measured["seeds"], measured["limits"].words_before
    for name in (name for name in seeds if name.startswith("GPT") and name != "GPT, untrained"):
        for kind in QUESTIONS:
            assert np.mean([run[kind] for run in seeds[name]]) == pytest.approx(before[kind], abs=0.05)


def test_gpt_is_above_readers_without_order_and_below_those_that_read_the_right_side(measured):
    gpt, bert, untrained = (measured["seeds"][name] for name in ("GPT", "BERT", "GPT, untrained"))
    counted = dict(readers_of_counts())
    for kind in ("order1", "order2"):
        assert min(run[kind] for run in gpt) > 0.6  # without the order 0.5 at best
        assert max(reader[kind] for reader in counted.values()) < 0.55
        assert min(run[kind] for run in bert) > max(run[kind] for run in gpt)
        assert max(run[kind] for run in untrained) < 0.6
    assert min(run.left for run in untrained) > 0.6  # "most senses whose cue stands on the left"
    assert max(run.right for run in gpt) < 0.55 < min(reader.right for reader in counted.values())
    assert min(run.right for run in bert) > 0.95


def test_influence_is_a_triangle_for_gpt_and_for_each_half_of_elmo_and_full_for_bert(measured):
    forward, backward, bert, gpt = measured["maps"].values()
    assert gpt.triu(1).max() == forward.triu(1).max() == backward.tril(-1).max() == 0
    assert bert.min() > 0
    assert min(gpt.diagonal().min(), forward.diagonal().min(), backward.diagonal().min()) > 0
    allowed = torch.ones_like(gpt, dtype=torch.bool).tril()
    assert (gpt[allowed] > 0).all()


# ------------------------------------------------------------------------------------------ training


def test_trigrams_are_the_best_n_grams_and_the_gpt_is_far_better(measured):
    """Paired by sentence, with bootstrap intervals over the 400 held-out sentences."""
    ids, pad = measured["test_ids"], measured["PAD"]
    counted = (ids[:, 1:] != pad).sum(dim=1).numpy()
    nats = {
        n: -measured["ngram"](measured["train_ids"], ids, n, len(measured["short"].vocabulary), measured["ALPHA"], pad)
        .sum(dim=1).numpy()
        for n in (1, 2, 3, 4)
    }  # fmt: skip
    for better, worse in ((2, 1), (3, 2), (3, 4)):
        rows = np.stack([nats[worse] - nats[better], counted], axis=1)
        assert bootstrap(rows, lambda some: some[:, 0].sum() / some[:, 1].sum())[0] > 0
    first, second, *_ = measured["by_counting"].values()
    assert (first - second) / (
        first - measured["bound"]
    ) > 0.5  # "one token removes most of the KL divergence"
    unseen = list(measured["unseen"].values())
    assert unseen == sorted(unseen) and unseen[-1] > 3 * unseen[-2]
    trigram, last = measured["by_counting"][measured["TRIGRAM"]], measured["curve"][-1][1]
    assert trigram - measured["bound"] > 2 * (last - measured["bound"])


def test_bigrams_know_the_most_frequent_sense_and_trigrams_less_than_gpt(measured):
    majority, rows = measured["limits"].majority, measured["n_gram_rows"]
    for kind in QUESTIONS:
        assert rows["bigrams"][kind] == pytest.approx(majority[kind], abs=0.03)
        assert rows["trigrams"][kind] <= measured["limits"].words_before[kind] + 0.05  # an expectation
    assert rows["trigrams"].left < min(run.left for run in measured["seeds"]["GPT"]) - 0.1


def test_the_live_run_bends_to_the_bound(measured):
    losses = [loss for _, loss in measured["curve"]]
    assert measured["bound"] < losses[-1] < 1.3 * measured["bound"]
    assert losses[0] > 3 * losses[-1]
    late = (losses[len(losses) // 2] - losses[-1]) / (losses[0] - losses[-1])
    assert late < 0.1  # most of the way is made in the first half


def test_a_model_that_never_learnt_its_end_never_ends_and_its_words_are_as_good(measured):
    endings = measured["endings"]
    assert (
        endings["labels of 2023"]["sentences that end"]
        < 0.1
        < 0.9
        < endings["corrected"]["sentences that end"]
    )
    assert abs(endings["labels of 2023"]["nats per word"] - endings["corrected"]["nats per word"]) < 0.03


# ------------------------------------------------------------------------------------------ writing


def test_sharper_choices_make_more_sentences_possible_and_use_fewer_words(measured):
    """Over four draws of 250 sentences, each with every knob."""
    drawn = measured["drawn"]

    def less(one, other, which):
        mean, half = mean_and_half(drawn[other][:, which] - drawn[one][:, which])
        return mean - half > 0

    possible, words = 0, 1
    for sharp, flat in pairwise(("0.2", "0.5", "0.8", "1", "1.3")):
        assert less(sharp, flat, words)
        assert sharp == "0.2" or less(flat, sharp, possible)  # below 0.5 nothing is left to repair
    assert less("1", "0.2", possible)
    for name in ("top-p 0.9", "top-p 0.95"):  # "top-p lies above the line"
        mean, half = mean_and_half(words_above_the_line(drawn, name))
        assert less("1", name, possible) and mean - half > 0
    mean, half = mean_and_half(words_above_the_line(drawn, "top-k 10"))  # "a k of 10 lies below"
    assert mean + half < 0
    mean, half = mean_and_half(
        words_above_the_line(drawn, "top-k 40")
    )  # "for 40 its interval reaches about to the line"
    assert mean < 0 and mean + half > -15
    of_model, half = mean_and_half(drawn["1"][:, words])
    assert (
        abs(of_model - measured["from_language"][:, words].mean()) < half
    )  # "about as many words as the language does"


def test_the_course_s_weights_and_gpt2_s_give_the_same_logits_and_texts_in_one_s_own_model(measured):
    assert measured["own_error"] < 1e-5 and measured["names_error"] < 1e-5
    assert measured["own_written"].tolist() == measured["theirs_written"].tolist()
    assert len(set(measured["own_written"][0].tolist())) > 5  # not one token again and again


def test_the_names_of_the_exercise_are_those_of_transformers(measured):
    """Also those of GPT2Model; masks are no longer among them."""
    from transformers import GPT2Model

    names, own = measured["gpt2_names"], measured["own_tiny"].state_dict()
    for model in (measured["random_gpt2"], GPT2Model(measured["random_gpt2"].config)):
        assert names(model.state_dict()).keys() == own.keys()
    assert not any(
        "masked_bias" in name or name.endswith(".attn.bias") for name in measured["random_gpt2"].state_dict()
    )


def test_the_cache_changes_nothing_but_the_cost(measured):
    assert measured["cache_error"] < 1e-5
    for T, cost in measured["costs"].items():
        assert cost["without cache"][0] == T * (T + 1) // 2 and cost["with cache"][0] == T


def test_a_wide_beam_finds_more_than_nearly_all_samples_and_one_of_two_less_than_greedy(measured):
    beams = {width: total for width, (_, total) in measured["found"].items()}
    assert beams[2] < beams[1] < beams[128]
    assert (measured["of_samples"] < beams[128]).float().mean() > 0.95


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
    bag, _, highest = measured["baselines"]["bag of words"]
    none, lowest, _ = measured["baselines"]["zero-shot"]
    assert bag == pytest.approx(0.76, abs=0.03) and bag < none
    assert highest > lowest > 0.5


def test_the_live_interval_is_wide(measured):
    middle = np.mean([scores["accuracy"] for scores in measured["live_scores"].values()])
    low, high = wilson(middle, len(measured["few"]))
    assert high - low > 0.2


def test_a_model_trained_on_new_rules_is_as_good_as_possible_and_the_controls_are_not(measured):
    in_context = measured["in_context"]
    learner, shuffled, knower = (np.array(values) for values in in_context.accuracy.values())
    assert np.abs(learner - OPTIMUM).max() < 0.03
    assert shuffled.max() < 0.32 and knower.max() < 0.4
    assert in_context.on_one_rule[0] > 0.97 and in_context.copied > 0.95


def test_no_rule_of_the_test_was_met_in_training_and_the_learner_is_as_good_on_either_side(measured):
    met, held_out = (set(map(tuple, rules.tolist())) for rules in (TRAINING_RULES, HELD_OUT_RULES))
    assert len(met) == len(held_out) == 4**8 // 2 and not met & held_out
    in_context = measured["in_context"]
    learner = in_context.accuracy["trained on many rules"]
    assert abs(learner[8] - in_context.on_training_rules[8]) < 0.03


def test_sixteen_heads_replace_the_second_layer_in_part(measured):
    wide = read_table("results/induction_wide.csv").groupby("where").value.mean()
    best, narrow = OPTIMUM, recorded_induction(measured, 1, "right")
    plateau = narrow[narrow["where"] == "8"].value.mean()
    assert all(wide[k] > best[k] - 0.03 for k in (1, 2, 4))
    assert plateau + 0.1 < wide[8] < best[8] - 0.02


def test_examples_improve_the_ranking(measured):
    runs = measured["recorded"].query("labels == 'right' and measure == 'pairs in order'")
    zero = runs[runs.examples == 0].value.mean()
    assert zero == pytest.approx(0.922, abs=0.0006)
    for count in (1, 2, 4, 8):
        mean, half = mean_and_half(runs[runs.examples == count].value.to_numpy())
        assert 0.9405 < mean < 0.9475 and mean - half > zero


def recorded_induction(measured, layers, measure):
    table = measured["induction"]
    return table[(table.layers == layers) & (table.measure == measure)]


def test_one_layer_stays_on_a_plateau_and_two_reach_the_bound(measured):
    one, two = (recorded_induction(measured, layers, "loss").value for layers in (1, 2))
    assert len(one) == len(two) == 3
    assert one.min() > OPTIMAL_LOSS + 0.15
    assert two.max() < OPTIMAL_LOSS + 0.05
    right = {layers: over_runs(measured["induction"], layers, "right", "8")[0] for layers in (1, 2)}
    assert right[1] < 0.5 < 0.7 < right[2]


def test_further_examples_do_not_help_one_layer(measured):
    right = recorded_induction(measured, 1, "right")
    means = right.groupby(right["where"].astype(int)).value.mean()
    assert abs(means[2] - OPTIMUM[2]) < 0.02 and abs(means.loc[3:] - means[2]).max() < 0.03


def test_two_layers_leave_the_plateau_late_and_at_different_times(measured):
    training = recorded_induction(measured, 2, "training loss")
    middle = (np.log(4) + OPTIMAL_LOSS) / 2
    steps = [run[run.value < middle]["where"].astype(int).min() for _, run in training.groupby("seed")]
    assert min(steps) > 100 and max(steps) > min(steps)


def test_two_heads_do_it(measured):
    scores = head_scores(measured["weights"], measured["in_context"].symbols)
    even = 1 / 9  # about what even attention gives to one of the tokens before
    assert scores["previous token"][0].max() > 0.5 > even and scores["match"][1].max() > 0.5
    recorded_runs = measured["induction"]
    assert largest_match_of_one_layer(recorded_runs) < 0.4 < best_head(recorded_runs, "match", 2)


# ------------------------------------------------------------------------------------------ a GPT of novels


def test_smollm2_and_the_novels_gpt_are_as_far_apart_as_the_beginning_has_it(measured):
    between = list(measured["between"].values())
    novels, today, _, behind, from_chat = between
    assert (
        novels[1] < 0 < novels[2] < today[1]
    )  # "cannot be told apart", "on the sentences of today it loses less"
    assert behind[1] > 0  # "and less than the novels' GPT"
    rows = measured["per_character"]
    helped = rows["words from novels"][:50, :2] - rows["words from novels, after “It was late.”"][:, :2]
    (of_novels, of_smollm2), halves = mean_and_half(helped / rows["words from novels"][:50, 2:])
    assert (
        of_smollm2 - halves[1] > 0.08 > of_novels + halves[0]
    )  # "loses less, the novels' GPT about as much"
    assert from_chat[2] < 0  # "loses more than the small one"
    both = np.hstack([rows["contemporary, words shuffled"], rows["contemporary"][:50]])

    def costs(column):
        return bootstrap(
            both,
            lambda some: (
                some[:, column].sum() / some[:, 2].sum() - some[:, 3 + column].sum() / some[:, 5].sum()
            ),
        )

    assert costs(0)[0] > 0 and costs(0)[1] < costs(1)[0]  # "cost both, and SmolLM2 more"


def test_the_novels_gpt_is_ahead_of_five_grams_on_its_card(measured):
    table = measured["recorded_on_novels"]("gpt")["nats per character"]
    ends = {who: tuple(map(float, re.findall(r"[\d.]+", cell)[1:])) for who, cell in table.items()}
    assert ends["GPT"][1] < ends["5-grams"][0] and ends["5-grams"][1] < ends["unigrams"][0]
    about = json.loads((models_folder() / "novels_gpt.json").read_text())
    assert 50 < about["minutes"] < 75  # "about an hour on one core"
    pieces = (
        about["steps"] * NOVELS["novels-gpt"].batch * 106.4
    )  # rows of 106.4 pieces on average, counted in the corpus
    assert pieces == pytest.approx(16e6, rel=0.01)  # "16 million pieces"
    of_smollm2 = 2e12  # tokens (Ben Allal et al., 2025)
    assert of_smollm2 / pieces == pytest.approx(125_000, rel=0.01)


def test_the_novels_gpt_goes_on_whatever_the_text_before(measured):
    for text in ("", "☃ Ж", "word " * 400):
        assert measured["continue_novel"](text, 12).strip()
    assert sum(weight.numel() for weight in measured["of_novels"].parameters()) == 5_289_472
