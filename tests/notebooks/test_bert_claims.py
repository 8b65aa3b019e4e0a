"""What the prose of notebook 06 says without computing it holds in what the notebook measures."""

import json
import re
from collections import Counter
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from scipy import stats

from coursekit.architectures import recorded_rows
from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS, bounds
from coursekit.intervals import mean_and_half
from coursekit.novels.gaps import best_guesses
from coursekit.novels.recipes import SHARE
from coursekit.novels.shipped import recorded
from coursekit.pictures.bert import loss_of_2018
from coursekit.pictures.bert_tables import PAPER, ablations, one_layer_alone, paired_differences
from coursekit.pictures.masked_english import (
    GAPS,
    between_readers,
    gap_by_gap,
    other_training,
    training_curves,
)
from coursekit.pictures.published_scores import BERT_TASKS, closed_by_bert, removed_by_elmo
from coursekit.pictures.subwords import cut_into
from coursekit.small import recorded_senses
from coursekit.stored import models_folder

pytestmark = pytest.mark.slow
NOTEBOOKS = ["06_bert"]


def test_the_words_are_cut_as_hugging_face_cuts_them(measured):
    assert measured["in_pieces"].agree == 1
    cut, toy, real = partial(cut_into, measured["wordpiece"]), measured["toy"], measured["real"]
    assert cut("unforgettable", toy) == "un ##forget ##table"
    assert cut("unforgettable", real) == "un ##for ##get ##table"
    assert "##forget" not in real and len(real) == 30_522
    assert cut("wardens", real).split()[0] == "warden"


def test_merging_by_count_and_by_likelihood_choose_differently(measured):
    merges, learned, cut = measured["merges"], measured["learned"], measured["cut_reviews"]
    assert merges["count"][:2] == ["##he", "the"] and merges["likelihood"][0] == "qu"
    assert all(len(pieces) == 300 for pieces in learned.values())
    assert {"aqua", "aquar", "aquari", "aquariu", "aquarium"} <= set(learned["likelihood"])
    whole, unknown = (
        cut.loc[row].str.rstrip("%").astype(float)
        for row in ("words that are a single token", "words that are replaced by [UNK]")
    )
    assert 40 < whole["learned by count"] < 50 and whole["learned by likelihood"] < 20
    assert whole["BERT's own"] > 95 and unknown["BERT's own"] == 0 < unknown["learned by count"] < 1
    assert (cut.loc["enjoyed"] == ["[UNK]", "[UNK]", "enjoyed"]).all()
    assert not any("j" in word[1:] for word in measured["frequent"])


def test_hugging_face_s_trainer_differs_by_two_rules(measured):
    """With the letters and the order of ties that it has, merging by count gives its list."""
    theirs = sorted(measured["trained"].get_vocab().items(), key=lambda entry: entry[1])
    names = [piece for piece, _ in theirs]
    cut = {word: [word[0], *(f"##{letter}" for letter in word[1:])] for word in measured["frequent"]}
    letters = {piece for pieces in cut.values() for piece in pieces}
    first = names[: next(i for i, piece in enumerate(names) if len(piece.removeprefix("##")) > 1)]
    assert set(first) - letters == {"x"} and letters <= set(first)
    place = {piece: i for i, piece in enumerate(first)}
    while len(place) < 300:
        counts = Counter()
        for word, pieces in cut.items():
            for pair in pairwise(pieces):
                counts[pair] += measured["frequent"][word]
        left, right = min(counts, key=lambda pair: (-counts[pair], place[pair[0]], place[pair[1]]))
        joined = left + right[2:]
        place[joined] = len(place)
        for word, pieces in cut.items():
            text = "".join(f" {piece} " for piece in pieces)
            cut[word] = text.replace(f" {left}  {right} ", f" {joined} ").split()
    assert list(place) == names
    assert "x" in measured["only_theirs"] and measured["shared"] > 270


def test_a_row_is_hugging_face_s_row(measured):
    assert measured["same"]


def test_the_shares_lie_in_their_bands_and_special_tokens_are_left_alone(measured):
    _, special_chosen = measured["corruption"].special
    assert special_chosen == 0
    for name, (found, among, intended) in measured["corruption"].shares.items():
        n = int(among.sum())
        share = int((found & among).sum()) / n
        assert abs(share - intended) < 1.96 * (intended * (1 - intended) / n) ** 0.5, name


