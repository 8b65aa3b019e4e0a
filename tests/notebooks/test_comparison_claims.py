"""What the prose of notebook 12 says without computing it holds in what the notebook measures."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import torch

from coursekit.architectures import recorded_rows
from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS, nearest_sense, sense_exam
from coursekit.intervals import bootstrap, mean_and_half, wilson
from coursekit.novels.readers import load_bert, load_elmo, load_gpt
from coursekit.novels.shipped import recorded
from coursekit.stored import models_folder
from tests.notebooks.answers import right_cells

pytestmark = pytest.mark.slow
NOTEBOOKS = ["12_one_corpus"]


# ------------------------------------------------------------------------------------------ the scoreboard


def test_the_student_s_evaluation_is_the_scoreboard_s(measured):
    for name in ("GloVe, one vector", "BERT"):
        board = nearest_sense(sense_exam(), *measured["vectors"][name])
        for kind in QUESTIONS:
            mean = measured["intervals"][name][kind][0]
            assert mean == pytest.approx(board[kind], abs=2e-3)


def test_the_recorded_answers_belong_to_this_exam(measured):
    rows, asked = measured["recorded"], measured["asked"]
    words = np.array(asked.vocabulary)[measured["ambiguous_words"](asked)]
    for _, own in rows[rows.exam == "generated"].groupby("model"):
        assert list(own.word) == list(words) and list(own.part) == list(asked.cue)
    test = measured["parts"][1]
    for _, own in rows[rows.exam == "senses"].groupby("model"):
        assert list(own.word) == list(test.word) and list(own.part) == list(test.kind)


def test_left_everything_that_reads_gets_nearly_all(measured):
    for name in ("ELMo", "BERT", "GPT", measured["encoder"], measured["decoder"], "GloVe, bag of words"):
        assert measured["intervals"][name]["left"][1] > 0.9


def test_right_who_has_seen_the_cue_knows_and_who_has_not_guesses(measured):
    right, limits = (
        {name: kinds["right"] for name, kinds in measured["intervals"].items()},
        measured["limits"],
    )
    for name in ("GPT", measured["decoder"], "exact, up to the target"):
        low, high = right[name][1:]
        assert low < limits.words_before.right + 0.01 and high < 0.55
    for name in ("ELMo", "BERT", measured["encoder"], "GloVe, bag of words"):
        assert right[name][1] > 0.75
    assert right["GloVe, one vector"][0] == pytest.approx(limits.majority.right, abs=1e-3)


@pytest.mark.parametrize("kind", ["order1", "order2"])
def test_where_order_decides_only_the_models_of_this_language_know(measured, kind):
    shares, limits = {name: kinds[kind] for name, kinds in measured["intervals"].items()}, measured["limits"]
    assert shares["GloVe, bag of words"][1] < 0.5  # in half of the cases at best
    for name in ("ELMo", "BERT"):
        assert shares[name][1] > 0.9  # nearly all
    low, high = shares["GPT"][1:]
    assert low - 0.02 < limits.words_before[kind] < high + 0.02  # at the bound for the preceding words
    assert limits.words_before[kind] > 0.7  # which determine the sense in most cases
    for name in (measured["encoder"], measured["decoder"]):
        assert 0.45 < shares[name][0] < 0.6  # barely above one half


def test_the_pre_trained_models_numbers_are_those_of_08(measured):
    board = read_table("results/one_corpus.csv").query("exam == 'generated'")
    for model in measured["on_english"]:
        for kind in QUESTIONS:
            recorded = board[(board.model == model) & (board.part == kind)].right.mean()
            assert measured["intervals"][model][kind][0] == pytest.approx(recorded)


def test_the_decoders_differ_in_size_by_about_six_hundred(measured):
    small = sum(weight.numel() for weight in measured["gpt"].parameters())
    assert 550 < 134_515_008 / small < 650


# ------------------------------------------------------------------------------------------ real sentences


def of_kind(measured, kind, half):
    """The answers of every model to the sentences of a kind, in one half of the words."""
    nouns, kinds = measured["nouns"], measured["parts"][1].kind.to_numpy()
    here = torch.from_numpy((kinds == kind) & (nouns if half == "all nouns" else ~nouns))
    return {name: row[here] for name, row in measured["both_halves"].items()}


def difference(answers, one, other):
    """Mean and 95 % interval of the difference of two models' answers to the same sentences."""
    gap = answers[one] - answers[other]
    means = gap[torch.randint(len(gap), (2000, len(gap)), generator=torch.Generator().manual_seed(1))].mean(1)
    return gap.mean().item(), means.quantile(0.025).item(), means.quantile(0.975).item()


