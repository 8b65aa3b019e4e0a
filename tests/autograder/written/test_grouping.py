"""Groups to begin with: copies together, what is near to nothing last, the course's encoder where there is one."""

import sys

import numpy as np
import pytest

from autograder.errors import CourseError
from autograder.written.grouping import propose
from autograder.written.text_similarity import _Named, same_words

COPY = "The weights must be positive and add up to one, which dividing by the sum does not give."
NEAR = "The weights must be positive and add up to 1, which dividing by the sum doesn't give."
OTHER = "Nobody can differentiate a maximum, so gradients do not flow."
AGAIN = "No gradient flows through an argmax: it is flat."
FAR = "zebra crossing ahead"


def by_topic(texts):
    """An encoder that knows whether gradients are spoken of."""
    return np.array([[1.0, 0.0, 0.0] if "gradient" in text else [0.0, 1.0, 0.3] for text in texts])


def test_copies_and_near_copies_stand_together_and_the_farthest_last():
    texts = [FAR, COPY, OTHER, f"  {COPY.upper()} ", NEAR]
    groups = propose(texts, None)
    assert set(groups[0]) == {1, 3, 4} and groups[-1] == [0]
    copies = [groups[0].index(place) for place in (1, 3)]
    assert abs(copies[0] - copies[1]) == 1


def test_an_encoder_groups_what_words_do_not():
    texts = [OTHER, COPY, AGAIN]
    assert [0, 2] not in [sorted(group) for group in propose(texts, None)]
    assert [0, 2] in [sorted(group) for group in propose(texts, by_topic)]


def test_without_the_extra_exact_copies_are_grouped_all_the_same(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert propose([FAR, COPY, OTHER, f"  {COPY.upper()} ", NEAR], None) == [[1, 3], [0], [2], [4]]


@pytest.mark.parametrize("texts", [[], ["?"], ["", "?", "🙂🙂"], ["a" * 100_000, "b"]])
def test_nothing_that_can_be_written_breaks_it(texts):
    assert sorted(place for group in propose(texts, None) for place in group) == list(range(len(texts)))


def test_more_texts_than_are_compared_still_have_their_copies_together(monkeypatch):
    monkeypatch.setattr("autograder.written.grouping.MOST_COMPARED", 2)
    groups = propose([COPY, OTHER, FAR, "something else", FAR], None)
    assert [2, 4] in groups and sum(map(len, groups)) == 5


def test_signs_are_words():
    """Or answers would be copies of one another that say the opposite."""
    assert same_words("the sum is > 0.") != same_words("the sum is < 0!")
    assert same_words("The  SUM, is: > 0") == same_words("the sum is > 0.")


def test_an_encoder_that_cannot_be_used_is_a_sentence(tmp_path):
    with pytest.raises(CourseError, match="--by words"):
        _Named("no_such_module:encode", tmp_path)(["a"])


def test_an_encoder_may_lie_in_the_course_s_folder(tmp_path):
    (tmp_path / "own_vectors_of_texts.py").write_text(
        "def lengths(texts): return [[len(text), 1] for text in texts]\ndef one(texts): return [[1]]\n"
    )
    assert _Named("own_vectors_of_texts:lengths", tmp_path)(["a", "bcd"]).tolist() == [[1, 1], [3, 1]]
    with pytest.raises(CourseError, match="a row for each"):
        _Named("own_vectors_of_texts:one", tmp_path)(["a", "b"])


@pytest.mark.slow
def test_the_course_s_encoder_hears_what_is_said():
    from coursekit.sentence_vectors import encode

    vectors = encode(
        ["The maximum has no gradient.", "One cannot differentiate an argmax.", "I like the sea."]
    )
    cosines = vectors @ vectors.T
    assert np.allclose(np.diag(cosines), 1, atol=1e-5) and cosines[0, 1] > cosines[0, 2] + 0.2
