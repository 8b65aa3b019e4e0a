"""What the prose of notebook 03 says without computing it holds in what the notebook measures."""

import numpy as np
import pytest
import torch
from scipy.stats import fisher_exact

from coursekit.datasets import read_table
from coursekit.derivatives import influence
from coursekit.exam import bounds
from coursekit.intervals import half_width, mean_and_half
from coursekit.pictures import transformer_layer, transformer_tables

pytestmark = pytest.mark.slow
NOTEBOOKS = ["03_transformer_layer"]


# ------------------------------------------------------------------------------------------ order


def test_every_word_but_bank_is_moved(measured):
    moved = [place for place, other in enumerate(measured["shuffled"]) if place != other]
    assert sorted(measured["shuffled"]) == list(range(9))
    assert moved == [place for place in range(9) if place != measured["bank"]]


def test_order_is_invisible_without_positions_and_visible_with_them(measured):
    shuffled, replaced, placed = measured["changes"].values()
    assert shuffled < 1e-6 and measured["moved_along"] < 3e-6
    assert replaced > 1e4 * shuffled
    assert replaced / 3 < placed < 3 * replaced  # "of the same order of magnitude"


def test_dot_products_of_positions_depend_on_the_distance_alone(measured):
    distances, products = transformer_layer.products_by_distance(
        measured["sinusoid"](400, 50), (100, 200, 299)
    )
    curves = torch.stack(list(products.values()))
    assert (curves - curves[0]).abs().max() < 1e-3
    curve, at = curves[0], distances.index
    assert curve.argmax() == at(0) and curve[at(0)] == pytest.approx(25, rel=1e-4)
    assert curve[at(0)] > curve[at(5)] > curve[at(50)]
    assert (curve[at(1) :].diff() > 0).any()  # "not steadily"
    assert measured["sinusoid"](100, 50).norm(dim=1).allclose(torch.tensor(5.0))


# ------------------------------------------------------------------------------------------ parts


def test_layer_norm_forgets_mean_and_length_alone(measured):
    assert max(measured["enlarged"], measured["lifted"]) < 2e-4
    x = measured["x_placed"][0]
    rest = x - x.mean(1, keepdim=True)
    assert torch.cosine_similarity(rest, measured["normed"][0]).min() > 0.9999


def test_sums_grow_and_normalised_sums_keep_their_length(measured):
    raw, normed = measured["grown"].values()
    assert (raw.diff(dim=0).mean(1) > 0).all()
    steps = raw.mean(1).log().diff()
    assert steps.min() > 0.05  # "like compound interest"
    assert (normed[1:] - 50**0.5).abs().max() < 0.01


def test_the_tutorials_norm_differs_by_a_known_factor_and_a_lot_for_small_vectors(measured):
    ours, theirs = measured["layer_norm"], measured["tutorial_norm"]
    samples = transformer_tables.vectors_of_several_sizes(measured["x_river"][0, measured["bank"]])
    four, bank, plain, bert, tiny = (
        (theirs(x).max() / ours(x, torch.ones(len(x)), torch.zeros(len(x))).max()).item()
        for x in samples.values()
    )
    assert four == pytest.approx((3 / 4) ** 0.5, rel=1e-3)
    assert bank == pytest.approx((49 / 50) ** 0.5, rel=1e-3)
    assert plain == pytest.approx((767 / 768) ** 0.5, rel=1e-3)
    assert 0.005 < abs(bert - 1) < 0.02
    assert 2.7 < tiny < 3.5
    ours = measured["layer_norm"](torch.tensor([1.0, 0, 0, 0]), torch.ones(4), torch.zeros(4))
    assert ours[0] == pytest.approx(1.732, abs=5e-4)
    assert measured["tutorial_norm"](torch.tensor([1.0, 0, 0, 0]))[0] == pytest.approx(1.5, abs=1e-3)


def test_the_feed_forward_network_holds_two_thirds(measured):
    sizes = measured["sizes"]
    assert (sizes["linear1"] + sizes["linear2"]) / sum(sizes.values()) == pytest.approx(2 / 3, abs=0.01)