def test_on_nouns_reading_is_a_few_points_ahead_of_near_words_and_these_of_the_bag(measured):
    place, gaps, clear = (measured[name] for name in ("place", "differences", "clear"))
    assert len(measured["stacked"][0]) == 693
    encoder = measured["encoder"]
    for worse, better in (
        ("GloVe, bag of words", "GloVe, near words"),
        ("GloVe, bag of words", "window of two"),
        ("GloVe, near words", encoder),
        ("window of two", encoder),
    ):
        assert gaps[place[better], place[worse]] > 0 and clear[place[better], place[worse]]
    for few in ("GloVe, near words", "window of two"):
        assert 0.03 < gaps[place[encoder], place[few]] < 0.07  # "about five points"
        for kind in ("plain", "far"):
            assert (
                difference(of_kind(measured, kind, "all nouns"), encoder, few)[0] > 0.05
            )  # "The leads come from"
        assert difference(of_kind(measured, "decoy", "all nouns"), encoder, few)[1] < 0  # "not ahead"
    lows = [
        difference(of_kind(measured, kind, "all nouns"), encoder, few)[1]
        for kind in ("plain", "far")
        for few in ("GloVe, near words", "window of two")
    ]
    assert min(lows) < 0  # "too few sentences of each kind to be certain"
    low, high = bootstrap(np.asarray(measured["real"]["ELMo"] - measured["real"]["GloVe, bag of words"]))
    assert low < 0 < high  # "level with the bag of words"


def test_the_decoder_guesses_where_the_cue_comes_later_and_is_ahead_on_decoys(measured):
    assert abs(measured["gap"]) < 0.03 and not measured["sure"]
    encoder, decoder = measured["encoder"], measured["decoder"]
    late = of_kind(measured, "right", "all nouns")
    low, high = difference(late, decoder, "GloVe, one vector")[1:]
    assert low < 0 < high  # "at chance level"
    assert difference(late, decoder, encoder)[2] < 0
    assert difference(of_kind(measured, "decoy", "all nouns"), decoder, encoder)[1] > 0
    assert of_kind(measured, "right", "different parts of speech")[decoder].mean() > 0.8  # "most senses"


def test_with_a_trained_probe_the_encoder_is_clearly_ahead_of_the_window(measured):
    rows = {name: table.loc["all"] for name, table in measured["by_judge"].items()}
    window, probe = rows["window of two, trained (logistic regression)"], rows["MiniLM, trained probe"]
    assert probe.low > window.high  # "clearly contains more"
    assert (round(probe.value, 2), round(probe.low, 2), round(probe.high, 2)) == (0.76, 0.73, 0.80)
    lead = probe.value - window.value
    assert lead == pytest.approx(0.10, abs=0.005)  # "ten points"
    assert 1.7 < lead / (rows["MiniLM, 1-NN"].value - window.value) < 2  # "nearly twice as large"
    by_kind = {
        kind: measured["by_judge"]["MiniLM, trained probe"].value[kind]
        - measured["by_judge"]["window of two, trained (logistic regression)"].value[kind]
        for kind in ("plain", "far", "right", "decoy")
    }
    assert max(by_kind, key=by_kind.get) == "plain" and by_kind["decoy"] < 0  # "still not ahead"
    for name, called in (
        ("window of two", "window of two, trained (logistic regression)"),
        (measured["encoder"], "MiniLM, 1-NN"),
    ):
        assert measured["real"][name].mean().item() == pytest.approx(rows[called].value, abs=1e-3)


