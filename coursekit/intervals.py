"""95 % intervals: over a few seeds (Student's t), for a proportion (Wilson), and over many items (percentile bootstrap).

scipy.stats gives the same intervals (the tests compare them), but takes most of a second to import.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

Interval = tuple[float, float, float]
"""A value and the ends of its 95 % interval."""


def mean_and_half(
    values: Float[ArrayLike, "n ..."],
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """The mean of two or more independent values and half the width of its 95 % interval, column by column."""
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        raise ValueError(f"An interval needs at least 2 values; there are {len(values)}.")
    standard_error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return values.mean(axis=0), stdtrit(len(values) - 1, 0.975) * standard_error


def half_width(values: Sequence[float]) -> float:
    """Half the width of the 95 % interval of the mean of two or more independent values."""
    return float(mean_and_half(values)[1])


def wilson(share: float, count: int) -> tuple[float, float]:
    """The interval for a proportion of `count` independent answers (Wilson, 1927), which stays between 0 and 1."""
    share, z = round(share * count) / count, ndtri(0.975)
    middle = share + z**2 / (2 * count)
    half = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    low, high = (middle - half) / (1 + z**2 / count), (middle + half) / (1 + z**2 / count)
    return float(low) if share > 0 else 0.0, float(high) if share < 1 else 1.0


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
    return percentile_interval(
        np.array([statistic(items[places]) for places in resamples(len(items), draws, seed)])
    )


def resamples(count: int, draws: int = 2_000, seed: int = 0) -> Int[np.ndarray, "draws items"]:
    """The places of the items in each resample of `bootstrap`, for a statistic that several intervals share."""
    return np.random.default_rng(seed).integers(0, count, (draws, count))


def percentile_interval(values: Float[np.ndarray, " draws"]) -> tuple[float, float]:
    """The 95 % percentile interval of a statistic, from its value on each resample."""
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