def test_only_attention_lets_words_meet(measured):
    norm, network, attention = (
        influence(part, measured["x_placed"][0]) for part in measured["parts"].values()
    )
    off = ~torch.eye(9).bool()
    assert norm[off].max() == network[off].max() == 0
    assert attention.min() > 1e-3


def test_the_two_gelus_differ_by_less_than_a_thousandth(measured):
    relu, exact, formula = measured["curves"].values()
    assert 0.0003 < (exact - formula).abs().max() < 0.001
    assert relu.min() == 0 > max(exact.min(), formula.min())


def test_a_plain_list_hides_its_modules(measured):
    assert dict(measured["Stretch"](3).named_parameters()).keys() == {"gain", "mix.weight", "mix.bias"}


def test_norm_of_pytorch_is_the_student_s(measured):
    norm, x = torch.nn.LayerNorm(50, eps=0.1), torch.randn(3, 50)
    torch.nn.init.normal_(norm.weight)
    torch.nn.init.normal_(norm.bias)
    ours = measured["layer_norm"](x, norm.weight, norm.bias, 0.1)
    assert torch.allclose(ours, norm(x), atol=1e-5)


def test_the_layers_are_those_of_pytorch_and_the_controls_are_not(measured):
    for apart in measured["apart"].values():
        same, *controls = apart.values()
        assert same < 1e-5 and min(controls) > 0.1


# ------------------------------------------------------------------------------------------ depth


def test_the_last_gradient_is_constant_in_post_norm_and_falls_like_the_root_in_pre_norm(measured):
    """Over seeds: the slope on logarithmic axes, and the ratio at 16 layers."""
    depths, norms = measured["DEPTHS"], measured["norms"]
    for kind, expected in (("post-norm", 0), ("pre-norm", -0.5)):
        last = np.log([norms[kind, depth][:, -1] for depth in depths])  # depth seed
        mean, half = mean_and_half(np.polyfit(np.log(depths), last, 1)[0])
        assert abs(mean - expected) < half < 0.2
    mean, half = mean_and_half(norms["post-norm", 16][:, -1] / norms["pre-norm", 16][:, -1])
    assert mean - half > 3 and mean + half < 4  # "a little below √16"
    top = measured["top"]
    assert top["post-norm", 16] == pytest.approx(8, abs=0.01)
    assert top["pre-norm", 16] / top["pre-norm", 2] == pytest.approx(8**0.5, rel=0.2)


def test_early_layers_get_as_much_in_post_norm_and_more_in_pre_norm(measured):
    post, pre = (
        mean_and_half(measured["norms"][kind, 16][:, 0] / measured["norms"][kind, 16][:, -1])
        for kind in ("post-norm", "pre-norm")
    )
    assert post[0] - post[1] < 1 < post[0] + post[1]  # "five seeds show no shrinking"
    assert pre[0] - pre[1] > 2


def test_words_become_alike_without_residuals_and_later_with_them(measured):
    bare, post, pre = measured["spreads"].values()
    assert bare[:, 0].mean() == pytest.approx(0.8, abs=0.05)  # "about 0.8"
    assert bare[:, 2].max() < 0.1 and bare[:, 3].max() < 0.02
    for layer in range(2, 13):
        mean, half = mean_and_half(pre[:, layer] - post[:, layer])
        assert mean > half
    assert post[:, 2].min() > 0.4 and post[:, -1].max() < 0.1 and pre[:, -1].min() > 0.25
    assert all(
        max(measured["kept"]["post-norm without residuals", start]) < 0.01 for start in measured["STARTS"]
    )


# ------------------------------------------------------------------------------------------ training


def test_without_positions_the_direction_is_a_coin_toss(measured):
    alone, placed = measured["found"].values()
    assert max(abs(value - 0.5) for value in alone) < 0.01
    assert min(placed) > 0.95  # "nearly all directions"


