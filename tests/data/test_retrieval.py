"""The questions about the course's own texts: each has its entry, its answer stands there, and counting words does not suffice."""

import re

import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from coursekit.datasets import read_table
from experiments.harness import Options
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    return read_table("retrieval/passages.csv"), read_table("retrieval/questions.csv")


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def test_each_question_has_an_entry_of_the_glossary_that_holds_every_word_of_its_answer(tables):
    passages, questions = tables
    assert len(questions) >= 40 and questions.question.is_unique and questions.passage.is_unique
    by_id = passages.set_index("id")
    for row in questions.itertuples():
        entry = by_id.loc[row.passage]
        assert entry.source == "glossary" and entry.title == row.term
        assert set(words(row.answer)) <= set(words(f"{entry.title} {entry.text}")), row.question
        assert row.question.endswith("?")


def test_passages_are_plain_text_and_none_is_there_twice(tables):
    passages, _ = tables
    assert passages.id.is_unique and (passages.title + passages.text).is_unique
    assert not passages.text.str.contains(r"\]\(|\*\*|`").any()
    assert (passages.text.str.split().str.len() >= 5).all()


def test_the_terms_that_are_asked_about_still_stand_in_the_glossary(tables):
    _, questions = tables
    titles = re.findall(r"(?m)^## (.+)$", (ROOT / "docs/glossary.md").read_text())
    assert set(questions.term) <= set(titles)


@pytest.mark.slow
def test_counting_words_finds_what_is_named_and_little_of_what_is_described(tables, figures):
    passages, questions = tables
    described = (questions.kind == "describes").to_numpy()
    assert set(questions.kind) == {"names", "describes"} and 20 <= described.sum() <= len(questions) - 20
    right = figures.relevant(passages, questions)
    at_3 = {
        name: figures.recalls(place, right, 3)
        for name, place in figures.baselines(passages, questions).items()
    }
    for name in ("most words in common", "TF-IDF"):
        assert at_3[name][~described].mean() > 0.8 and at_3[name][described].mean() < 0.4
    assert at_3["the shortest passage"].mean() < 0.05


def test_a_second_reader_agrees_and_what_was_found_besides_counts_as_right(tables, figures):
    passages, questions = tables
    readings = read_table("retrieval/readings.csv")
    assert not readings.duplicated(["id", "passage"]).any() and set(readings.passage) <= set(passages.id)
    named = readings[readings.author == 1]
    assert dict(zip(named.id, named.passage, strict=True)) == dict(
        zip(questions.id, questions.passage, strict=True)
    )
    besides = readings[(readings.author == 0) & (readings.second == 1)]
    also = questions[questions.also.fillna("") != ""]
    mended = {("a58", "t214")}  # whose question was written anew
    found = set(zip(besides.id, besides.passage, strict=True))
    assert found == set(zip(also.id, also.also, strict=True)) | mended
    assert readings[(readings.author == 1) & (readings.second == 0)].id.tolist() == ["a58"]
    assert cohen_kappa_score(readings.author, readings.second) > 0.8
    assert "344 agree with the corrected labels, kappa 0.99" in figures.blind_reading(readings, questions)


@pytest.mark.slow
def test_the_card_holds_the_figures(figures, card):
    assert "\n".join(figures.lines(Options())) in card
