"""What the prose of notebook 02 says without computing it holds in what the notebook measures."""

from functools import partial

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity

from coursekit.intervals import mean_and_half
from coursekit.language.pairs import sentence_pairs

pytestmark = pytest.mark.slow
NOTEBOOKS = ["02_attention"]


def seeds_of(measured, kind):
    """The trained matrices of one kind of layer, a dictionary for each seed."""
    return [matrices for matrices, _ in measured["runs"][kind]]


# ------------------------------------------------------------------------------------------ sections 1 and 2


def test_the_example_by_hand_has_the_numbers_of_the_text(measured):
    products, exponentials, weights = (
        measured[name] for name in ("toy_products", "exponentials", "toy_weights")
    )
    assert len(measured["toy"]) == 6 and products["river"] == 2
    assert f"{products['river'] / 3**0.5:.2f} {exponentials['river']:.2f}" == "1.15 3.17"
    assert f"{sum(exponentials.values()):.2f} {weights['river']:.2f}" == "10.68 0.30"
    water, money, _ = measured["toy_bank"]
    assert measured["toy"]["bank"][:2] == [1, 1] and round(water / money) == 3


def test_will_and_the_score_higher_with_bank_than_river_does(measured):
    river, vectors = measured["river"], measured["x_river"]
    scores = measured["similarities"](vectors, vectors)
    with_bank = dict(zip(river, scores[measured["focal_river"]].tolist(), strict=True))
    assert min(with_bank["will"], with_bank["the"]) > with_bank["river"]
    assert max(with_bank, key=with_bank.get) == "bank"
    assert torch.allclose(scores, scores.T)


def test_the_variance_of_random_scores_is_d_and_after_scaling_1(measured):
    before, after = measured["variance"].values()
    for d, (mean, _), (scaled, _) in zip(measured["sizes"], before, after, strict=True):
        assert mean == pytest.approx(d, rel=0.1) and scaled == pytest.approx(1, rel=0.1)


def test_glove_leans_to_one_side_and_a_word_with_itself_scores_far_above_pairs(measured):
    frequent, scores = measured["frequent"], measured["products"]
    selves = scores.diagonal()
    pairs = scores[~torch.eye(len(frequent)).bool()]
    assert abs(frequent.mean()) < 0.02 and frequent.mean(0).abs().max() > 1
    assert pairs.mean() == pytest.approx(frequent.mean(0).square().sum().item(), rel=0.01)
    assert selves.mean() > pairs.mean() + 3 * pairs.std()
    assert not 0.8 < frequent.var() < 1.25


def test_temperature_takes_bank_from_itself_alone_to_uniform_weights(measured):
    itself = measured["focal_river"]
    unscaled, half, one, five = (measured["bank_at"](t) for t in measured["temperatures"].values())
    assert unscaled[itself] > 0.995
    assert unscaled[itself] > half[itself] > one[itself] > five[itself]
    assert (measured["bank_at"](1000.0) - 1 / 9).abs().max() < 0.01


def test_without_scaling_entropy_and_derivative_collapse_and_with_it_they_stay(measured):
    results, sizes = measured["measured"], measured["sizes"]
    for which, stays, falls in ((0, 0.1, 0.3), (1, 0.03, 0.1)):
        scaled = [results["with scaling", d][which][0] for d in sizes]
        raw = [results["without scaling", d][which][0] for d in sizes]
        assert max(scaled[1:]) - min(scaled[1:]) < stays
        assert raw[-1] < falls < scaled[-1]
    entropies = [results["without scaling", d][0][0] for d in sizes]
    assert entropies == sorted(entropies, reverse=True)


def test_the_mean_derivative_averages_over_many_saturated_queries_and_a_few_undecided_ones(measured):
    torch.manual_seed(1)
    raw = measured["similarities"](torch.randn(2000, 1, 1024), torch.randn(2000, 16, 1024))
    weights = measured["softmax"](raw, -1)[:, 0]
    size = measured["derivative_size"](weights)
    assert (size < 0.01).float().mean() > 0.6
    assert 0.02 < (size > 0.3).float().mean() < 0.2
    assert weights[size > 0.3].topk(2).values.sum(1).mean() > 0.9  # undecided between two keys


# ------------------------------------------------------------------------------------------ section 3


def test_bank_gives_most_attention_to_itself_and_river_gets_less_than_the(measured):
    river = dict(zip(measured["river"], measured["plain_river"].tolist(), strict=True))
    money = dict(zip(measured["money"], measured["plain_money"].tolist(), strict=True))
    assert river["bank"] > 0.5 and money["bank"] > 0.5
    assert river["river"] < river["the"]