def test_resampling_whole_words_gives_the_wider_interval_over_all_words_and_not_over_nouns(measured):
    for half, wider in (("all words", True), ("all nouns", False)):
        widths = measured["widths"][f"near words, MiniLM: {half}"]
        sentences = widths["difference, the same sentences for both"]
        assert (widths["difference, whole words"] > sentences) == wider


def test_pairs_gain_where_both_fail_on_the_same_sentences(measured):
    def gained(name):
        widths = measured["widths"][name]
        own, paired = (
            widths[f"difference, {how}"]
            for how in ("separate sentences for each model", "the same sentences for both")
        )
        return 1 - paired / own

    assert 0.15 < gained("GPT, exact up to the target") < 0.3  # "about a fifth narrower"
    for half in ("all words", "all nouns"):
        assert gained(f"near words, MiniLM: {half}") < 0.08  # "little"


def test_among_twenty_one_comparisons_two_clear_ones_do_not_stay(measured):
    names, p, stays = list(measured["real"]), measured["p"], measured["stays"]
    lost = {frozenset((names[i], names[j])) for (i, j), each, holm in zip(measured["duels"].T, p, stays, strict=True)
            if each < 0.05 and not holm}  # fmt: skip
    assert lost == {frozenset((few, measured["encoder"])) for few in ("GloVe, near words", "window of two")}
    assert len(p) == 21 and ((p < 0.01) | (p > 0.015)).all()  # no verdict hangs on the draws
    low, high = wilson(measured["falsely"]["each at 95 %"], 200)
    assert low > 0.3 and high < 0.55  # "four out of ten simulations"
    assert measured["falsely"]["Holm"] < 0.12  # "near one in twenty"


def test_of_the_six_sentences_of_the_report_the_data_support_all_but_one(measured):
    encoder, decoder, place = measured["encoder"], measured["decoder"], measured["place"]
    assert measured["wrong"] == [2]
    assert len(measured["REPORT"]) == 6
    kinds, real = measured["parts"][1].kind.to_numpy()[measured["nouns"]], measured["real"]
    ends = []
    for seed in (1, 2):  # no verdict hangs on the draws
        for kind, a, says, b, margin in measured["REPORT"]:
            gap = (real[a] - real[b])[torch.from_numpy((kinds == kind) | (kind == "all"))]
            draws = measured["draw_items"](len(gap), times=4000, seed=seed)
            low, high = gap[draws].mean(dim=1).quantile(torch.tensor([0.025, 0.975])).tolist()
            ends.append((gap.mean().item(), low, high))
            supported = {
                "ahead": low > margin,
                "equal": max(-low, high) < margin,
                "unclear": low <= 0 <= high,
            }
            assert supported[says] == (says != "equal"), (kind, a, b)
    (_, low, _), (lead, *_), same, decoys, late, (behind, *_) = ends[:6]
    assert low > 0.05  # a: "more than five points ahead"
    assert lead == pytest.approx(0.04, abs=0.005)  # b: "four points ahead of near words"
    assert same[0] == 0  # c: "the same accuracy"
    for end in (-same[1], same[2]):
        assert 0.035 < end < 0.05  # "four points ahead"; "a margin of five points"
    assert behind == pytest.approx(-0.09, abs=0.005)  # f: "nine points behind"
    answers = of_kind(measured, "decoy", "all nouns")
    own = {name: bootstrap(np.asarray(answers[name])) for name in (encoder, decoder)}
    assert own[decoder][0] < own[encoder][1] and decoys[1] > 0  # "although the separate intervals overlap"
    assert late[1] > 0 and not measured["clear"][place[decoder], place[encoder]]
    assert (kinds == "far").sum() == 126  # "only 126 sentences"


