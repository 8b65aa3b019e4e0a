"""What the prose of notebook 03 says without computing it holds in what the notebook measures."""

import numpy as np
import pytest
import torch

from coursekit.intervals import half_width, mean_and_half

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
    assert replaced / 3 < placed < 3 * replaced  # "of the same kind of size"


def test_dot_products_of_positions_depend_on_the_distance_alone(measured):
    curves = torch.stack(list(measured["products"].values()))
    assert (curves - curves[0]).abs().max() < 1e-3
    curve, at = curves[0], measured["distances"].index
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
    four, bank, plain, bert, tiny = measured["ratio"].values()
    assert four == pytest.approx((3 / 4) ** 0.5, rel=1e-3)
    assert bank == pytest.approx((49 / 50) ** 0.5, rel=1e-3)
    assert plain == pytest.approx((767 / 768) ** 0.5, rel=1e-3)
    assert 0.005 < abs(bert - 1) < 0.02
    assert 2.7 < tiny < 3.5
    ours = measured["layer_norm"](torch.tensor([1.0, 0, 0, 0]), torch.ones(4), torch.zeros(4))
    assert ours[0] == pytest.approx(1.732, abs=5e-4)
    assert measured["tutorial_norm"](torch.tensor([1.0, 0, 0, 0]))[0] == pytest.approx(1.5, abs=1e-3)


def test_the_feed_forward_network_holds_two_thirds(measured):
    assert measured["share"] == pytest.approx(2 / 3, abs=0.01)


def test_only_attention_lets_words_meet(measured):
    norm, network, attention = measured["maps"].values()
    off = ~torch.eye(9).bool()
    assert norm[off].max() == network[off].max() == 0
    assert attention.min() > 1e-3


def test_the_layers_are_those_of_pytorch_and_the_controls_are_not(measured):
    for apart in (measured["apart"], measured["apart_pre"]):
        same, *controls = apart.values()
        assert same < 1e-5 and min(controls) > 0.1


# ------------------------------------------------------------------------------------------ depth


def test_the_last_gradient_is_constant_in_post_norm_and_falls_like_the_root_in_pre_norm(measured):
    assert abs(measured["slopes"]["post-norm"]) < 0.15
    assert measured["slopes"]["pre-norm"] == pytest.approx(-0.5, abs=0.1)
    ratio = measured["last"]["post-norm"][16][0] / measured["last"]["pre-norm"][16][0]
    assert 3 < ratio < 5.5
    top = measured["top"]
    assert top["post-norm", 16] == pytest.approx(8, abs=0.01)
    assert top["pre-norm", 16] / top["pre-norm", 2] == pytest.approx(8**0.5, rel=0.2)


def test_early_layers_get_as_much_in_post_norm_and_more_in_pre_norm(measured):
    post, pre = ([mean for mean, _ in measured["by_layer"][kind]] for kind in ("post-norm", "pre-norm"))
    assert 0.5 < post[0] / post[-1] < 2 and max(post) / min(post) < 2.5
    assert pre[0] > 2 * pre[-1]


def test_words_become_alike_without_residuals_and_later_with_them(measured):
    bare, post, pre = (values.mean(0) for values in measured["spreads"].values())
    assert bare[0] == pytest.approx(0.8, abs=0.05)  # "about 0.8"
    assert bare[2] < 0.1 and bare[3] < 0.02
    assert (pre[2:] > post[2:]).all() and post[2] > 0.4
    assert post[-1] < 0.1 and pre[-1] > 0.25


# ------------------------------------------------------------------------------------------ training


def test_without_positions_the_direction_is_a_coin_toss(measured):
    alone, placed = measured["found"].values()
    assert max(abs(value - 0.5) for value in alone) < 0.01
    assert min(placed) > 0.85


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


def test_positions_help_in_the_exam_with_every_seed_and_a_second_layer_hardly(measured):
    untrained, alone, one, two = ([right for _, right in runs] for runs in measured["results"].values())
    assert min(one) > max(alone) and np.mean(one) - np.mean(alone) > 0.02
    assert abs(np.mean(two) - np.mean(one)) < 0.03
    from coursekit.scoreboard import bounds

    assert min(untrained) > bounds().majority.right + 0.1
    assert min(alone) > max(untrained)


def test_one_matrix_moves_all_positions(measured):
    same, control, chained = measured["shifted"].values()
    assert max(same, chained) < 1e-4 and control > 0.5


def test_the_start_decides_more_than_the_place_of_the_norm(measured):
    kept, ratios = (
        {where: mean_and_half(rows) for where, rows in measured[name].items()} for name in ("kept", "ratios")
    )
    assert kept["post-norm", "as above"][0] + 0.2 < kept["pre-norm", "as above"][0]
    assert 0.45 < kept["post-norm", "as BERT's"][0] < 0.65  # "about half"
    more = np.array(measured["kept"]["post-norm", "all at 0.3"]) - measured["kept"]["pre-norm", "all at 0.3"]
    assert more.mean() > half_width(more)  # "keeps more than pre-norm does"
    mean, half = ratios["pre-norm", "all at 0.3"]
    assert abs(mean - 1) < max(half, 0.1)  # "equal ones in pre-norm with small matrices only"
    for start in ("as above", "as BERT's"):
        mean, half = ratios["pre-norm", start]
        assert mean - half > 1
    for start in ("as above", "as BERT's", "all at 0.3"):
        assert 0.6 < ratios["post-norm", start][0] < 1.15  # "at most a little below"
