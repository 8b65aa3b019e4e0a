"""Similarities compared with grades: what is held constant, and what the interval draws."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import rankdata

from coursekit.graded_pairs import GradedPairs, overlap

pytestmark = pytest.mark.slow


def spearman(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.corrcoef(torch.from_numpy(rankdata([a.numpy(), b.numpy()], axis=1)))[0, 1]


@pytest.fixture
def graded():
    rng = np.random.default_rng(0)
    labels = ["contradiction", "entailment", "neutral"]
    rows = [
        ("a " * int(rng.integers(4, 12)), f"the {number}th", label, rng.normal())
        for number in range(20)
        for label in labels
    ]
    return GradedPairs(pd.DataFrame(rows, columns=["premise", "hypothesis", "label", "similarity"]), spearman)


def test_overlap_is_the_share_of_distinct_words_in_common():
    assert overlap("The bank, the bank!", "a bank") == pytest.approx(1 / 3)


def test_a_similarity_that_only_knows_the_length_explains_nothing_once_length_is_held_constant(graded):
    graded.exam["similarity"] = graded.length_ratio + np.arange(60) * 1e-3
    graded.add("length alone", graded.length_ratio)
    noise = np.random.default_rng(1).normal(size=60) * 1e-6
    graded.add("length with noise", graded.length_ratio + noise)
    assert graded.found["length alone"][0] > 0.9
    assert "length alone" not in graded.held and abs(graded.held["length with noise"][0]) < 0.5


def test_a_gain_is_the_difference_of_two_correlations_and_its_interval_is_paired(graded):
    grades = graded.exam.similarity.to_numpy()
    graded.add("right", grades)
    graded.add("right, on another scale", 3 * grades + 1)
    graded.add("the reverse", -grades)
    assert graded.gain("right", "the reverse") == pytest.approx((2, 2, 2))
    assert graded.gain("right", "right, on another scale") == pytest.approx((0, 0, 0))
    assert graded.within("right", "neutral") == pytest.approx((1, 1, 1))


def test_each_hypothesis_is_compared_with_the_premise_that_entails_it(graded):
    premises = graded.exam[graded.exam.label == "entailment"].premise.tolist()
    seen = []

    def vectors_of(texts):
        seen.append(list(texts))
        return torch.eye(20)

    matrix, loss, nearest = graded.find_own(vectors_of, lambda u, v, scale: torch.tensor(scale))
    assert seen == [graded.exam.hypothesis[::3].tolist(), premises]
    assert torch.equal(matrix, torch.eye(20)) and (loss, nearest) == (20.0, 1.0)
