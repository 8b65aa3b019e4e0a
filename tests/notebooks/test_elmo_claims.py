"""What the prose of notebook 05 says without computing it holds in what the notebook measures."""

import numpy as np
import pytest

from coursekit.datasets import read_table
from coursekit.intervals import half_width
from coursekit.scoreboard import bounds

pytestmark = pytest.mark.slow
NOTEBOOKS = ["05_elmo"]


def test_the_filter_that_tells_plurals_answers_to_a_final_s_also_in_bus(measured):
    best = dict(zip(measured["shown"], measured["answers"].amax(dim=-1).tolist(), strict=True))
    for one, more in (("cell", "cells"), ("guard", "guards"), ("thief", "thieves")):
        assert best[more] > best[one]
    assert best["bus"] > max(best["cell"], best["guard"])


def test_training_sharpens_a_filter_that_untrained_models_have_too(measured):
    effects, shares = zip(*[(by, share) for by, share, *_ in measured["before_training"]], strict=True)
    assert measured["effect"] > 1.3 * max(effects) and measured["risen"] >= max(shares)
    assert min(shares) > 0.5  # "has such a filter, too"


def test_in_no_task_is_the_mix_clearly_above_the_best_layer():
    rows = read_table("results/elmo_layers.csv").query(
        "biLM == 'trained' and measure.str.startswith('accuracy')"
    )
    for _, of_task in rows.groupby("task"):
        by_seed = of_task.pivot(index="seed", columns="measure", values="value")
        layers = by_seed[[f"accuracy, layer {layer}" for layer in range(3)]]
        gain = by_seed["accuracy, all mixed"] - layers[layers.mean().idxmax()]
        assert gain.mean() <= half_width(gain)


def test_words_never_seen_have_neighbours_that_are_spelt_alike(measured):
    assert measured["neighbours"] > 2 * measured["anyone"]


def test_char_cnn_is_the_model_s_own(measured):
    assert measured["difference"] < 1e-5


def test_both_readers_pay_the_same_for_every_sentence(measured):
    assert measured["gap"] < 1e-9
    assert not np.allclose(measured["from_left"], measured["from_right"])


def test_only_the_stacked_bidirectional_lstm_leaks(measured):
    share = measured["pictures"].share_right
    leaks, mended = measured["leaks"], measured["mended"]
    assert share(leaks["1 layer, forward half"]) == 0 < 0.1 < share(leaks["2 layers, forward half"])
    assert share(mended["ELMo, forward stack"]) == 0 == share(mended["ELMo, backward stack"].T)


