"""The sentence pairs: balance, grades, and that neither sentence alone nor shared words give the label away."""

import re

import numpy as np
import pandas as pd
import pytest
from rapidfuzz import fuzz, process

from coursekit.datasets import read_table
from tests.conftest import ROOT

LABELS = ["entailment", "neutral", "contradiction"]
SPLITS = ["train", "validation", "test"]


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    return pd.read_csv(ROOT / "data/pairs/pairs.csv")


@pytest.fixture(scope="module")
def baselines(figures, pairs) -> dict[str, float]:
    return figures.baselines(pairs)


def test_it_loads_in_one_line_and_nothing_is_missing(pairs):
    assert pairs.equals(read_table("pairs/pairs.csv"))
    columns = ["id", "premise", "hypothesis", "label", "first", "second", "similarity", "domain", "split"]
    assert list(pairs) == columns
    assert not pairs.isna().any().any() and pairs["id"].is_unique
    for side in ("premise", "hypothesis"):
        assert pairs[side].str.fullmatch(r"[A-Z\"].*[.!?\"]").all()
        assert (pairs[side] == pairs[side].str.strip()).all() and not pairs[side].str.contains("  ").any()


def test_labels_are_balanced_in_every_split_and_domain(pairs):
    assert len(pairs) >= 850 and set(pairs["split"]) == set(SPLITS) and set(pairs["label"]) == set(LABELS)
    counts = pairs.groupby(["split", "domain", "label"]).size().unstack()
    assert (counts.nunique(axis=1) == 1).all() and len(counts) == 3 * pairs["domain"].nunique()
    assert pairs["domain"].nunique() >= 12


def test_every_hypothesis_has_one_premise_of_each_label_in_no_fixed_order(pairs):
    for _, some in pairs.groupby("hypothesis"):
        assert sorted(some["label"]) == sorted(LABELS) and some["split"].nunique() == 1
    places = pairs.groupby("hypothesis").cumcount()
    assert pd.crosstab(places, pairs["label"]).min().min() > len(pairs) / 9 * 0.75


@pytest.mark.slow
def test_the_grade_is_the_mean_of_two_readings_that_agree(pairs, figures):
    for reading in ("first", "second"):
        assert pairs[reading].between(0, 5).all() and (pairs[reading] * 2 % 1 == 0).all()
    assert np.array_equal(pairs["similarity"], (pairs["first"] + pairs["second"]) / 2)
    assert figures.kappa(pairs) >= 0.8  # "almost perfect" begins at 0.81 (Landis and Koch 1977)
    assert ((pairs["first"] - pairs["second"]).abs() <= 2).all()
    assert not pairs["first"].equals(pairs["second"])


def test_all_labels_have_grades_in_the_middle_and_only_two_reach_an_end(pairs):
    groups = pairs.groupby("label")["similarity"]
    assert (groups.quantile(0.9) - groups.quantile(0.1)).min() >= 0.75
    assert groups.min().max() <= 2.0 and groups.max().min() >= 3.5  # all three reach from 2 to 3.5
    assert set(pairs[pairs["similarity"] >= 4]["label"]) == {"entailment"}
    assert set(pairs[pairs["similarity"] < 1.5]["label"]) == {"neutral"}


@pytest.mark.slow
def test_counting_alone_tells_nothing_of_the_grade(pairs, figures):
    """Neither in all pairs, nor in a split, nor within a label; where a label of a split has few pairs the noise is larger."""
    table = figures.counting_alone(pairs).abs()
    splits_and_labels = ["all", *SPLITS, *LABELS]
    assert table.loc[splits_and_labels].max().max() <= 0.10, table.loc[splits_and_labels].round(3)
    assert table.drop(index=splits_and_labels).max().max() <= 0.13


@pytest.mark.slow
def test_counting_together_tells_little_of_the_grade(figures, pairs, card):
    """Curves and combinations of counts are not excluded by correlations of each alone: the card says what they reach."""
    for name, value in figures.counting_together(pairs).items():
        said = re.search(rf"all counts together, {name}: (-?[\d.]+)", card)
        assert said and abs(float(said[1]) - value) < 0.03 and value < 0.35, name


def test_no_sentence_is_in_two_splits_or_on_both_sides(pairs):
    where = pd.concat([pairs.set_index(side)["split"] for side in ("premise", "hypothesis")])
    assert where.groupby(level=0).nunique().max() == 1
    assert pairs["premise"].is_unique and not set(pairs["premise"]) & set(pairs["hypothesis"])


@pytest.mark.slow
def test_no_sentence_is_nearly_another_outside_its_own_three_pairs(pairs):
    group = dict(zip(pairs["premise"], pairs["hypothesis"], strict=True))
    sentences = [*group, *pairs["hypothesis"].drop_duplicates()]
    owner = np.array([group.get(sentence, sentence) for sentence in sentences])
    for likeness, limit in ((fuzz.token_set_ratio, 80), (fuzz.token_sort_ratio, 80)):
        table = process.cdist(sentences, sentences, scorer=likeness)
        table[owner[:, None] == owner[None]] = 0
        first, second = np.unravel_index(table.argmax(), table.shape)
        assert table.max() < limit, (sentences[first], sentences[second])


def test_the_three_premises_of_a_hypothesis_are_different_sentences(pairs):
    for _, some in pairs.groupby("hypothesis"):
        premises = some["premise"].str.lower().tolist()
        table = process.cdist(premises, premises, scorer=fuzz.ratio)
        np.fill_diagonal(table, 0)
        assert table.max() < 95, premises


def test_negations_and_lengths_do_not_mark_a_label(pairs, figures):
    by_label = pairs["label"]
    negated = pairs["premise"].map(figures.has_negation).groupby(by_label).mean()
    assert abs(negated["entailment"] - negated["contradiction"]) < 0.06
    lengths = pairs["premise"].map(figures.words).map(len).groupby(by_label).mean()
    assert lengths.max() - lengths.min() < 1.6


@pytest.mark.slow
def test_one_sentence_alone_is_within_ten_points_of_chance(baselines):
    assert baselines["majority"] == pytest.approx(1 / 3)
    assert baselines["hypothesis only, bag of words"] == pytest.approx(1 / 3, abs=0.1)
    assert baselines["premise only, bag of words"] <= 1 / 3 + 0.11


@pytest.mark.slow
def test_shared_words_lengths_and_negations_do_not_tell_the_label(baselines):
    assert baselines["overlap, lengths and negations"] < 0.45


@pytest.mark.slow
def test_the_card_has_the_figures(pairs, figures, baselines, card):
    for lines in (figures.contents, figures.agreement, figures.by_counting):
        assert "\n".join(lines(pairs)) in card
    for name, value in baselines.items():
        said = re.search(rf"label, {re.escape(name)}: ([\d.]+)", card)
        assert said and abs(float(said[1]) - value) < 0.03, name
    assert f"{len(pairs)} pairs" in card
    for premise, hypothesis, label, grade in re.findall(
        r"^\| (.+\.) \| (.+\.) \| (\w+) \| ([\d.]+) \|$", card, re.M
    ):
        row = pairs[(pairs["premise"] == premise) & (pairs["hypothesis"] == hypothesis)]
        assert (row["label"].item(), row["similarity"].item()) == (label, float(grade)), premise
