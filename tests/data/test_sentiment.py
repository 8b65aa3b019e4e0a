"""data/sentiment: a table that can be trained on without a surprise, and as its card says."""

import re

import numpy as np
import pandas as pd
import pytest
from rapidfuzz import fuzz, process, utils

from coursekit.datasets import read_table

NEGATIVE_WORD = re.compile(
    r"\b(?:not|no|never|nobody|nothing|none|neither|nor|without|cannot|hardly|barely)\b|n't\b", re.I
)


@pytest.fixture(scope="module")
def reviews() -> pd.DataFrame:
    return read_table("sentiment/sentiment.csv")


def test_the_columns_and_what_may_stand_in_them(reviews):
    assert list(reviews.columns) == ["id", "domain", "text", "label", "phenomenon", "split"]
    assert not reviews.isna().any(axis=None)
    assert reviews["id"].is_unique
    assert set(reviews["label"]) == {"positive", "negative"}
    assert set(reviews["phenomenon"]) == {"plain", "negation", "contrast", "sarcasm"}
    assert set(reviews["split"]) == {"train", "validation", "test"}


def test_it_is_large_enough(reviews):
    assert len(reviews) >= 850
    assert reviews["domain"].nunique() >= 8
    assert reviews.groupby(["domain", "split"]).size().min() >= 10


def test_labels_are_balanced_in_every_domain_and_split(reviews):
    positive = reviews["label"] == "positive"
    assert (positive.groupby([reviews["domain"], reviews["split"]]).mean() == 0.5).all()


def test_phenomena_have_their_share_in_every_split_and_do_not_give_the_label_away(reviews):
    for split, some in reviews.groupby("split"):
        share = some["phenomenon"].value_counts(normalize=True)
        assert share["negation"] >= 0.12 and share["contrast"] >= 0.12, split
        assert share["sarcasm"] >= (0.05 if split == "validation" else 0.06), split
    assert (reviews["phenomenon"] == "sarcasm").mean() >= 0.06
    positive = (reviews["label"] == "positive").groupby(reviews["phenomenon"]).mean()
    assert positive.between(0.35, 0.65).all()


def test_negation_has_a_negative_word_and_plain_has_none(reviews):
    has = reviews["text"].str.contains(NEGATIVE_WORD)
    assert has[reviews["phenomenon"] == "negation"].all()
    assert not has[reviews["phenomenon"] == "plain"].any(), reviews[has & (reviews["phenomenon"] == "plain")][
        "text"
    ]


def test_texts_are_short_and_tidy(reviews):
    for text in reviews["text"]:
        assert 5 <= len(text.split()) <= 45, text
        assert text == " ".join(text.split()), text
        assert text.count('"') % 2 == 0 and text.count("(") == text.count(")"), text
        assert text[0].isupper() or text[0].isdigit() or text[0] == '"', text
        assert re.search(r"[.!?]\"?$", text), text
        assert 1 <= len(re.findall(r"[.!?]+(?=\"? [A-Z\"]|\"?$)", text)) <= 3, text


@pytest.mark.slow
def test_no_review_is_nearly_another_within_or_between_splits(reviews):
    texts = list(reviews["text"])
    likeness = process.cdist(texts, texts, scorer=fuzz.token_set_ratio, processor=utils.default_process)
    np.fill_diagonal(likeness, 0)
    first, second = np.unravel_index(likeness.argmax(), likeness.shape)
    assert likeness.max() < 80, (texts[first], texts[second])


def test_no_frame_of_five_words_is_used_again_and_again(reviews):
    def frames(text: str) -> set[tuple[str, ...]]:
        words = re.findall(r"[a-z']+", text.lower())
        return {tuple(words[k : k + 5]) for k in range(len(words) - 4)}

    assert reviews["text"].map(frames).map(sorted).explode().value_counts().max() <= 2


def test_the_card_says_what_the_table_holds(reviews, figures, card):
    for line in figures.contents(reviews):
        assert line in card


@pytest.mark.audit
def test_the_card_says_what_the_baselines_reach(reviews, figures, card):
    words = figures.logistic_regression(figures.bag_of_words(reviews), reviews)
    vectors, name = figures.sentence_vectors(reviews)
    stated = {
        line.split(": ")[0]: float(line.split(": ")[1].split()[0])
        for line in re.findall(r"^.+: 0\.\d{3}.*$", card, re.M)
    }
    test = (reviews["split"] == "test").to_numpy()
    assert words[test].mean() == pytest.approx(stated["bag of words"], abs=0.015)
    if f"{name}, frozen" in stated:  # another encoder has other figures
        right = figures.logistic_regression(vectors, reviews)
        assert right[test].mean() == pytest.approx(stated[f"{name}, frozen"], abs=0.02)
