"""data/entities: valid BIO, spans that fit the text, splits that do not leak, and a card that is true."""

import re

import numpy as np
import pandas as pd
import pytest
from rapidfuzz import fuzz, process, utils

from coursekit.datasets import read_table


@pytest.fixture(scope="module")
def tokens() -> pd.DataFrame:
    return read_table("entities/entities.csv")


@pytest.fixture(scope="module")
def found(tokens, figures) -> pd.DataFrame:
    return figures.entities(tokens)


@pytest.fixture(scope="module")
def texts(tokens, figures) -> pd.Series:
    return pd.Series({name: figures.text(sentence) for name, sentence in tokens.groupby("sentence")})


def test_the_columns_and_what_may_stand_in_them(tokens, figures):
    assert list(tokens.columns) == ["sentence", "genre", "token", "tag", "space_after", "split"]
    assert not tokens.isna().any(axis=None)  # a token "NA" or "null" would be read as missing
    assert tokens["token"].map(type).eq(str).all()
    assert set(tokens["tag"]) == set(figures.TAGS)
    assert set(tokens["space_after"]) == {0, 1}
    assert set(tokens["split"]) == {"train", "validation", "test"}


def test_a_sentence_stands_together_with_one_genre_and_one_split(tokens):
    assert (tokens["sentence"] != tokens["sentence"].shift()).sum() == tokens["sentence"].nunique()
    assert (tokens.groupby("sentence")[["genre", "split"]].nunique() == 1).all(axis=None)


@pytest.mark.slow
def test_it_is_large_enough(tokens, found):
    assert tokens["sentence"].nunique() >= 420
    assert tokens["genre"].nunique() >= 8
    assert found.groupby(["split", "type"]).size().min() >= 15
    without = 1 - found["sentence"].nunique() / tokens["sentence"].nunique()
    assert 0.1 <= without <= 0.14


@pytest.mark.slow
def test_every_i_continues_an_entity_of_its_type(tokens):
    for name, sentence in tokens.groupby("sentence"):
        before = "O"
        for tag in sentence["tag"]:
            assert not tag.startswith("I-") or before[2:] == tag[2:], name
            before = tag


@pytest.mark.slow
def test_entities_are_pieces_of_the_text(found, texts):
    for entity in found.itertuples():
        assert entity.words in texts[entity.sentence]
        assert entity.words == entity.words.strip() and re.search(r"\w", entity.words)
        assert re.search(r"[^\W\d_]", entity.words) and entity.words != entity.words.lower(), entity
        assert entity.words.split()[0] not in {"Mr", "Mrs", "Ms", "Miss", "Dr.", "the"}, entity


def test_the_text_can_be_had_back(tokens, texts):
    assert tokens["token"].map(lambda token: token == "".join(token.split())).all()
    assert not tokens.groupby("sentence")["space_after"].last().any()
    for text in texts:
        assert text == " ".join(text.split()), text
        assert not re.search(r" [,.;:?!)]|\( | '", text), text
        assert text.count('"') % 2 == 0 and text.count("(") == text.count(")"), text
        assert not re.search(r'\w"\w', text), text


@pytest.mark.slow
def test_no_sentence_is_nearly_another_within_or_between_splits(texts):
    likeness = process.cdist(
        list(texts), list(texts), scorer=fuzz.token_set_ratio, processor=utils.default_process
    )
    np.fill_diagonal(likeness, 0)
    first, second = np.unravel_index(likeness.argmax(), likeness.shape)
    assert likeness.max() < 80, (texts.iloc[first], texts.iloc[second])


def test_the_hard_cases_are_there(tokens, found):
    """Names of several types, a name and a common word, neighbours without a word between, lower-case beginnings."""
    types = found.groupby("words")["type"].agg(set)
    assert {"PER", "LOC"} <= types["Jordan"] and {"PER", "LOC"} <= types["Washington"]
    assert {"PER", "LOC"} <= types["Paris"] and {"PER", "LOC", "ORG"} <= types["Lincoln"]
    assert "harbour" in set(tokens["token"]) and types["Harbour"] == {"ORG"}
    ends = set(zip(found["sentence"], found["end"], strict=True))
    assert sum(place in ends for place in zip(found["sentence"], found["begin"], strict=True)) >= 10
    assert (found["end"] - found["begin"] >= 4).sum() >= 10
    assert found["words"].str.match(r"[a-z]").sum() >= 5
    assert tokens.groupby("sentence")["token"].first().str.match(r"[a-z]").sum() >= 10


def test_entities_of_test_are_partly_unseen(found):
    train, test = (set(found.loc[found["split"] == split, "words"]) for split in ("train", "test"))
    share = np.mean([words not in train for words in found.loc[found["split"] == "test", "words"]])
    assert 0.4 <= share <= 0.85 and test & train


@pytest.mark.slow
def test_the_card_says_what_the_table_holds(tokens, figures, card):
    for line in figures.contents(tokens):
        assert line in card


def test_the_card_says_what_memory_reaches(tokens, figures, card):
    assert f"most frequent tag of the token: {figures.f1(tokens, figures.memory(tokens))}" in card
    assert f"everything O: {figures.f1(tokens, np.full(len(tokens), 'O'))}" in card


@pytest.mark.audit
def test_the_card_says_what_the_taggers_reach(tokens, figures, card):
    stated = dict(re.findall(r"^logistic regression on (.+): token .* F1 (0\.\d+)$", card, re.M))
    vectors, name = figures.token_vectors(tokens)
    measured = {"a window of words": figures.window(tokens), f"{name}, frozen": vectors}
    for of, features in measured.items():
        if of in stated:  # another encoder has other figures
            score = figures.f1(tokens, figures.logistic_regression(features, tokens)).split()[-1]
            assert float(score) == pytest.approx(float(stated[of]), abs=0.03)
