"""What the prose of notebook 01 says without computing it holds in what the notebook measures."""

import re

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS, sense_exam
from coursekit.intervals import bootstrap, mean_and_half, wilson
from coursekit.pictures import static_findings, static_further, static_ratings
from coursekit.scoreboard import readers_of_counts
from coursekit.vectors import WordVectors

pytestmark = pytest.mark.slow
NOTEBOOKS = ["01_static_embeddings"]


def test_the_most_frequent_companion_of_river_is_the(measured):
    assert measured["vocabulary"][measured["counts"][measured["river"]].argmax()] == "the"


def test_ppmi_takes_the_from_the_strongest_column_to_nearly_nothing(measured):
    shown, beside = (
        [measured["language"].id_of[word] for word in measured[name]] for name in ("shown", "beside")
    )
    the = measured["beside"].index("the")
    counts, table = (measured[name][shown][:, beside] for name in ("counts", "table"))
    assert counts.sum(dim=0).argmax() == the
    assert table[:, the].max() < 0.5 < table.max()


def test_the_rarer_a_word_the_shorter_its_row_as_a_rule(measured):
    often, length = measured["counts"].sum(dim=1), measured["table"].norm(dim=1)
    by_frequency = length[often > 0][often[often > 0].argsort()]
    tenths = torch.stack([tenth.mean() for tenth in by_frequency.chunk(10)])
    assert (tenths[:8].diff() > 0).all() and tenths[8:].min() > tenths[4]
    assert spearmanr(often[often > 0], length[often > 0]).statistic > 0.5


def test_the_is_the_most_frequent_companion_of_nearly_every_noun(measured):
    language, counts = measured["language"], measured["counts"]
    nouns = "river canal bank cell prisoner inmate blood oxygen village bridge minister game cheese cat trunk".split()
    companions = [language.vocabulary[counts[language.id_of[noun]].argmax()] for noun in nouns]
    assert companions.count("the") >= 0.8 * len(nouns), companions


def test_bank_is_nearer_to_money_than_to_rivers_and_river_within_reach_of_chance(measured):
    bank = dict(zip(measured["chosen"], measured["similarity"][0].tolist(), strict=True))
    assert min(bank["money"], bank["loan"]) > max(bank["river"], bank["shore"])
    assert bank["river"] < measured["chance"].quantile(0.975)


def test_no_neighbour_of_cell_is_a_prison_word(measured):
    shared = {anchor: len(words) for anchor, words in measured["shared"].items()}
    assert shared["prison"] == shared["opera"] == 0
    assert shared["tissue"] > shared["phone"] > 3


def test_cell_is_as_near_to_biology_as_biology_is_to_itself_and_far_from_prison(measured):
    to, within = measured["to_group"], measured["within"]
    assert abs(to["biology"] - within["biology"]) < 0.05
    assert to["phone"] < within["phone"] - 0.05
    assert to["prison"] < within["prison"] - 0.2


def test_skip_gram_comes_near_the_best_possible_loss_and_scores(measured):
    model = measured["static"]
    assert measured["best_loss"] < np.mean(model.losses[-100:]) < measured["best_loss"] + 0.15
    scores = static_findings.scores_of_pairs(model, measured["best_scores"], measured["counts"])
    agreement, by_accident = static_findings.correlations(*scores)
    assert agreement > 0.85 and abs(by_accident) < 0.1


def test_river_oxygen_and_guard_sit_among_their_topics_and_cell_and_bank_between_several(measured):
    language, nearest, vectors = measured["language"], measured["nearest"], measured["static"].word
    own = {
        "river": "creek canal stream drift drifts drifted float floats floated slid slides thaw rivers canoe raft otter",
        "oxygen": "sugar protein release released releases absorb absorbs absorbed blood nerve muscle energy need needs cell cells carried",
        "guard": "guards guarded sheriff sheriffs warden wardens officer officers watch watched kept keep keeps lock chain prisoner inmate",
    }
    for word, topic in own.items():
        found = [language.vocabulary[i] for i in nearest(vectors, language.id_of[word], 7)]
        assert sum(name in topic.split() for name in found) >= 5, (word, found)


