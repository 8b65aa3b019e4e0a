"""The questions: what the card promises about every span, and that words alone do not give the answers away."""

import re

import numpy as np
import pandas as pd
import pytest
from rapidfuzz import fuzz, process

from tests.conftest import ROOT

COLUMNS = ["id", "title", "genre", "context", "question", "answers", "starts", "answerable", "split"]


@pytest.fixture(scope="module")
def questions() -> pd.DataFrame:
    return pd.read_json(ROOT / "data/questions/questions.json")


def test_it_loads_in_one_line_and_nothing_is_missing(questions):
    assert list(questions) == COLUMNS
    assert not questions.isna().any().any() and questions["id"].is_unique
    text = questions[["title", "context", "question"]]
    assert (text == text.apply(lambda column: column.str.strip())).all().all()
    assert questions["question"].str.endswith("?").all()


def test_there_are_enough_paragraphs_and_questions(questions):
    each = questions.groupby("context")
    assert len(each) >= 155 and len(questions) >= 520
    assert each.size().between(3, 5).all()
    assert (each["title"].nunique() == 1).all() and questions.groupby("title")["context"].nunique().max() == 1
    assert questions["context"].str.split().str.len().between(40, 110).all()
    assert questions.drop_duplicates("context")["genre"].value_counts().min() >= 14


def test_every_answer_is_the_text_at_its_start_and_ends_between_words(questions):
    for row in questions.itertuples():
        assert len(row.answers) == len(row.starts) == len(set(zip(row.starts, row.answers, strict=True)))
        for answer, start in zip(row.answers, row.starts, strict=True):
            end = start + len(answer)
            assert row.context[start:end] == answer and answer.strip() == answer != "", row.id
            assert not re.search(r"\w\w", row.context[max(0, start - 1) : start + 1]), (row.id, answer)
            assert not re.search(r"\w\w", row.context[end - 1 : end + 1]), (row.id, answer)


def test_accepted_answers_of_a_question_are_near_each_other(questions):
    """Several accepted answers are ways to say one thing, not different things: they overlap or stand in one or two sentences."""
    for row in questions[questions["answerable"]].itertuples():
        ends = [start + len(answer) for start, answer in zip(row.starts, row.answers, strict=True)]
        assert max(ends) - min(row.starts) <= 160, row.id


def test_a_fifth_of_the_questions_has_no_answer_in_every_split(questions):
    assert (questions["answerable"] == (questions["answers"].str.len() > 0)).all()
    shares = 1 - questions.groupby("split")["answerable"].mean()
    assert set(shares.index) == {"train", "validation", "test"} and shares.between(0.17, 0.23).all()
    without = questions[~questions["answerable"]].groupby("context").size()
    assert without.max() <= 2 and questions["context"].nunique() - len(without) >= 10  # not one for each


def test_the_place_of_a_question_does_not_tell_whether_it_has_an_answer(questions):
    place = questions["id"].str[-1].astype(int)
    shares = 1 - questions["answerable"].groupby(place).mean()
    assert shares.between(0.1, 0.3).all()


def test_questions_ask_in_many_ways_and_answers_have_many_lengths(questions, figures):
    asked = questions["question"].map(figures.asking_word).value_counts()
    assert asked[["who", "when", "where", "which", "how many", "why", "what"]].min() >= 25
    assert asked.max() / len(questions) < 0.4
    lengths = questions[questions["answerable"]]["answers"].str[0].str.split().str.len()
    assert (lengths == 1).mean() > 0.15 and (lengths > 3).mean() > 0.25


def test_questions_are_paraphrased(questions, figures):
    """The paragraph does not hold the question's words in its order, and an unanswerable question is as close to it as others."""
    taken = questions.apply(figures.taken_over, axis=1)
    answerable = questions["answerable"]
    assert taken[answerable].mean() < 0.5 and taken[~answerable].mean() >= taken[answerable].mean()
    for row in questions.itertuples():
        asked, said = figures.words(row.question), " ".join(figures.words(row.context))
        runs = [" ".join(asked[i : i + 6]) for i in range(len(asked) - 5)]
        assert not any(run in said for run in runs), row.question


@pytest.mark.slow
def test_no_paragraph_is_in_two_splits_or_nearly_another(questions):
    assert questions.groupby("context")["split"].nunique().max() == 1
    contexts = questions["context"].drop_duplicates().tolist()
    table = process.cdist(contexts, contexts, scorer=fuzz.token_set_ratio)
    np.fill_diagonal(table, 0)
    assert table.max() < 70


def test_no_question_is_asked_twice(questions):
    assert questions["question"].is_unique
    for _, some in questions.groupby("context"):
        asked = some["question"].tolist()
        table = process.cdist(asked, asked, scorer=fuzz.token_sort_ratio)
        np.fill_diagonal(table, 0)
        assert table.max() < 85, asked
    train, test = (questions[questions["split"] == split]["question"].tolist() for split in ("train", "test"))
    assert process.cdist(train, test, scorer=fuzz.token_sort_ratio).max() < 90


@pytest.mark.slow
def test_the_card_has_the_figures(questions, figures, card):
    assert "\n".join(figures.contents(questions)) in card
    test = questions[questions["split"] == "test"]
    assert "test, answerable: the likeliest sentence contains the answer {:.3f}; F1 of that sentence {:.3f}".format(
        *figures.sentence_baseline(test)
    ) in card  # fmt: skip
    assert (
        f"{questions['context'].nunique()} short paragraphs" in card and f"{len(questions)} questions" in card
    )


@pytest.mark.slow
def test_the_question_alone_hardly_tells_whether_it_has_an_answer(questions, figures, card):
    balanced = figures.question_only(questions)
    said = float(re.search(r"from the question alone: balanced accuracy ([\d.]+)", card)[1])
    assert balanced < 0.65 and abs(balanced - said) < 0.03


def test_the_likeliest_sentence_is_far_from_enough(questions, figures):
    test = questions[questions["split"] == "test"]
    holds, f1 = figures.sentence_baseline(test)
    assert holds < 0.7 and f1 < 0.3
