"""What notebook 10 computes from recorded predictions: which spans are valid, and which are corrected by choosing jointly."""

import numpy as np
import pandas as pd
import pytest

from coursekit import application_runs, entity_scores
from coursekit.datasets import read_table


@pytest.mark.parametrize(
    ("start", "end", "valid"),
    [(0, 0, True), (5, 5, True), (5, 28, True), (5, 29, False), (6, 5, False), (0, 5, False), (5, 0, False)],
)
def test_a_span_is_valid_within_the_text_and_the_longest_length_or_as_no_answer(start, end, valid):
    row = pd.DataFrame({"model": ["fine-tuned"], "seed": [0], "start": [start], "end": [end]})
    assert application_runs.without_valid_span(row)["fine-tuned", 0] == (not valid)


def test_the_question_drawn_is_the_first_crossed_one_that_the_best_span_answers():
    in_test = pd.DataFrame(
        [
            ("fine-tuned", 0, "a", "wrong", 7, 3),
            ("fine-tuned", 0, "b", "right", 7, 3),
            ("fine-tuned", 0, "c", "right", 3, 7),
            ("fine-tuned", 1, "a", "right", 7, 3),
            ("frozen", 0, "a", "right", 7, 3),
        ],
        columns=["model", "seed", "id", "answer", "start", "end"],
    )
    questions = pd.DataFrame({"answers": [["right"]] * 3}, index=["a", "b", "c"])
    crossed, drawn = application_runs.crossed_spans(in_test, questions)
    assert (list(crossed.index), drawn) == (["a", "b"], "b")


def spans(tags):
    """Each tag but O is a span of its own."""
    return [(place, place + 1, tag) for place, tag in enumerate(tags) if tag != "O"]


def test_f1_is_of_all_sentences_together_and_a_gain_is_paired():
    truth = [["B-LOC", "O"], ["B-PER", "B-LOC"]]
    perfect = entity_scores.entity_counts(truth, [truth], spans)
    half = entity_scores.entity_counts(truth, [[["O", "O"], ["B-PER", "B-PER"]]], spans)
    assert entity_scores.ratio(perfect) == 1
    assert entity_scores.ratio(half) == pytest.approx(2 * 1 / (3 + 2))
    gain, low, high = entity_scores.f1_gain(perfect, half)
    assert gain == pytest.approx(0.6) and low <= gain <= high


def test_counts_are_means_over_seeds():
    truth = [["B-LOC"]]
    counts = entity_scores.entity_counts(truth, [truth, [["O"]]], spans)
    assert np.array_equal(counts, [[1, 1.5]])


def test_the_sentences_of_one_product_review_are_resampled_together():
    ids = [
        "s1",
        "s2",
        "film 1",
        "film 2",
        *(f"product {review}_{n}" for review in range(40) for n in range(10)),
    ]
    right = [1.0, 0.5, 0.0, 1.0, *(float(review % 2) for review in range(40) for _ in range(10))]
    answers = pd.Series(right, index=ids)
    assert application_runs.of_source(answers, "ours")[0] == 0.75
    assert application_runs.of_source(answers, "film")[0] == 0.5
    mean, low, high = application_runs.of_source(answers, "product")
    assert mean == 0.5 and high - low > 0.25  # 400 independent sentences would give 0.1


def test_the_recorded_answers_are_to_the_test_reviews_and_to_balanced_sentences():
    answers = application_runs.other_sources()
    ours = read_table("sentiment/sentiment.csv").query("split == 'test'")
    assert answers.index[: len(ours)].tolist() == ours["id"].tolist()
    sources = answers.index[len(ours) :].str.partition(" ").get_level_values(0)
    assert sources.value_counts().to_dict() == {"film": 480, "product": 480}
    raters = answers["one rater"]
    assert raters[: len(ours)].isna().all() and raters[len(ours) :].between(0, 1).all()
    assert answers.drop(columns="one rater").isin([0, 0.3333, 0.6667, 1]).all(axis=None)


@pytest.mark.slow
def test_what_notebook_10_says_of_other_sources_exceeds_the_noise():
    answers = application_runs.other_sources()
    for source in ("film", "product"):
        for model in ("frozen", "fine-tuned"):
            own = answers[f"{source}, {model}"]
            assert application_runs.of_source(own - answers[f"ours, {model}"], source)[1] > 0
            rater = application_runs.of_source(answers["one rater"], source)
            assert application_runs.of_source(own, source)[2] < rater[1]
    gain, low, high = application_runs.of_source(
        answers["film, frozen, 3,120"] - answers["film, frozen"], "film"
    )
    assert low < 0 < high and gain < 0.02
    for model in ("frozen", "fine-tuned"):
        lost = application_runs.of_source(answers[f"film, {model}"] - answers[f"ours, {model}"], "film")[0]
        assert round(100 * lost) == 12