def test_the_gradient_is_wrong_by_the_number_of_context_words(measured):
    assert torch.allclose(measured["ratio"], torch.tensor(4.0), atol=1e-2)


def mean_cosines(mixtures) -> dict[str, float]:
    return {name: np.mean([row[name] for row in mixtures]) for name in static_findings.MIXTURES}


def test_a_word_is_a_mixture_of_its_senses(measured):
    means = mean_cosines(measured["mixtures"])
    assert min(means["weighted by frequency"], means["plain average"], means["best weights"]) > 0.9
    assert (
        means["random words"] < 0.45
        and means["senses of other words"] < 0.65
        and means["among the senses"] < 0.7
    )
    slope, _, follows = static_findings.fit_of_weights(measured["mixtures"])
    assert follows > 0.75
    assert 0.3 < slope < 0.9  # flatter than frequency


def test_the_recorded_seeds_say_the_same_as_the_live_one(measured):
    recorded = read_table("results/01_sense_mixture.csv").groupby("measure")["value"]
    means, (slope, *_) = (
        mean_cosines(measured["mixtures"]),
        static_findings.fit_of_weights(measured["mixtures"]),
    )
    for name in ("weighted by frequency", "plain average", "best weights"):
        assert abs(recorded.mean()[name] - means[name]) < 0.03
    assert abs(recorded.mean()["slope"] - slope) < 0.25


def test_a_function_of_the_word_cannot_separate_senses_and_averages_of_the_context_can(measured):
    static, before, around, shuffled = (np.mean(list(v.values())) for v in measured["separations"].values())
    assert abs(static) < 1e-5 and abs(shuffled) < 0.002
    assert around > before > 0.005


def test_the_exam_puts_the_static_vector_at_the_majority_and_the_bag_near_the_bound_where_words_tell(
    measured,
):
    one, before, around = measured["scores"].values()
    limits = measured["limits"]
    assert one == limits.majority
    assert all(0.4 < one[kind] < 0.5 for kind in measured["QUESTIONS"])  # "a little less than half"
    assert before.left > 0.95 and abs(before.right - limits.words_before.right) < 0.05
    assert min(around.left, around.right) > 0.95
    assert around.right > before.right + 0.4


def test_where_order_decides_averages_and_counts_are_near_a_half_and_the_words_before_above_it_in_one_clause(
    measured,
):
    _, before, around = measured["scores"].values()
    for kind in ("order1", "order2"):
        assert abs(around[kind] - 0.5) < 0.06
        assert all(abs(found[kind] - 0.5) < 0.06 for _, found in readers_of_counts())
    low, _ = wilson(before.order1, sense_exam().count("order1"))
    assert low > 0.5
    assert before.order1 < measured["limits"].words_before.order1


def test_partners_have_one_bag_another_sense_and_the_same_probability(measured):
    language, painted = measured["language"], "the {} that the {} visited painted the cell"
    people = [("prisoner", "biologist"), ("biologist", "prisoner")]
    ids = np.stack([language.encode(painted.format(*two)) for two in people])
    position = (ids == language.id_of["cell"]).argmax(axis=1)
    bags = measured["average_of_neighbours"](ids, position, measured["static"].word)
    assert torch.allclose(*bags, atol=1e-6)
    beliefs = language.sense_posterior(ids, position, "both")
    senses = [language.senses[belief.argmax()] for belief in beliefs]
    assert senses == ["cell#prison", "cell#biology"] and beliefs.max(axis=1).min() > 0.999
    first, second = language.log_probability(ids)
    assert first == pytest.approx(second)
    assert measured["limits"].no_order.order1 == measured["limits"].no_order.order2 == pytest.approx(0.5)


def test_the_average_is_never_right_for_a_question_and_for_its_partner(measured):
    right, other = measured["right_of_question"], measured["right_of_partner"]
    assert len(right) > 1500 and not (right & other).any()
    assert 0.47 < (right.mean() + other.mean()) / 2 <= 0.5


def test_opposites_are_alike_in_glove(measured):
    cosine, glove = measured["cosine"], measured["glove"]
    cold, warm, piano = cosine(glove.of(["hot"]), glove.of(["cold", "warm", "piano"]))[0]
    assert cold > 0.7 and abs(cold - warm) < 0.1 and cold > piano + 0.2
    assert cold > measured["chance"].quantile(0.975)


