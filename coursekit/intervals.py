"""95 % intervals: over a few seeds (Student's t), for a proportion (Wilson), and over many items (percentile bootstrap)."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from scipy import stats


def mean_and_half(
    values: Float[ArrayLike, "n ..."],
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """The mean of two or more independent values and half the width of its 95 % interval, column by column."""
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        raise ValueError(f"An interval needs at least 2 values; there are {len(values)}.")
    return values.mean(axis=0), stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)


def half_width(values: Sequence[float]) -> float:
    """Half the width of the 95 % interval of the mean of two or more independent values."""
    return float(mean_and_half(values)[1])


def wilson(share: float, count: int) -> tuple[float, float]:
    """The interval for a proportion of `count` independent answers (Wilson, 1927), which stays between 0 and 1."""
    interval = stats.binomtest(round(share * count), count).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def bootstrap(
    items: Float[np.ndarray, "items ..."],
    statistic: Callable[[np.ndarray], float] = np.mean,
    draws: int = 2_000,
    seed: int = 0,
) -> tuple[float, float]:
    """The 95 % percentile interval of a statistic of independent items (Efron, 1979).

    Each resample draws as many items as there are, with replacement; the columns of an item (two models on the
    same sentence) stay together. Raises ValueError for fewer than two items.
    """
    items = np.asarray(items)
    if len(items) < 2:
        raise ValueError(f"An interval needs at least 2 items; there are {len(items)}.")
    drawn = stats.bootstrap(
        (np.arange(len(items)),),  # indices are drawn, so that the columns of an item stay together
        lambda places: statistic(items[places]),
        n_resamples=draws,
        vectorized=False,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    return float(drawn.confidence_interval.low), float(drawn.confidence_interval.high)


def resamples(count: int, draws: int = 2_000, seed: int = 0) -> Int[np.ndarray, "draws items"]:
    """The places of the items in each resample of `bootstrap`, for a statistic that several intervals share."""
    return np.random.default_rng(seed).integers(0, count, (draws, count))


def percentile_interval(values: Float[np.ndarray, " draws"]) -> tuple[float, float]:
    """The 95 % percentile interval of a statistic, from its value on each resample."""
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
