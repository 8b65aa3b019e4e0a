"""The answers that SmolLM2 compares in notebook 16, and what its margins say about position, agreement and reward."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from coursekit import judged_answers
from coursekit.datasets import read_table
from coursekit.judged_answers import LABELS, PADDED, PADDING


@pytest.mark.slow
def test_all_annotators_accept_the_right_answer_and_reject_the_wrong_one():
    readings = read_table("retrieval/readings.csv").set_index(["id", "passage"])
    asked = judged_answers.asked()
    assert len({one.id for one in asked}) == len(asked) > 50
    for one in asked:
        assert readings.loc[(one.id, one.right)].tolist() == [1, 1, 1]
        assert readings.loc[(one.id, one.wrong)].tolist() == [0, 0, 0]


def test_every_pair_is_compared_in_both_orders_and_no_answer_with_itself():
    one = judged_answers.asked()[0]
    for padded in (False, True):
        found = judged_answers.comparisons(one, padded)
        pairs = {(first, second) for first, seconds in found.items() for second in seconds}
        answers = {one.right, one.wrong} | ({one.right + PADDED, one.wrong + PADDED} if padded else set())
        plain = {one.right, one.wrong}
        assert pairs == {pair for pair in permutations(answers, 2) if plain & set(pair)}


def test_padding_is_added_at_the_end():
    texts = judged_answers.texts_of_answers()
    one = judged_answers.asked()[0]
    assert texts[one.right + PADDED] == texts[one.right] + PADDING


@pytest.mark.parametrize("labels", LABELS.values())
def test_the_prompt_shows_both_answers_with_their_names_in_this_order(labels, monkeypatch):
    prompts = []

    def margins(judge, texts, question, before):
        prompts.extend(before + question[0].format(text) for text in texts)
        assert question[1:] == (f" {labels[0]}", f" {labels[1]}")
        return np.zeros(len(texts))

    monkeypatch.setattr(judged_answers.judges, "margins", margins)
    judged_answers.preferred(None, "What is a token?", "one", ["two", "three"], labels)
    for prompt, second in zip(prompts, ("two", "three"), strict=True):
        assert f"Answer {labels[0]}: one\n\nAnswer {labels[1]}: {second}\n" in prompt
        assert prompt.index("What is a token?") < prompt.index("one\n")


def verdicts_of(monkeypatch, quality, bias: float) -> judged_answers.Verdicts:
    """The verdicts of a judge whose margin is the difference in quality plus a preference for the first answer."""
    rows = []
    for number, one in enumerate(judged_answers.asked()):
        values = dict(
            zip((one.right, one.wrong, one.right + PADDED, one.wrong + PADDED), quality(number), strict=True)
        )
        rows += [
            ("A, B", one.id, first, second, values[first] - values[second] + bias)
            for first, seconds in judged_answers.comparisons(one, padded=True).items()
            for second in seconds
        ]
    table = pd.DataFrame(rows, columns=["labels", "id", "first", "second", "margin"])
    monkeypatch.setattr(
        judged_answers, "read_table", lambda name: table if name.startswith("results") else read_table(name)
    )
    return judged_answers.Verdicts()


@pytest.mark.slow
def test_a_judge_that_sees_only_the_position_agrees_with_nobody(monkeypatch):
    verdicts = verdicts_of(monkeypatch, lambda number: (1.0, 0.0, 1.0, 0.0), bias=3.0)
    summary = verdicts.summary()
    assert summary["first chosen"] == summary["changed by the order"] == (1, 1, 1)
    assert summary["κ, one order"] == (0, 0, 0)
    assert summary["κ, both orders"] == (1, 1, 1)  # the average removes the preference for the first answer


@pytest.mark.slow
def test_a_judge_without_position_bias_keeps_its_verdict_in_both_orders(monkeypatch):
    wrong_first = lambda number: (number % 4 > 0, 0.5, 0.0, 0.0)  # noqa: E731
    verdicts = verdicts_of(monkeypatch, wrong_first, bias=0.0)
    summary, share = verdicts.summary(), np.mean([number % 4 > 0 for number in range(len(verdicts.asked))])
    assert summary["changed by the order"][0] == 0 and summary["first chosen"][0] == 0.5
    assert summary["κ, one order"] == summary["κ, both orders"]
    assert summary["κ, both orders"][0] == pytest.approx(2 * share - 1)


@pytest.mark.slow
def test_the_reward_is_free_of_position_bias_and_grows_with_quality(monkeypatch):
    verdicts = verdicts_of(monkeypatch, lambda number: (1.0, 0.0, 3.0, -2.0), bias=5.0)
    assert verdicts.rewards() == pytest.approx(np.tile([0.5, -0.5, 2.5, -2.5], (len(verdicts.asked), 1)))
    assert verdicts.padding_preferred().mean(axis=0).tolist() == [1, 0]


@pytest.mark.parametrize("preferred", [0.2, 0.5, 0.9])
def test_agreement_is_cohens_kappa_whatever_the_judge_prefers(preferred):
    chosen = np.random.default_rng(0).random((30, 2)) < preferred
    labels = np.tile([True, False], (30, 1))
    kappa = cohen_kappa_score(chosen.flatten(), labels.flatten())
    assert judged_answers.agreement(chosen) == pytest.approx(kappa)