def test_small_test_sets_miss_clear_differences(measured):
    rows = list(measured["power"].values())
    assert rows[0][-1] > 0.95
    assert rows[1][-1] < 0.5  # "most test sets of 400 miss it"
    assert rows[2][-1] < 0.2  # "hardly any"
    gap = (
        100
        * measured["differences"][
            measured["place"][measured["encoder"]], measured["place"]["GloVe, near words"]
        ]
    )
    assert len(measured["called"]) >= 3 and np.mean(measured["called"]) > 1.5 * gap  # "too large"


# ------------------------------------------------------------------------------------------ the bug, the table


def test_the_answers_of_2019_are_off_by_little_and_in_the_wrong_places(measured):
    for machines in (2, 4, 8, 16):
        dealt = measured["deal"](measured["few"], machines)
        old = measured["answers_of_2019"](dealt)
        assert torch.equal(measured["mended_answers"](dealt, len(measured["few"])), measured["few"])
        assert 0 < abs(old.mean() - measured["few"].mean()) < 0.03 or machines == 2
        assert (old[: len(measured["few"])] == measured["few"]).float().mean() < 0.95


def test_every_architecture_obeys_its_diagram(measured):
    assert all(measured["agrees"].values()) and measured["both_agree"]
    lengths = {name: int(one[-1, 0]) for name, one in measured["claimed"].items()}
    assert lengths["encoder"] == lengths["decoder"] == 2 and lengths["recurrent"] == lengths["elmo"] > 10
    slopes = measured["measured"]["recurrent"]
    last = slopes[-1]
    assert last[-1] > 5 * last[0]  # "the colour also fades"


def test_the_table_that_is_carried_says_what_is_kept_of_the_first_word_and_what_time_costs():
    rows = pd.DataFrame(recorded_rows()).T
    ends = {}  # of the 95 % interval of the mean logarithm, over draws of words
    for name, draws in rows.draws.items():
        middle, half = mean_and_half(np.log(draws))
        ends[name] = np.exp(middle - half), np.exp(middle + half)
    growth = rows.growth.astype(float)
    for name in ("plain recurrence", "LSTM"):
        assert ends[f"{name}, untrained"][1] < 1e-12  # "have lost the first word"
    attention = ["attention, untrained", "encoder (BERT)", "decoder: masked attention, untrained"]
    assert all(
        0.5 / 64 < low < high < 9 / 64 for low, high in map(ends.get, attention)
    )  # "of the order of 1/T"
    assert ends["ELMo"][0] > max(ends[name][1] for name in attention)  # "have kept it"
    recurrences = ["plain recurrence, untrained", "one stack of ELMo (a recurrent LM)", "ELMo"]
    assert growth[attention].min() > 10 * growth[recurrences].max()  # "much faster"


# ------------------------------------------------------------------------------------------ explain


def test_the_reading_is_the_course_s_own_filter(measured):
    assert measured["difference"] < 1e-5
    for text in measured["TWO"]:
        _, rows, before = measured["readings"][text]
        position = np.array([before + 1])
        ids = measured["language"].encode(text, pad=False)[None]
        exact = measured["language"].sense_posterior(ids, position, "left")[0]
        assert rows[before].numpy() == pytest.approx(exact, abs=1e-5)
        assert rows[before].max() == pytest.approx(1 / 3, abs=1e-3)
        assert rows[before + 2].max() == pytest.approx(1 / 3, abs=0.01)  # "*that the* changes nothing"
        assert rows[before + 3].max() > 0.999


def test_gpt_gives_both_sentences_one_opinion_and_bert_two(measured):
    one, two = (measured["opinions"](text) for text in measured["TWO"])
    prison = measured["prison"]
    assert torch.allclose(one["GPT"], two["GPT"], atol=1e-4)
    assert max(one["GPT"]) < 0.5  # "not certain of any sense"
    biology = measured["language"].senses.index("cell#biology")
    assert one["BERT"][prison] > one["BERT"][biology] + 0.5
    assert two["BERT"][biology] > two["BERT"][prison] + 0.5
    assert abs(one["ELMo"] - two["ELMo"]).max() < 0.15  # "hardly changes"