def test_leaking_stack_is_what_torch_does(measured):
    torch, theirs = measured["torch"], measured["one_line"]
    x = measured["sentence_x"][None]
    size = x.shape[-1]

    def layer(number: int, suffix: str):
        lstm = torch.nn.LSTM(size * (1 + (number > 0)), size, batch_first=True)
        lstm.load_state_dict(
            {f"{name}_l0": getattr(theirs, f"{name}_l{number}{suffix}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
        )  # fmt: skip
        return lambda h: lstm(h)[0]

    layers = [[layer(number, suffix) for number in range(2)] for suffix in ("", "_reverse")]
    ours = torch.cat(measured["leaking_stack"](x, torch.tensor([x.shape[1]]), *layers), dim=-1)
    assert torch.allclose(ours[0], theirs(x[0])[0], atol=1e-6)


def test_the_live_run_bends_to_the_bound_and_the_leak_goes_through_it(measured):
    curve, bound = measured["curve"], measured["bank_bound"]
    assert (curve[-50:].mean(axis=0) > bound).all() and (curve[-50:].mean(axis=0) < 1.25 * bound).all()
    assert (curve[:5] > 4 * bound).all()
    assert measured["leaky_curve"][-30:, 0].mean() < 0.9 * bound
    assert measured["leaky_curve"][:3, 0].mean() > bound


def test_forward_and_backward_perplexity_agree(measured):
    for forward, backward in (measured["live_nats"], measured["elmo_nats"]):
        assert abs(forward - backward) < 0.05
    assert min(measured["elmo_nats"]) > measured["bound"]


def test_the_same_sense_stays_near_and_the_other_sense_moves_away(measured):
    cosine, prison = measured["torch"].cosine_similarity, measured["prison"]
    by_kind = {"other sense": [], "same sense": [], "other word": []}
    for kind, other in measured["pairs"].values():
        by_kind[kind].append(cosine(prison, other).tolist())
    for values in by_kind["other sense"]:
        assert values[0] > 0.9999
        assert all(a > b for a, b in zip(by_kind["same sense"][0][1:], values[1:], strict=True))


def test_layer_0_is_the_majority_and_the_top_layer_is_far_above_what_the_left_allows(measured):
    accuracy, limits = measured["accuracy"], bounds()
    assert accuracy["ELMo"][0].right == pytest.approx(limits.majority.right, abs=0.01)
    assert accuracy["ELMo"][-1].right > limits.from_left.right + 0.3
    assert limits.majority.right < accuracy["ELMo, untrained"][-1].right < accuracy["ELMo"][-1].right


def test_the_backward_half_alone_finds_more_than_both_on_right_only_cues(measured):
    found = measured["halves_right"]
    assert found["backward half alone"] > found["both"] + 0.03
    assert found["forward half alone"] < 0.5


def test_each_task_learns_other_weights(measured):
    weights = measured["weights"]
    mean = {task: rows.mean(axis=0) for task, rows in weights.items()}
    assert mean["morphology"].argmax() == 0 and mean["sense"].argmax() == 2
    # every seed of the one task above every seed of the other
    assert weights["syntax"][:, 1].min() > weights["sense"][:, 1].max()
    assert weights["sense"][:, 2].min() > weights["syntax"][:, 2].max()
    assert weights["morphology"][:, 0].min() > max(
        weights["syntax"][:, 0].max(), weights["sense"][:, 0].max()
    )


def test_without_the_residual_syntax_wants_layer_1_as_much_as_layer_2_and_sense_does_not(measured):
    syntax, sense = (measured["apart"][task].mean(axis=0) for task in ("syntax", "sense"))
    assert abs(syntax[1] - syntax[2]) < 0.08 and syntax[1] > measured["weights"]["syntax"][:, 1].mean() + 0.05
    assert sense[2] > 1.4 * sense[1]


def test_the_recorded_layers_explain_the_weights(measured):
    mean = measured["spread"]["mean"]

    def alone(task: str, biLM: str = "trained") -> list[float]:
        return [mean[task, biLM, f"accuracy, layer {number}"] for number in range(3)]

    syntax, sense, morphology = map(alone, ("syntax", "sense", "morphology"))
    assert sense[2] - sense[1] > 5 * abs(syntax[2] - syntax[1])
    assert syntax[2] >= syntax[1]
    assert morphology[0] > morphology[1] - 0.01 and morphology[0] > morphology[2] + 0.03
    for task in ("syntax", "sense", "morphology"):
        assert max(alone(task)) > max(alone(task, "untrained"))
    gain = {
        task: max(alone(task)) - max(alone(task, "untrained")) for task in ("syntax", "sense", "morphology")
    }
    assert max(gain, key=gain.get) == "syntax"


def test_the_original_has_ninety_three_million_parameters(measured):
    assert measured["total"] == 93_600_864
    assert measured["vocabulary"] * measured["size"] > measured["total"]


def test_a_large_penalty_makes_an_average_and_twenty_sentences_profit_from_elmo(measured):
    by_strength = measured["by_strength"]
    assert np.ptp(by_strength[1.0]) < 0.05 < 0.2 < np.ptp(by_strength[0.0])
    tagged = {name: values.mean() for name, values in measured["tagged"].items()}
    assert tagged["ELMo"] > max(tagged["x alone"], tagged["untrained biLM"]) + 0.1


def test_all_layers_of_a_sentence(measured):
    assert measured["embedded"].shape == (3, 6, 2 * measured["elmo"].config.dim)
