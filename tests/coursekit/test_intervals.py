"""Intervals of a few seeds, of a share, and of many items."""

import numpy as np
import pytest
from scipy import stats

from coursekit.intervals import bootstrap, half_width, mean_and_half, wilson


def test_half_width_is_that_of_student_s_t():
    assert half_width([1.0, 2.0, 3.0]) == pytest.approx(4.303 * 1 / 3**0.5, rel=1e-3)
    assert half_width([2.0, 4.0]) == pytest.approx(12.706 * 2**0.5 / 2**0.5, rel=1e-3)
    with pytest.raises(ValueError, match="there are 1"):
        half_width([1.0])


def test_columns_have_a_mean_and_an_interval_each():
    mean, half = mean_and_half([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    assert mean == pytest.approx([2, 4]) and half == pytest.approx(
        [half_width([1, 2, 3]), half_width([2, 4, 6])]
    )


@pytest.mark.parametrize(("right", "count"), [(0, 20), (1, 20), (7, 20), (19, 20), (20, 20), (50, 100)])
def test_wilson_is_that_of_scipy_and_stays_between_0_and_1(right, count):
    low, high = wilson(right / count, count)
    assert (low, high) == pytest.approx(stats.binomtest(right, count).proportion_ci(method="wilson"))
    assert low >= 0 and high <= 1


@pytest.mark.slow
def test_bootstrap_covers_the_mean_nineteen_times_in_twenty():
    rng = np.random.default_rng(0)
    covered = [
        low <= 0 <= high for low, high in (bootstrap(rng.normal(size=60), draws=400) for _ in range(200))
    ]
    assert 0.90 <= np.mean(covered) <= 0.99


def test_bootstrap_keeps_the_columns_of_an_item_together():
    twice = np.repeat(np.random.default_rng(1).normal(size=(50, 1)), 2, axis=1)
    assert bootstrap(twice, lambda rows: (rows[:, 0] - rows[:, 1]).mean()) == (0.0, 0.0)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_items_have_no_interval(count):
    with pytest.raises(ValueError, match=f"at least 2 items; there are {count}"):
        bootstrap(np.ones(count))


def test_the_interval_is_that_of_scipy():
    items = np.random.default_rng(3).normal(size=(12, 2))
    ours = bootstrap(items, lambda drawn: drawn[:, 1].mean(), draws=300, seed=4)
    theirs = stats.bootstrap(
        (np.arange(12),),
        lambda places: items[places, 1].mean(),
        n_resamples=300,
        vectorized=False,
        method="percentile",
        rng=np.random.default_rng(4),
    )
    assert ours == pytest.approx(theirs.confidence_interval)