def test_nearly_every_word_looks_at_itself_first(measured):
    first = [
        measured["plain_weights"](x).argmax(1) == torch.arange(len(x))
        for x in (measured["x_river"], measured["x_money"])
    ]
    assert torch.cat(first).float().mean() > 0.9


def test_the_two_banks_hardly_part_while_different_words_come_closer(measured):
    new_river, new_money = measured["new_river"], measured["new_money"]
    place = measured["focal_river"]
    cosine = partial(cosine_similarity, dim=-1)
    parted = 1 - cosine(new_river[place], new_money[measured["focal_money"]])
    closer = cosine(new_river[place], new_river[0]) - cosine(
        measured["x_river"][place], measured["x_river"][0]
    )
    assert 0 < parted < 0.02 and closer > 5 * parted


# ------------------------------------------------------------------------------------------ section 4


def test_padding_leaves_no_trace_and_torch_agrees(measured):
    padded, alone = measured["ours"][0, : len(measured["river"])], measured["new_river"]
    assert torch.allclose(padded, alone, atol=1e-5)
    assert torch.allclose(measured["ours"], measured["theirs"], atol=1e-5)


def test_five_words_of_the_two_sentences_are_not_among_the_trainings(measured):
    new = set(measured["river"] + measured["money"]) - measured["trained_on"]
    assert new == {"will", "hike", "along", "my", "deposit"}


def test_plain_weights_are_worse_than_uniform_ones_and_learned_ones_best_with_every_seed(measured):
    found = measured["found"]
    for side in ("left", "right"):
        plain, uniform, learned = (found[f"{kind} weights", side] for kind in ("plain", "uniform", "learned"))
        assert max(plain) < min(uniform) and max(uniform) < min(learned)
    lead = {side: np.mean(found["learned weights", side]) - np.mean(found["uniform weights", side])
            for side in ("left", "right")}  # fmt: skip
    assert lead["right"] > 1.2 * lead["left"]
    by_seed = {
        side: np.subtract(found["learned weights", side], found["uniform weights", side])
        for side in ("left", "right")
    }
    mean, half = mean_and_half(by_seed["right"] - by_seed["left"])
    assert mean > half  # "the gain is larger where the cue is on the right"


def test_without_the_second_sentence_uniform_weights_come_closer_to_learned_ones(measured):
    alone = measured["alone"]
    both = {kind: np.mean(measured["found"][kind, "right"]) for kind in alone}
    lead, lead_alone = (table["learned weights"] - table["uniform weights"] for table in (both, alone))
    assert 0 < lead_alone < 0.7 * lead


def test_the_example_of_a_loss_is_entropy_and_divergence():
    p, q = torch.tensor([0.5, 0.5]), torch.tensor([0.9, 0.1])
    cross_entropy, entropy = -(p * q.log()).sum(), -(p * p.log()).sum()
    assert [f"{-value.log():.2f}" for value in q] == ["0.11", "2.30"]
    assert f"{cross_entropy:.2f} {entropy:.2f} {cross_entropy - entropy:.2f}" == "1.20 0.69 0.51"


def test_only_order_leaves_the_sense_open_and_learned_weights_are_too_confident_there(measured):
    nats, by_order = measured["nats"], measured["by_order"]
    whole, without_order, *_, learned = nats.values()
    assert whole.max() < 1e-6 and by_order.float().mean() == pytest.approx(1 / 3, abs=0.05)
    assert without_order.mean() == pytest.approx(measured["entropy_without_order"], abs=0.01)
    assert learned[by_order].mean() == pytest.approx(0.9, abs=0.05)
    losses = [measured["held_out_losses"](W)[by_order].mean() for W in seeds_of(measured, "learned weights")]
    assert min(losses) > np.log(2)


def test_trained_bank_gives_most_weight_to_the_cues_and_little_to_itself_with_every_seed(measured):
    for matrices in seeds_of(measured, "learned weights"):
        for sentence in measured["CUES"]:
            assert measured["bank_gives"](sentence, "the cues", matrices) > 0.75
            assert measured["bank_gives"](sentence, "itself", matrices) < 0.15
    untrained = [measured["new_weights"](seed, {}) for seed in measured["SEEDS"]]
    assert np.mean([measured["bank_gives"]("river", "the cues", matrices) for matrices in untrained]) < 0.5


def test_deposit_gets_more_than_three_times_the_uniform_share_with_every_seed(measured):
    words = measured["money"]
    for matrices in seeds_of(measured, "learned weights"):
        weights = measured["weights_of"](words, measured["focal_money"], matrices)
        assert weights[words.index("deposit")] > 3 / len(words)


