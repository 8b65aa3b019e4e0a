"""data/json_answers: questions that are held out, answers that the judge accepts, and the figures of the card."""

import pytest

from coursekit.json_answers import TOPICS, as_json, mentions_answer, parsed, questions


def test_each_topic_has_as_many_questions_and_none_is_asked_twice():
    train, test, requests = map(questions, ("train", "test", "request"))
    assert [len(each) for each in (train, test, requests)] == [40, 20, 10]
    for asked, count in ((train, 8), (test, 4)):
        assert dict(asked["topic"].value_counts()) == dict.fromkeys(TOPICS, count)
    asked = [*train["question"], *test["question"], *requests["question"]]
    assert len({question.casefold() for question in asked}) == len(asked)


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_answers_are_in_the_format_and_accepted(split):
    for _, row in questions(split).iterrows():
        assert parsed(as_json(row))["topic"] == row["topic"] and len(row["answer"].split()) <= 3
        assert mentions_answer(as_json(row), row)
        assert not mentions_answer(row["question"], row), "the question contains its own answer"


def test_the_card_says_what_it_contains(figures, card):
    table = figures.read()
    said = [
        *figures.contents(table),
        *(f"{name}: {value:.3f}" for name, value in figures.trivial(table).items()),
    ]
    assert [line for line in said if line not in card] == []