def test_whose_answer_a_model_s_is_depends_on_the_temperature_for_elmo_alone(measured):
    def ends(name, reader, temperature):
        mean, half = measured["moved"][name, reader, temperature]
        return mean - half, mean + half

    for temperature in (0.002, 0.01, 0.05):
        left, whole = (
            {name: ends(name, reader, temperature) for name in ("ELMo", "BERT", "GPT")}
            for reader in ("up to the target", "whole sentence")
        )
        assert whole["BERT"][1] < left["BERT"][0] and left["GPT"][1] < whole["GPT"][0]
        if temperature != 0.01:
            nearer = whole["ELMo"][1] < left["ELMo"][0], left["ELMo"][1] < whole["ELMo"][0]
            assert nearer == (temperature < 0.01, temperature > 0.01)


def test_a_row_that_hides_a_key_exposes_what_random_numbers_did_not(measured):
    assert len(measured["now"]) > len(measured["before"])


def test_words_and_sentences_that_the_language_lacks_get_a_sentence(measured, capsys):
    for text, words in {
        "the wombat slept in a cell": "wombat",
        "cell the the the": "no such sentence",
        "the guard locked the gate": "no ambiguous word",
        "": "no ambiguous word",
    }.items():
        measured["show_sentence"](text)
        assert words in capsys.readouterr().out


# ------------------------------------------------------------------------------------------ tests, calibration


def test_naive_inputs_let_whole_kinds_of_faults_pass_and_shifted_ones_raise_a_false_alarm(measured):
    rows = measured["tried"](measured["naive"])
    kinds = {one.about for one in rows[0].escaped}
    assert len(kinds) >= 3
    assert len(measured["found"].escaped) == 0 and not measured["found"].false_alarms
    assert measured["alarm"].false_alarms


def test_a_low_temperature_makes_gpt_sound_too_sure(measured):
    errors = {name: float(curve["error"]) for name, curve in measured["curves"].items()}
    low, high = errors["GPT, temperature 0.02"], errors["GPT, temperature 0.5"]
    assert low > high > errors["exact, up to the target"] and low > 0.05


# ------------------------------------------------------------------------------------------ half-finished states

FOUR_RIGHT = right_cells(
    "12_one_corpus", "evaluate", "bootstrap_interval", "clear_differences", "unsupported"
)
ALL_BUT_TESTS = FOUR_RIGHT | right_cells(
    "12_one_corpus", "mended_answers", "path_lengths", "explain", "neighbour_posterior"
)
HALF_FINISHED = {
    "four right, the fifth in the order of the machines": FOUR_RIGHT
    | {
        "comparison-mended_answers": "def mended_answers(gathered, items):\n    return gathered.flatten()[:items]"
    },
    "all right but tests that hide nothing": ALL_BUT_TESTS
    | {
        "comparison-attention_tests": """def attention_tests(queries, keys, values, coin):
    keep = torch.ones_like(coin, dtype=torch.bool)
    return {"queries": queries, "keys": keys, "values": values, "keep": keep}"""
    },
    "a function renamed": FOUR_RIGHT
    | {
        "comparison-clear_differences": FOUR_RIGHT["comparison-clear_differences"].replace(
            "def clear_differences", "def differences"
        )
    },
}
SAYS = {
    "four right, the fifth in the order of the machines": "in the order of the machines",
    "all right but tests that hide nothing": "keys that are masked",
    "a function renamed": "name 'clear_differences' is not defined",
}


# ------------------------------------------------------------------------------------------ four readers of the novels

NOUNS, OTHERS = "novels: all nouns", "novels: different parts of speech"
CONTEXTUAL = ("ELMo", "BERT", "GPT")


