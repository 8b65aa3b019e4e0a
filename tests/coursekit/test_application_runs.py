"""What notebook 10 computes from recorded predictions: which spans are valid, and which are corrected by choosing jointly."""

import numpy as np
import pandas as pd
import pytest

from coursekit import application_runs, entity_scores


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


def test_f1_is_of_all_sentences_together_and_a_gain_is_paired():
    def spans(tags):
        return [(place, place + 1, tag) for place, tag in enumerate(tags) if tag != "O"]

    truth = [["B-LOC", "O"], ["B-PER", "B-LOC"]]
    perfect = entity_scores.entity_counts(truth, [truth], spans)
    half = entity_scores.entity_counts(truth, [[["O", "O"], ["B-PER", "B-PER"]]], spans)
    assert entity_scores.ratio(perfect) == 1
    assert entity_scores.ratio(half) == pytest.approx(2 * 1 / (3 + 2))
    gain, low, high = entity_scores.f1_gain(perfect, half)
    assert gain == pytest.approx(0.6) and low <= gain <= high


def test_counts_are_means_over_seeds():
    def spans(tags):
        return [(place, place + 1, tag) for place, tag in enumerate(tags) if tag != "O"]

    truth = [["B-LOC"]]
    counts = entity_scores.entity_counts(truth, [truth, [["O"]]], spans)
    assert np.array_equal(counts, [[1, 1.5]])