def test_uniform_weights_do_as_well_as_learned_ones_on_twenty_new_sentences(measured):
    counts = measured["counts"]
    assert len(measured["NEW"]) == 20 and measured["unseen"] > 0.3
    assert abs(np.mean(counts["uniform weights"]) - np.mean(counts["learned weights"])) < 2
    assert np.mean(counts["plain weights"]) < np.mean(counts["uniform weights"]) - 2


def test_words_the_training_never_showed_are_enough(measured):
    counts = measured["counts"]
    hidden = np.mean(counts["learned weights, training words masked"])
    assert hidden > np.mean(counts["untrained"]) + 4
    assert hidden > np.mean(counts["learned weights"]) - 2


def test_weights_say_a_good_deal_about_effects_and_permuted_ones_little_more_than_chance(measured):
    assert len(measured["by_training"]) == len(measured["SEEDS"]) == 4
    for found in measured["by_training"]:
        tau, agree, by_chance, survives, guess = found.values()
        assert 0.5 < tau.mean() < 0.8
        mean, half = mean_and_half(agree - by_chance)  # the same texts
        assert mean - half > 0.4 and 0.6 < agree.mean() < 0.95
        mean, half = mean_and_half(survives - guess)
        assert mean > half and mean + half < 0.3  # "only slightly more often than expected by chance"


# ------------------------------------------------------------------------------------------ sections 5 to 7


def test_slices_of_the_input_are_blocks_and_cost_a_fifth(measured):
    sliced, projected, mixed = ((moved > 1e-6).float().mean() for moved in measured["maps"].values())
    assert sliced == pytest.approx(0.2) and projected == mixed == 1
    full, blocks = (sum(int((W != 0).sum()) for W in some) for some in measured["to_learn"].values())
    assert full == 5 * blocks


def test_the_code_of_2022_is_blind_for_most_pairs_and_bank_cannot_see_river(measured):
    sees, river = measured["sees"], measured["river"]
    old, mended = (sees(measured[name]) > 1e-6 for name in ("heads_of_2022", "mended_heads"))
    assert (~old).sum() == 50 and mended.all()
    assert not old[river.index("bank"), river.index("river")]
    # Bank meets only its neighbours in the sentence: a head is a run of words.
    assert old[river.index("bank")].nonzero().flatten().tolist() == [3, 4, 5, 6, 7]


def test_where_a_word_reveals_the_sense_the_layer_is_level_with_uniform_weights(measured):
    average, plain, equal, learned = (measured[name] for name in ("average", "plain", "equal", "learned"))
    assert min(accuracy.right for accuracy in learned) > average.right > 0.9 and plain.right > 0.9
    mean, half = mean_and_half([accuracy.right for accuracy in learned])
    mean_equal, half_equal = mean_and_half([accuracy.right for accuracy in equal])
    assert abs(mean - mean_equal) < half + half_equal  # "level with uniform weights"
    everybody = [average, plain, *equal, *learned]
    assert max(accuracy.left for accuracy in learned) < average.left
    assert min(accuracy.left for accuracy in everybody) > 0.97  # "within three percentage points"
    assert mean + half < 0.975  # the average of 01, with vectors of this language


def test_where_only_order_reveals_the_sense_every_row_is_at_about_one_half(measured):
    rows = [measured["average"], measured["plain"], *measured["equal"], *measured["learned"]]
    shares = np.array([[accuracy.order1, accuracy.order2] for accuracy in rows])
    assert np.abs(shares - 0.5).max() < 0.06


def test_partners_have_one_vector_and_are_never_both_right(measured):
    vectors, other = measured["vectors"], measured["vectors_exchanged"]
    assert torch.allclose(vectors, other, atol=1e-4) and vectors.norm(dim=1).min() > 0.1
    asked, exchanged = measured["asked"], measured["exchanged"]
    assert (asked.sense != exchanged.sense).all() and len(asked) > 1500
    assert (np.sort(asked.ids, axis=1) == np.sort(exchanged.ids, axis=1)).all()
    assert measured["times_right"][2] == 0 and measured["times_right"][1] > 0.9
    assert torch.allclose(measured["shuffled_first"], measured["shuffled_after"], atol=1e-5)


def test_sentences_of_order_were_among_the_training_texts_with_their_senses(measured):
    *_, cue = sentence_pairs(measured["language"], 12_000, seed=1, split="train", without="will")
    assert (
        len(cue) == len(measured["ids"]) and min((cue == kind).mean() for kind in ("order1", "order2")) > 0.05
    )


def test_all_heads_at_once_give_what_the_loop_gives(measured):
    assert torch.allclose(measured["at_once"], measured["in_a_loop"], atol=1e-5)