def test_capitals_need_the_offset_and_plurals_hardly(measured):
    right, _, question_word, baseline = ([*values.values()] for values in measured["results"].values())
    assert baseline[0] < 0.1 < 0.6 < right[0]
    assert baseline[2] > 0.3
    assert max(question_word[1:]) > 0.3
    assert np.abs(np.subtract(question_word, measured["asked_back_of_many"])).max() < 0.2


def test_cosines_agree_with_relatedness_better_than_with_similarity(measured):
    """The function of the exercise agrees with scipy; the intervals over pairs do not overlap, and all pairs but one have vectors."""
    glove, rated = measured["glove"], measured["rated"]
    (low, _), (_, high) = (
        bootstrap(
            static_ratings.with_cosines(rated[name], glove)[["cosine", "rating"]].to_numpy(),
            static_ratings.rank_correlation,
        )
        for name in ("WordSim-353", "SimLex-999")
    )
    related, similar = measured["agreement"]["WordSim-353"], measured["agreement"]["SimLex-999"]
    assert 0.2 < similar < high < low < related < 0.6
    used = {name: static_ratings.with_cosines(pairs, glove) for name, pairs in rated.items()}
    assert {name: len(table) for name, table in used.items()} == {"WordSim-353": 353, "SimLex-999": 998}
    for name, table in used.items():
        assert spearmanr(table.cosine, table.rating).statistic == pytest.approx(measured["agreement"][name])


def test_the_same_pairs_are_rated_lower_for_similarity_than_for_relatedness(measured):
    both = static_ratings.rated_twice(measured["rated"], measured["glove"])
    assert len(both) > 5 and (both["rating for similarity"] < both.rating).all()
    assert both.cosine.min() > measured["chance"].quantile(0.975)


def test_by_relatedness_glove_is_better_than_the_novels_and_by_similarity_they_cannot_be_distinguished(
    measured,
):
    novels = WordVectors(tuple(measured["novel_words"]), measured["novel_vectors"])
    common = static_ratings.on_common_pairs(measured["rated"], measured["glove"], novels)
    intervals = {name: bootstrap(items, static_ratings.difference) for name, items in common.items()}
    assert intervals["WordSim-353"][0] > 0.03
    low, high = intervals["SimLex-999"]
    assert -0.1 < low < 0 < high < 0.1


def test_longer_vectors_and_more_steps_come_nearer_to_the_best_scores():
    rows = read_table("results/skip_gram.csv").pivot(
        index="seed", columns=["D", "steps"], values=["agreement", "above"]
    )
    for nearer, farther in (((50, 1500), (10, 1500)), ((50, 1500), (50, 500)), ((50, 6000), (50, 1500))):
        for measure, sign in (("agreement", 1), ("above", -1)):
            mean, half = mean_and_half(sign * (rows[measure][nearer] - rows[measure][farther]))
            assert mean > half
    for D in (50, 200):  # "the gap in the loss is about halved"
        assert (rows["above"][D, 6000] / rows["above"][D, 1500]).between(0.42, 0.55).all()
    highest = rows["agreement"].mean().max()
    assert highest == pytest.approx(0.97, abs=0.005) and 1 - highest**2 == pytest.approx(0.06, abs=0.008)


def test_counted_and_shortened_vectors_do_as_well_where_words_tell(measured):
    for kind in ("left", "right"):
        low, high = bootstrap(measured["gap"][kind])
        assert -0.025 < low < 0.005 and high < 0.015  # "at most two percentage points"
    both = (measured["hits_of"][name].astype(float) for name in ("U S^½", "U S"))
    low, high = bootstrap(np.subtract(*both))
    assert -0.02 < low < 0.005 and -0.005 < high < 0.02  # "makes no difference"


