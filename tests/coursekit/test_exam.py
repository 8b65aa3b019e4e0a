"""The exam by kind of question: what the bounds, the readers of counts and models score, on a small part of the language."""

import numpy as np
import pytest
import torch

from coursekit.exam import QUESTIONS, by_question, counted, exam_table, sense_exam_of
from coursekit.language import Language, grammar_of
from coursekit.retrain import EVERY_RECIPE


@pytest.fixture(scope="module")
def part() -> Language:
    return Language.from_grammar(grammar_of(2).only("river", "money"))


@pytest.fixture(scope="module")
def exam(part):
    return sense_exam_of(part, 1200, 1500)


@pytest.fixture(scope="module")
def table(part, exam):
    models = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        models.append(EVERY_RECIPE["gpt"].build(part).eval())
    return exam_table(part, exam, {"gpt": (models, models[:1])})


def test_each_kind_is_asked_about_the_held_out_side_alone(part, exam):
    assert set(exam.held_out.cue) == set(QUESTIONS)
    assert part.held_out(exam.held_out.ids).all() and not part.held_out(exam.labelled.ids).any()
    assert (exam.labelled.position >= 0).all()


def test_bounds_and_blind_readers(table):
    assert table.loc["bound, whole sentence", list(QUESTIONS)].to_numpy() == pytest.approx(1)
    assert table.loc["bound, words before", "left"] == pytest.approx(1, abs=1e-3)
    assert table.loc["bound, words before", "right"] == pytest.approx(0.5, abs=0.03)
    assert 0.6 < table.loc["bound, words before", "order2"] < 0.9
    assert table.loc["majority", list(QUESTIONS)].to_numpy() == pytest.approx(0.5)
    assert table.loc["position and length", list(QUESTIONS)].to_numpy() == pytest.approx(0.5)
    assert table.loc["no order (the best)", ["order1", "order2"]].to_numpy() == pytest.approx(0.5)


def test_a_bag_of_words_reads_words_and_not_their_order(table, exam):
    assert table.loc["bag of words", ["left", "right"]].min() > 0.8
    for kind in ("order1", "order2"):
        count = (exam.held_out.cue == kind).sum()
        # partners are no nearer than others, so it does no better than a coin
        assert table.loc["bag of words", kind] < 0.5 + 4 * np.sqrt(0.25 / count)


def test_counts_leave_out_the_word_itself(part):
    sentences = part.sample(50, np.random.default_rng(0))
    sentences = sentences[sentences.position >= 0]
    bag, near = (counted(part, sentences, near) for near in (False, True))
    for i, row in enumerate(sentences.ids):
        others = [word for t, word in enumerate(row) if word > 6 and t != sentences.position[i]]
        assert bag[i].sum() == len(others)
        assert set(near[i].nonzero().flatten().tolist()) == set(others)
        beside = row[sentences.position[i] - 1]
        assert near[i, beside] >= 1 or beside < 7


def test_models_have_a_row_for_each_layer_and_an_interval_over_seeds(table):
    rows = [row for row in table.index if row.startswith("gpt")]
    assert rows == [f"gpt, {text}, layer {layer}" for text in ("untrained", "trained") for layer in range(3)]
    assert (table.loc["gpt, untrained, layer 2", [f"{kind} ±" for kind in QUESTIONS]] > 0).any()
    assert table.loc["gpt, trained, layer 2", [f"{kind} ±" for kind in QUESTIONS]].isna().all()  # one seed
    # a vector that holds the word and its place alone is right as often as the most frequent sense
    assert table.loc["gpt, untrained, layer 0", list(QUESTIONS)].max() < 0.6


def test_shares_are_those_of_each_kind(exam):
    right = exam.held_out.cue == "order2"
    assert by_question(exam, right) == {"left": 0, "right": 0, "order1": 0, "order2": 1}
