"""Agreement between two readings is what the textbooks say it is."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from autograder.written.agreement import agreement


def test_weighted_kappa_is_cohen_s():
    first, second = np.random.default_rng(0).integers(0, 4, (2, 50))
    found = agreement(list(zip(first / 2, second / 2, strict=True)))
    assert found.kappa == pytest.approx(cohen_kappa_score(first, second, weights="quadratic"))
    assert found.equal == np.mean(first == second)


def test_what_cannot_be_said_is_none():
    assert agreement([]) is None
    assert agreement([(1, 1), (1, 1)]).kappa is None