def test_in_novels_too_the_word_is_near_the_average_of_its_senses_and_weights_follow_shares():
    """In every run, also after half of the training: the sentence gives ranges over the runs."""
    rows = read_table("results/01_novels_mixture.csv")
    runs = static_findings.runs_in_novels(rows)
    assert len(runs) == 6 and rows.pair.nunique() == 68
    assert (rows["share of the first"].min(), rows["share of the first"].max()) == pytest.approx(
        (0.1, 0.9), abs=0.02
    )
    for control in ("senses of other words", "random words"):
        means, halves = mean_and_half((rows["weighted by frequency"] - rows[control])[rows.steps == 6_000])
        assert means - halves > 0.4
        assert (runs["weighted by frequency"] > runs[control] + 0.3).all()
    assert (runs["correlation"] > 0.7).all() and (runs["slope"] > 0).all()


def test_cell_and_gay_moved_further_than_most_words_since_the_novels_and_mouse_did_not(measured):
    words = ("cell", "gay", "mouse")
    novels, glove = (
        {word: measured["neighbours_in"](vectors, word, 6) for word in words}
        for vectors in measured["two_corpora"].values()
    )
    assert "chamber" in novels["cell"] and "cells" in glove["cell"]
    assert "merry" in novels["gay"] and "cat" in novels["mouse"] and "cat" in glove["mouse"]
    assert measured["neighbours_in"](measured["two_corpora"]["in novels"], "xyzzy", 6) == [
        "not in both tables"
    ]
    ranks, moved = measured["ranks_of"], measured["moved"]
    assert ranks["mouse"] < moved.quantile(0.25) and min(ranks["cell"], ranks["gay"]) > moved.quantile(0.75)
    assert "telephone" not in ranks  # too rare in the novels
    low, high = bootstrap(measured["same_word"])
    assert measured["other_word"].mean() < 0.02 < low and high < 0.3


def test_seven_pairs_lean_alike_and_female_and_male_the_other_way(measured):
    lean, at_random = measured["lean"], measured["at_random"]
    seven = lean[:, :7].mean(dim=1)
    leaning = dict(zip(measured["OCCUPATIONS"], seven.tolist(), strict=True))
    assert max(leaning["physicist"], leaning["engineer"]) < 0 < min(leaning["nurse"], leaning["midwife"])
    among_seven = spearmanr(lean[:, :7]).statistic[np.triu_indices(7, 1)]
    assert among_seven.min() > 0.5  # "the seven pairs agree"
    both_ways = torch.stack([seven, lean[:, 7]], dim=1).numpy()
    _, high = bootstrap(both_ways, static_further.rank_correlation)
    assert high < -0.1  # "turns the order round", over occupations
    beyond = (seven < at_random[0]) | (seven > at_random[1])
    assert 0 < beyond.sum() < len(leaning) / 4  # "most lean no further than random words do"


def test_a_smaller_power_draws_rarer_negatives_and_the_context_word_less_often(measured, capsys):
    distribution, corpus, language = (
        measured[name] for name in ("negative_distribution", "corpus", "language")
    )
    static_further.probabilities_of_negatives(distribution, corpus.ids, language)
    lines = capsys.readouterr().out.splitlines()
    shares = np.array([re.findall(r"([\d.]+)%", line) for line in lines]).astype(float)
    _, _, rare, equal_to_context = shares.T
    assert len(lines) == 3 and (np.diff(rare) > 0).all() and (np.diff(equal_to_context) < 0).all()


def test_the_board_s_rows_are_three_trainings_of_the_notebook_s_own_cells(measured):
    """The first of them is the live one; what is said of its averages holds for each."""
    exams = measured["recorded_exams"]
    assert (exams.groupby("model").seed.nunique() == 3).all() and set(exams.model) == set(measured["scores"])
    for name, live in measured["scores"].items():
        first = exams[(exams.model == name) & (exams.seed == 0)].iloc[0]
        assert [live[kind] for kind in QUESTIONS] == pytest.approx(
            [first[kind] for kind in QUESTIONS], abs=0.02
        )
    before, around = (exams[exams.model.str.endswith(which)] for which in ("before", "around"))
    assert before.left.min() > 0.95 and min(around.left.min(), around.right.min()) > 0.95
    assert before.order1.min() > 0.55 and np.abs(around[["order1", "order2"]] - 0.5).max(axis=None) < 0.06