def ends(measured, norm, how):
    """The last losses of the recorded runs, and how many of them have learned the task."""
    runs = measured["runs"]
    runs = runs[(runs.norm == norm) & (runs.how == how) & (runs.step == runs.step.max())]
    assert runs.seed.nunique() == len(runs) == 10
    return runs.loss.to_numpy(), int((runs.accuracy > 0.9).sum())


def test_at_its_learning_rate_deep_post_norm_needs_the_warm_up(measured):
    stuck, learnt = [], 0
    for how in ("no warm-up", "neither"):
        losses, found = ends(measured, "post-norm", how)
        stuck += [loss for loss in losses if abs(loss - np.log(2)) < 0.05]  # "the loss stays at chance level"
        learnt += found
    assert learnt == 1 and len(stuck) == 19


def test_whether_post_norm_needs_a_warm_up_depends_on_the_learning_rate():
    rates = read_table("results/warm_up_rates.csv")
    learned = transformer_tables.learned_by_rate(rates)
    assert rates.groupby(["how", "rate"]).seed.nunique().eq(5).all()
    assert learned.loc["post-norm, warm-up"].tolist() == [5, 5, 5, 0]
    assert learned.loc["post-norm, no warm-up"].tolist() == [5, 5, 0, 0]


def test_that_clipping_helps_deep_post_norm_is_not_settled(measured):
    clipped, free = (ends(measured, "post-norm", how)[1] for how in ("warm-up and clipping", "no clipping"))
    assert (clipped, free) == (10, 7)
    assert fisher_exact([[clipped, 10 - clipped], [free, 10 - free]]).pvalue == pytest.approx(0.21, abs=0.005)


def test_deep_pre_norm_learns_with_every_seed_in_all_four_ways(measured):
    assert [ends(measured, "pre-norm", how)[1] for how in measured["SHORT"]] == [10] * 4


def test_the_live_runs_are_recorded_ones(measured):
    for how, (losses, right) in measured["live"].items():
        runs = measured["runs"]
        row = runs[(runs.norm == "post-norm") & (runs.how == how) & (runs.seed == 0)].iloc[-1]
        assert np.mean(losses[-10:]) == pytest.approx(row.loss, abs=0.05)
        assert right == pytest.approx(row.accuracy, abs=0.05)


def test_padding_to_the_batch_computes_fewer_tokens_for_nothing(measured):
    filled, rows = np.mean(measured["filled"]), measured["rows"]
    assert filled > np.mean([len(row) for row in rows]) / max(map(len, rows))


def test_an_epoch_over_the_data_loader_learns_the_directions(measured):
    assert len(measured["loader"]) == 150 and measured["found_after_epoch"] > 0.9


def test_backwards_is_backwards(measured):
    ids, language = measured["test_ids"][:50], measured["language"]
    for there, back in zip(ids, measured["backwards"](ids), strict=True):
        assert language.decode(there).split() == language.decode(back).split()[::-1]


def test_the_bug_leaves_words_without_a_position(measured):
    add, word = measured["positions_of_2025"], torch.randn(7, 8)
    broken = add(torch.tensor([[3, 5, 3], [3, 5, 3]]), word, torch.randn(6, 8))
    assert torch.equal(broken[:, 0], broken[:, 2]) and not torch.equal(broken[0], broken[1])


def test_the_bug_makes_the_direction_a_coin_toss(measured):
    sinusoid, add = measured["sinusoid"], measured["positions_of_2025"]
    found = measured["order_accuracy"](lambda ids, words: add(ids, words, sinusoid(5_000, 32)), seed=0)
    assert abs(found - 0.5) < 0.03


KINDS_OF_ORDER = ("order1", "order2")


def shares(measured, encoder, steps, *kinds):
    """By seed (rows) and kind of question (columns), from the recorded table."""
    table = measured["recorded"]
    rows = table[(table.encoder == encoder) & (table.steps == steps)]
    assert rows.seed.nunique() == len(rows) >= 3
    return rows[list(kinds)].to_numpy()


