"""The sense exam: it is fair, it is the same every time, and readers who are blind to something score what they must."""

import numpy as np
import pytest
import torch

from coursekit.exam import (
    QUESTIONS,
    Accuracy,
    ambiguous_words,
    bounds,
    by_question,
    counts,
    most_frequent,
    nearest_hits,
    nearest_sense,
    sense_exam,
    sense_exam_of,
)
from coursekit.language import load_language

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def small(part):
    return sense_exam_of(part, 1200, 1500)


def vectors_by(function) -> tuple[torch.Tensor, torch.Tensor]:
    """One vector for each labelled and each held-out sentence of the exam."""
    exam = sense_exam()
    return function(exam.labelled), function(exam.held_out)


def test_the_exam_is_the_same_every_time():
    first = sense_exam()
    sense_exam.cache_clear()
    assert np.array_equal(first.held_out.ids, sense_exam().held_out.ids)


def test_every_sentence_has_an_ambiguous_word_and_all_kinds_occur():
    exam = sense_exam()
    assert (exam.held_out.sense >= 0).all() and (exam.labelled.sense >= 0).all()
    assert set(exam.held_out.cue) == set(QUESTIONS)
    assert min(exam.count(kind) for kind in QUESTIONS) > 700


def test_held_out_words_stand_on_the_other_side_of_the_split():
    exam, language = sense_exam(), load_language()
    assert language.held_out(exam.held_out.ids).all() and not language.held_out(exam.labelled.ids).any()


def test_vectors_that_know_the_sense_score_one():
    know = vectors_by(lambda sentences: torch.nn.functional.one_hot(torch.from_numpy(sentences.sense), 40))
    assert nearest_sense(sense_exam(), *know) == Accuracy(1, 1, 1, 1)


def test_one_vector_per_word_scores_exactly_as_the_most_frequent_sense():
    table = torch.randn(5000, 20, generator=torch.Generator().manual_seed(0))
    static = vectors_by(lambda sentences: table[torch.from_numpy(ambiguous_words(sentences))])
    assert nearest_sense(sense_exam(), *static) == most_frequent(sense_exam())


def test_last_bits_do_not_break_ties():
    table = torch.randn(5000, 20, generator=torch.Generator().manual_seed(0))
    noise = torch.Generator().manual_seed(1)

    def static(sentences):
        vectors = table[torch.from_numpy(ambiguous_words(sentences))]
        return vectors * (1 + 1e-6 * torch.randn(vectors.shape, generator=noise))

    assert nearest_sense(sense_exam(), *vectors_by(static)) == most_frequent(sense_exam())


def test_random_vectors_score_no_better_than_chance_allows():
    rng = torch.Generator().manual_seed(0)
    accuracy = nearest_sense(sense_exam(), *vectors_by(lambda s: torch.randn(len(s), 20, generator=rng)))
    assert all(0.4 < accuracy[kind] < 0.55 for kind in QUESTIONS)


def test_vectors_of_other_sentences_are_refused():
    with pytest.raises(ValueError, match="one vector for each of the test's"):
        nearest_sense(sense_exam(), torch.zeros(3, 4), torch.zeros(3, 4))


def test_the_bounds_tell_the_kinds_of_question_apart():
    limits = bounds()
    assert all(limits.whole_sentence[kind] > 0.999 for kind in QUESTIONS)
    assert limits.words_before.left > 0.999
    assert limits.words_before.right < 0.48  # nothing before the word tells the sense
    assert 0.65 < limits.words_before.order1 < 0.8 < limits.words_before.order2 < 0.9
    assert limits.no_order.order1 == limits.no_order.order2 == pytest.approx(0.5)
    assert all(0.42 < limits.majority[kind] < 0.5 for kind in QUESTIONS)


def test_a_bag_of_words_reads_words_and_not_their_order(part, small):
    bags = (counts(part, sentences, near=False) for sentences in (small.labelled, small.held_out))
    accuracy = nearest_sense(small, *bags)
    assert min(accuracy.left, accuracy.right) > 0.8
    for kind in ("order1", "order2"):
        # partners are no nearer than others, so it does no better than a coin
        assert accuracy[kind] < 0.5 + 4 * np.sqrt(0.25 / small.count(kind))


def test_counts_leave_out_the_word_itself(part):
    sentences = part.sample(50, np.random.default_rng(0))
    sentences = sentences[sentences.position >= 0]
    bag, near = (counts(part, sentences, near) for near in (False, True))
    for i, row in enumerate(sentences.ids):
        others = [word for t, word in enumerate(row) if word > 6 and t != sentences.position[i]]
        assert bag[i].sum() == len(others)
        assert set(near[i].nonzero().flatten().tolist()) == set(others)
        beside = row[sentences.position[i] - 1]
        assert near[i, beside] >= 1 or beside < 7


def test_shares_are_those_of_each_kind(small):
    right = small.held_out.cue == "order2"
    assert by_question(small, right) == Accuracy(0, 0, 0, 1)
    everything = torch.nn.functional.one_hot(torch.from_numpy(small.labelled.sense), 5).float()
    hits = nearest_hits(small, everything, torch.ones(len(small.held_out), 5))
    assert by_question(small, hits)["left"] == hits[small.held_out.cue == "left"].mean()