def compared(measured, called, one, other, place="all"):
    """Lower and upper end of a difference, and whether it stays among all of the novels."""
    at = measured["COMPARISONS"].index((place, one, other))
    _, low, high, _ = measured["gaps_in"][called][at]
    return low, high, measured["stays_in"].get(called, {at: None})[at]


def is_above(measured, called, one, other, place="all"):
    low, _, stays = compared(measured, called, one, other, place)
    return low > 0 and stays in (True, None)


def is_not_told(measured, called, one, other, place="all"):
    low, high, stays = compared(measured, called, one, other, place)
    return low <= 0 <= high and not stays


def test_thirty_comparisons_of_the_novels_are_corrected_together_and_none_hangs_on_the_draws(measured):
    p = np.array([gap[3] for half in (NOUNS, OTHERS) for gap in measured["gaps_in"][half]])
    assert len(measured["COMPARISONS"]) == 15 and len(p) == 30
    stays = np.concatenate([measured["stays_in"][half] for half in (NOUNS, OTHERS)])
    line = 0.05 / (30 - stays.sum())  # of the first that fails
    noise = 2 * np.sqrt(line / 2 / 40_000)  # of a p at that line, from so many draws
    assert p[stays].max() < line - 2 * noise and p[~stays].min() > line + 2 * noise


def test_layer_0_of_the_novels_models_is_a_guess_and_elmo_s_knows_spellings(measured):
    def ends(half, name):
        answered = measured["LANGUAGES"][half]
        gap = answered[f"{name}, layer 0"] - answered.chance
        return measured["by_word"](gap.to_numpy(), answered.word.to_numpy())[1:3]

    for name in CONTEXTUAL:
        low, high = ends(NOUNS, name)
        assert low <= 0 <= high, name
    low, high = ends(OTHERS, "ELMo")
    assert low > 0 and high < 0.1  # "slightly above chance"


def test_among_the_nouns_the_lead_over_the_bag_hangs_on_the_layer(measured):
    assert measured["best_layers"] == {"ELMo": 1, "BERT": 4, "GPT": 3}
    trained, tested, answered = measured["trained"], measured["tested"], measured["LANGUAGES"][NOUNS]
    stays = np.array(list(measured["stays_in"].values()))
    for name, layer in (("ELMo", 2), ("BERT", 3)):
        one, other = (layers[:, layer] for layers in measured["all_layers"][name])
        found = pd.Series(measured["hits"](one, trained, other, tested), tested.index)
        gap = found[answered.index] - answered["bag of words"]
        _, low, _, p = measured["by_word"](gap.to_numpy(), answered.word.to_numpy())
        assert low > 0 and p > 0.05 / (~stays).sum()  # "clear only without Holm's correction"


def test_where_the_order_of_the_generated_language_holds_in_novels(measured):
    for called in ("generated language", NOUNS, OTHERS):
        assert is_above(measured, called, "bag of words", "chance")
        for name in ("ELMo", "BERT"):
            assert is_above(measured, called, name, "bag of words")
    low, high, _ = compared(measured, "generated language", "GPT", "bag of words")
    assert -0.06 < low < high < 0  # "slightly below the bag"
    assert is_above(measured, OTHERS, "GPT", "bag of words")
    low, _, stays = compared(measured, NOUNS, "GPT", "bag of words")
    assert low > 0 and not stays  # "clear only without Holm's correction"


def test_where_it_does_not_near_words_do_what_only_models_did(measured):
    low, high, _ = compared(measured, "generated language", "near words", "bag of words")
    assert -0.03 < low < high < 0.01  # "nearness adds nothing"
    for name in ("ELMo", "BERT"):
        assert compared(measured, "generated language", name, "near words")[0] > 0.15  # "far above both"
        assert compared(measured, "generated language", name, "bag of words")[0] > 0.15
    for name in CONTEXTUAL:
        assert is_not_told(measured, NOUNS, name, "near words")
    for half in (NOUNS, OTHERS):
        assert is_above(measured, half, "near words", "bag of words")
    for name in CONTEXTUAL:
        assert is_above(measured, OTHERS, name, "near words")