def test_without_positions_order_questions_stay_at_a_half_however_deep(measured):
    for encoder in ("1 layer, no positions", "2 layers, no positions"):
        for steps in (500, 1000, 2000):
            assert np.abs(shares(measured, encoder, steps, *KINDS_OF_ORDER) - 0.5).max() < 0.06


def test_where_a_word_tells_all_trained_encoders_find_nearly_all_early(measured):
    for encoder in measured["found_at_last"]:
        for steps in (500, 1000, 2000):
            assert shares(measured, encoder, steps, "left", "right").min() > 0.93
    for layers in ("1 layer", "2 layers"):
        for kind in ("left", "right"):
            (placed, half), (bare, half_bare) = (
                mean_and_half(shares(measured, layers + rest, 2000, kind)[:, 0])
                for rest in ("", ", no positions")
            )
            assert abs(placed - bare) < half + half_bare


def test_with_positions_order_is_learned_later_than_words_and_with_every_seed(measured):
    for encoder in ("1 layer", "2 layers"):
        early, late = (shares(measured, encoder, steps, *KINDS_OF_ORDER) for steps in (500, 2000))
        assert early.max() < 0.7 and (late > 0.9).sum() >= late.size - (encoder == "1 layer")
        assert late.min() > 0.8  # "eight in ten for one seed of the one-layer encoder"
        bare = shares(measured, f"{encoder}, no positions", 2000, *KINDS_OF_ORDER)
        assert late.min() > bare.max() + 0.25


def test_one_layer_and_two_cannot_be_told_apart_after_any_number_of_steps(measured):
    for kind in KINDS_OF_ORDER:
        for steps in (500, 1000, 2000):
            (one, half), (two, half_two) = (
                mean_and_half(shares(measured, encoder, steps, kind)[:, 0])
                for encoder in ("1 layer", "2 layers")
            )
            assert abs(one - two) < half + half_two


def test_the_live_runs_are_the_beginning_of_the_recorded_ones(measured):
    for encoder, live in measured["brief"].items():
        first = shares(measured, encoder, 500, "left", "right", *KINDS_OF_ORDER)[0]
        assert np.abs(first - [live.left, live.right, live.order1, live.order2]).max() < 0.04


def test_even_the_untrained_encoder_is_above_the_most_frequent_sense(measured):
    for encoder in ("1 layer", "2 layers"):
        assert shares(measured, encoder, 0, "right").min() > bounds().majority.right + 0.1
        assert shares(measured, encoder, 2000, "right").min() > shares(measured, encoder, 0, "right").max()


def test_one_matrix_moves_all_positions(measured):
    functions = (measured[name] for name in ("sinusoid", "shift_matrix"))
    same, control, chained = transformer_tables.differences_after_shifts(*functions).values()
    assert max(same, chained) < 1e-4 and control > 0.5


def test_the_start_decides_more_than_the_place_of_the_norm(measured):
    ratios = {where: mean_and_half(rows) for where, rows in measured["ratios"].items()}
    more = np.array(measured["kept"]["pre-norm", "Glorot"]) - measured["kept"]["post-norm", "Glorot"]
    assert more.mean() - half_width(more) > 0.2
    kept = {where: mean_and_half(rows) for where, rows in measured["kept"].items()}
    assert 0.45 < kept["post-norm", "scaled as BERT's"][0] < 0.65  # "about half"
    more = (
        np.array(measured["kept"]["post-norm", "scaled by 0.3"])
        - measured["kept"]["pre-norm", "scaled by 0.3"]
    )
    assert more.mean() > half_width(more)  # "retains more than pre-norm does"
    mean, half = ratios["pre-norm", "scaled by 0.3"]
    assert abs(mean - 1) < max(half, 0.1)  # "only when the matrices are small"
    for start in ("Glorot", "scaled as BERT's"):
        mean, half = ratios["pre-norm", start]
        assert mean - half > 1
    for start in ("Glorot", "scaled as BERT's", "scaled by 0.3"):
        mean, half = ratios["post-norm", start]
        assert mean - half < 1 < mean + half  # "no clear difference … under any initialisation"