def test_the_controls_stand_in_order(measured):
    nats = measured["ladder"]
    assert nats["best possible: the entropy"] < 1 < 5 < nats["word frequencies"] < 6.5
    assert nats["BERT before training"] > nats["uniform distribution (ln V)"] + 0.5


def test_the_first_loss_is_what_the_initialisation_predicts(measured):
    """Over ten seeds for each standard deviation."""
    uniform = np.log(len(measured["language"].vocabulary))
    for std, found in measured["at_first"].items():
        mean, half = mean_and_half(found[:, 1])
        assert abs(mean - found[:, 0].mean()) < half + 0.02, std
    assert measured["at_first"][0.02][:, 1].mean() == pytest.approx(uniform, abs=0.1)
    spreads = [np.ptp(found[:, 1]) for found in measured["at_first"].values()]
    assert spreads == sorted(spreads)  # "most of all with σ = 0.2"
    assert measured["ladder"]["BERT before training"] == pytest.approx(
        measured["at_first"][0.2][:, 0].mean(), abs=1.5
    )


def test_the_published_scores_agree_with_what_their_papers_compute_from_them():
    bert, removed = BERT_TASKS, removed_by_elmo()
    assert (100 * removed).round(1).tolist() == [24.9, 5.8, 17.2, 9.8, 21.0, 6.8]  # table 1 of Peters et al.
    glue = bert.iloc[:8]
    mismatched = {"BERT-Base": 83.4, "BERT-Large": 85.9}  # MNLI has a second score
    averages = {"BERT-Base": 79.6, "BERT-Large": 82.1}  # table 1 of Devlin et al.
    for model, other in mismatched.items():
        assert (glue[model].sum() + other) / 9 == pytest.approx(averages[model], abs=0.05)
    gains = (bert["BERT-Large"] - bert["best before"]).round(1)
    assert (gains["MNLI"], gains["SQuAD 1.1"], gains["SQuAD 2.0"]) == (4.6, 1.5, 5.1)  # its abstract
    assert (gains > 0).all() and (glue["BERT-Large"] > glue["BERT-Base"]).all()
    assert (closed_by_bert() > removed.median()).sum() > 6  # "often by a larger margin"


def test_both_models_have_saturated_the_test_of_senses(measured):
    for runs in measured["accuracy"].values():
        assert all(mean_and_half([run[kind] for run in runs])[0] > 0.9 for kind in QUESTIONS)
    size = sum(weight.numel() for weight in measured["of_course"].parameters())
    assert 110e6 / size == pytest.approx(20, abs=1) and 340e6 / size > 60


def test_the_live_run_comes_most_of_the_way_to_the_bound(measured):
    course, (words, _) = measured["course"], measured["bounds"]
    assert course[0, 1] - words > 4 * (course[-1, 1] - words) > 0


def test_with_both_losses_it_bends_towards_both_bounds(measured):
    course, (words, pairs) = measured["paired_course"], measured["bounds"]
    assert course[0, 1] - words > 4 * (course[-1, 1] - words) > 0
    assert course[0, 2] - pairs > 2 * (course[-1, 2] - pairs)
    assert course[-1, 3] > 0.7


def test_the_loss_of_2018_falls_and_gives_one_answer_to_all_pairs(measured):
    course = measured["wild_course"]
    words = measured["bounds"][0]
    assert len(course) == len(measured["paired_course"])
    assert course[0, 1] - words > 3 * (course[-1, 1] - words) > 0  # the hidden words are learned with it, too
    assert measured["says_not"] > 0.98
    not_next = measured["exam"].batch[2]
    assert course[-1, 3] == pytest.approx(not_next.float().mean().item(), abs=0.02)
    assert (
        loss_of_2018(measured["answers"], not_next) < 0.05 < 3 < course[-1, 2]
    )  # and on all pairs it leaves the picture


def test_the_live_run_s_bound_is_that_of_the_pairs_sentences(measured):
    hidden = measured["exam"].hidden
    assert hidden.sum() > 200
    words, pairs = measured["bounds"]
    assert 0.4 < words < 1.2 and 0.2 < pairs < np.log(2)