def test_a_decoder_finds_what_the_words_before_tell_and_no_model_that_sees_more_is_clearly_ahead(measured):
    later = measured["LATER"]
    for name in ("GPT", "near words before"):
        assert is_not_told(measured, "generated language", name, "chance", later)
        assert is_above(measured, NOUNS, name, "chance", later)
        assert is_above(measured, OTHERS, name, "chance", later)
    for name in ("ELMo", "BERT"):
        assert compared(measured, "generated language", name, "GPT", later)[0] > 0.4
        for half in (NOUNS, OTHERS):
            assert is_not_told(measured, half, name, "GPT", later)
    answered = measured["LANGUAGES"]["generated language"]
    for name in measured["NOVEL_READERS"]:  # "except those of GPT where the cue comes after the target"
        shares = answered.groupby("told")[name].mean()
        assert shares[measured["BEFORE"]] > 0.95
        assert (shares[later] > 0.9) == (name not in ("GPT", "near words before"))


def test_the_cards_say_what_the_prose_says_of_the_novels_models(measured):
    def ends(name, who, what):
        value, low, high = map(float, re.findall(r"-?[\d.]+", recorded(name).loc[who, what]))
        return low, high

    counts = ends("gpt", "5-grams", "nats per character"), ends("elmo", "5-grams", "nats per word")
    assert ends("gpt", "GPT", "nats per character")[1] < counts[0][0]
    assert (
        ends("bert", "BERT", "top-1 accuracy")[1] < ends("bert", "5-grams, both sides", "top-1 accuracy")[0]
    )
    for direction in ("left to right", "right to left"):
        assert ends("elmo", f"ELMo, from {direction}", "nats per word")[1] < counts[1][0]
    for name, (model, _) in {"elmo": load_elmo(), "bert": load_bert(), "gpt": load_gpt()}.items():
        about = json.loads((models_folder() / f"novels_{name}.json").read_text(encoding="utf-8"))
        assert about["steps"] == 4_700
        assert 5e6 < sum(weight.numel() for weight in model.parameters()) < 7e6
    words = [measured["LANGUAGES"][half].word.nunique() for half in (NOUNS, OTHERS)]
    assert words == [28, 14]


@pytest.mark.parametrize(
    "sentence",
    [
        "Ж bank ☃",
        "o'bank'er's bank",
        "☃bank☃",
        "İ sat on the BANK.",
        "bank",
        "[MASK] bank [SEP]",
        "zyzzyva bank qwxz",
    ],
)
def test_a_sentence_of_one_s_own_is_read_whatever_stands_in_it(measured, sentence):
    assert measured["told_by"]("bank", sentence).count("nearest") == len(measured["NOVEL_READERS"]) == 6


def test_a_sentence_of_one_s_own_is_answered_or_refused_in_words(measured):
    told_by = measured["told_by"]
    assert told_by(" Bank", "They sat on the bank of the river.").count(": river") >= 3
    assert "choose one of these words" in told_by("bank", "There is none.")
    assert "choose one of these words" in told_by("zyzzyva", "A zyzzyva sat there.")
    assert "choose one of these words" in told_by("", "")
    assert "choose a shorter sentence" in told_by("bank", "the bank " * 80)


def test_a_model_reads_a_sentence_alone_as_it_does_among_others(measured):
    row, longer = (
        measured["tested"].iloc[0],
        "A longer sentence " + "stands beside it, " * 6 + "and a bank is in it.",
    )
    place = (row.sentence, row.start, row.start + len(row.form))
    for name, reader in measured["NOVEL_READERS"].items():
        alone = reader([place])[0]
        among = reader([place, (longer, longer.index("bank"), longer.index("bank") + 4)])[0]
        assert torch.allclose(alone, among, atol=1e-4), name