def test_the_model_has_the_sets_and_favourites_within_them(measured):
    for distributions in measured["panels"].values():
        _, both, model = distributions.values()
        possible = both > 1e-9
        assert model[possible].sum() > 0.85
        assert set(np.argsort(-model)[: min(2, possible.sum())]) <= set(np.flatnonzero(possible))
    first = next(iter(measured["panels"].values()))
    assert first["exact, given the words before"].max() < 0.05
    river = [d for (words, _), d in measured["panels"].items() if "river" in words][0]
    assert river["exact, given both sides"].max() == pytest.approx(1)
    assert river["exact, given the words before"].max() == pytest.approx(0.5)


def test_the_right_is_worth_most_where_most_follows(measured):
    right = measured["right"]
    assert right.nats["exact, left"].mean() == pytest.approx(1.8, abs=0.1)
    assert 0.5 < right.worth.mean() < 1.1
    assert 0 < right.worth_before(0) < 0.2 < 1 < right.worth_before(6)
    assert right.measured == pytest.approx(right.worth.mean(), abs=0.03)


def test_elmo_is_a_shallow_concatenation_and_bert_is_not(measured):
    assert measured["reads"]["ELMo"] == {"its left": 0.5, "its right": 0.5, "both": 0}
    assert measured["reads"]["BERT"] == {"its left": 1, "its right": 1, "both": 1}


def test_the_first_word_still_reaches_the_last(measured):
    middle, half = mean_and_half(np.log(measured["left"]))
    assert np.log(0.2 * 2 / 64) < middle - half < middle + half < np.log(5 * 2 / 64)  # "of the order of 1/T"
    lstm = recorded_rows()["ELMo"]["draws"]
    difference = stats.ttest_ind(np.log(measured["left"]), np.log(lstm), equal_var=False)
    assert difference.confidence_interval().high < 0  # "no advantage over a trained LSTM"


def test_the_original_s_parameters(measured):
    sizes = measured["sizes"]
    assert sizes.loc["encoder, total"].tolist() == [109_482_240, 335_141_888]
    assert sizes.loc["with both heads", "BERT-Large"] == 336_226_108


def test_a_place_tells_nothing_of_a_sense(measured):
    for found in measured["by_layer"][0]:
        for kind in QUESTIONS:
            assert found[kind] == pytest.approx(bounds().majority[kind], abs=0.05)


def test_one_layer_finds_cues_and_two_find_order(measured):
    for first, second in zip(measured["by_layer"][1], measured["by_layer"][2], strict=True):
        assert min(first.left, first.right) > 0.93
        assert min(second.left, second.right) > 0.98 and min(second.order1, second.order2) > 0.95
        assert first.order2 < second.order2 - 0.15
        assert abs(second.order1 - second.order2) < 0.03
    of_seeds = sorted(one.order2 for one in measured["by_layer"][1])
    assert len(of_seeds) == 3 and max(of_seeds[:2]) < 0.6 and of_seeds[2] == pytest.approx(0.8, abs=0.02)


def test_one_layer_alone_can_tell_order_when_it_is_trained_to():
    """ "nearly all in 03 with four seeds of five, and four questions in five with the fifth"."""
    fifth, *four = sorted(one_layer_alone())
    assert len(four) == 4 and min(four) > 0.97
    assert fifth == pytest.approx(0.8, abs=0.03)


def test_untrained_attention_carries_words_and_not_their_order():
    for found in recorded_senses("bert", 2, trained=False):
        assert min(found.left, found.right) > 0.6 and max(found.order1, found.order2) < 0.6


def test_no_half_of_bert_is_ignorant_of_the_right(measured):
    elmo, bert = measured["accuracy"]["ELMo"], measured["accuracy"]["BERT"]
    assert min(one.right for one in bert) > max(one.right for one in elmo) + 0.03


def test_bert_is_not_ahead_of_elmo_where_order_decides(measured):
    for kind in ("order1", "order2"):
        elmo, bert = (np.mean([one[kind] for one in measured["accuracy"][name]]) for name in ("ELMo", "BERT"))
        assert bert < elmo + 0.02


def test_the_head_of_the_extension_is_the_model_s(measured):
    assert measured["yours"] == pytest.approx(measured["paired_course"][-1, 2], abs=1e-4)


def test_minilm_runs_in_the_student_s_own_code(measured):
    assert measured["from_transformers"] < 1e-5 and len(measured["ten_sentences"].input_ids) == 10
    assert measured["with_another_eps"] > 100 * measured["from_transformers"]
    same, other = measured["same_sense"], measured["other_sense"]  # L+1 pairs
    apart = same.mean(dim=1) - other.mean(dim=1)
    assert abs(apart[0]) < 0.02 < min(apart[1:]) and apart.argmax() == len(apart) - 1
    assert (same.min(dim=1).values < other.max(dim=1).values).all()  # "single pairs overlap at every layer"


@pytest.mark.parametrize(("layers", "heads"), [(1, 2), (12, 4)])
def test_the_own_bert_is_transformers_bert_with_any_weights(measured, layers, heads):
    torch.manual_seed(layers)
    config = transformers.BertConfig(
        vocab_size=50, hidden_size=24, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=40,
        max_position_embeddings=16,
    )  # fmt: skip
    theirs = transformers.BertForPreTraining(config).eval()
    for weight in theirs.parameters():
        weight.data += 0.2 * torch.randn_like(weight)
    own = measured["Bert"](50, 16, 24, layers, heads, 40).eval()
    own.load_state_dict(measured["bert_names"](theirs.state_dict()))
    ids, segments = torch.randint(50, (3, 9)), torch.randint(2, (3, 9))
    real = torch.arange(9) < torch.tensor([[9], [4], [1]])
    with torch.no_grad():
        states, pooled = own(ids, segments, real)
        expected = theirs.bert(
            ids, attention_mask=real.long(), token_type_ids=segments, output_hidden_states=True
        )
    for state, hidden in zip(states, expected.hidden_states, strict=True):
        assert torch.allclose(state[real], hidden[real], atol=1e-5)
    assert torch.allclose(pooled, expected.pooler_output, atol=1e-5)


def test_the_table_of_choices_says_what_its_intervals_say():
    runs = ablations()
    differences = paired_differences(runs)
    assert (runs.groupby("variant").size() == 3).all() and len(differences) == 15
    above = {place for place, (mean, half) in differences.items() if mean > half}
    below = {place for place, (mean, half) in differences.items() if mean < -half}
    nats = "above the bound"
    assert above == {
        ("every chosen word masked", nats),
        ("no weight decay", nats),
        ("no next sentence", "right"),
    }
    assert below == {
        ("40 % chosen", nats),
        ("no warm-up", nats),
        ("no weight decay", "right"),
        ("no weight decay", "order2"),
    }
    mean, half = differences["every chosen word masked", nats]
    assert mean < 1.05 * half  # "just so"


def test_by_holm_s_rule_only_weight_decay_stays():
    runs = ablations()
    p = {
        place: stats.ttest_1samp(runs.loc[place[0]][place[1]] - runs.loc[PAPER][place[1]], 0).pvalue
        for place in paired_differences(runs)
    }
    ordered = sorted(p, key=p.get)
    allowed = [0.05 / (len(ordered) - i) for i in range(len(ordered))]
    assert ordered[0] == ("no weight decay", "above the bound") and p[ordered[0]] < allowed[0]
    assert p[ordered[1]] > allowed[1]


# ------------------------------------------------------------------------------------------ gaps of English


MINILM, OURS = "all-MiniLM-L6-v2", "the novels' BERT"


def first_guesses(card: str) -> pd.DataFrame:
    """Of each reader on a card: the share of gaps that its first guess fills, and the ends of the interval."""
    cells = recorded(card)["top-1 accuracy"]
    return cells.str.extract(r"(?P<share>\S+) \((?P<low>\S+) to (?P<high>\S+)\)").astype(float)


def test_cell_is_in_neither_reader_s_list_and_bank_only_in_one_of_minilm_s(measured):
    words = "cell", "cell", "cell", "bank", "bank"
    found = {
        name: [word in best_guesses(by, text).split() for text, word in zip(GAPS, words, strict=True)]
        for name, by in measured["readers"].items()
    }
    assert found == {MINILM: [False] * 4 + [True], OURS: [False] * 5}
    about = json.loads((models_folder() / "novels_minilm.json").read_text())
    assert about["continued"]["minutes"] == pytest.approx(7, abs=0.5)  # "seven minutes"


def test_the_right_is_worth_something_in_english_however_it_is_taken_away(measured):
    assert len(measured["english"]) == 160
    for name in (MINILM, OURS):
        found = measured["gaps_read"][name]
        for without in ("left", "left, rest hidden"):
            worth, half = found.worth_of_right(without)
            assert worth - half > 0.3, without
        nats, rank, _ = found
        assert 0.1 < (rank < 1).mean() < 0.4
        worse = nats["nothing"] - nats["left, rest hidden"]
        assert worse.mean() - mean_and_half(worse)[1] > 0


def test_how_much_the_right_is_worth_hangs_on_how_it_is_taken_away_most_with_the_novels_bert(measured):
    more = {}
    for name in (MINILM, OURS):
        nats, _, ends = measured["gaps_read"][name]
        more[name] = nats["left"] - nats["left, rest hidden"]
        assert more[name].mean() - mean_and_half(more[name])[1] > 0
        assert np.mean(ends) > 0.5  # "looks like one that ends"
    between = more[OURS] - more[MINILM]
    assert between.mean() - mean_and_half(between)[1] > 0


def test_the_two_readers_cannot_be_told_apart_on_the_course_s_sentences(measured):
    mean, half = between_readers(measured["gaps_read"])
    assert abs(mean) < half


def test_in_novels_the_readers_have_a_clear_order_gap_by_gap():
    order = ["5-grams", "ELMo", "BERT", "MiniLM with the new head", "unigrams"]
    assert list(gap_by_gap()) == list(pairwise(order))
    assert all(mean - half > 0 for mean, half in gap_by_gap().values())
    shares = (read_table("results/novels_gaps.csv") == 0).mean()
    assert shares["BERT"] == pytest.approx(first_guesses("bert").share["BERT"], abs=0.002)
    cards = [
        json.loads((models_folder() / f"novels_{name}.json").read_text())["steps"]
        for name in ("elmo", "bert")
    ]
    assert cards[0] == cards[1]  # "after as many steps"
    assert SHARE == 0.2  # "one in five"


def test_bert_s_loss_rests_on_a_plateau_with_both_seeds_and_gpt_s_does_not():
    of_unread = {name: curve.set_index("step").validation for name, curve in training_curves().items()}
    for name, loss in of_unread.items():
        rests, falls = loss[320] - loss[1_280], loss[1_280] - loss[2_080]
        if name.startswith("BERT"):
            third = pytest.approx(1 / 3, abs=0.06)
            assert rests == third and falls > 1, name  # "a third of a nat", "more than one"
        else:
            assert rests > 0.6 > falls
    for other, ahead in (("BERT", False), ("ELMo", True)):
        mean, half = other_training()[other]
        assert (mean - half > 0) == ahead and mean + half > 0, other
    smaller = (
        read_table("results/novels_seeds.csv").query("model == 'bert' and figure == 'top-1 accuracy'").value
    )
    assert smaller.min() == pytest.approx(0.12, abs=0.005) and smaller.max() == pytest.approx(0.20, abs=0.006)


def test_five_words_counted_on_both_sides_are_ahead_of_both_and_these_of_unigrams():
    for card, name in (("minilm", "MiniLM with the new head"), ("bert", "BERT")):
        right = first_guesses(card)
        assert right.high["unigrams"] < right.low[name]
        assert right.high[name] < right.low["5-grams, both sides"]


def test_your_bert_runs_the_weights_of_the_course_s(measured):
    assert measured["from_course"] < 0.02  # only ε differs


def test_a_gap_of_one_s_own_is_filled_and_a_text_without_one_is_no_error(measured):
    for by in measured["readers"].values():

        def guesses(text: str, by=by) -> str:
            return best_guesses(by, text)

        assert len(re.findall(r" 0\.\d\d", guesses("She sat by the [MASK]."))) == 5
        assert guesses("No gap at all.") == "this text contains no [MASK]"
        assert len(re.findall(r" 0\.\d\d", guesses("☃ [MASK] ж"))) == 5
        assert (
            len(re.findall(r" 0\.\d\d", guesses("on and on " * 300 + "to the [MASK]" + " and back" * 300)))
            == 5
        )
