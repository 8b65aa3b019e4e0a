"""How far two readings of the same answers agree."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Agreement:
    """Of answers that were read twice: how many, the share with equal points, and Cohen's weighted kappa.

    The weights are squares of the difference in points (Cohen 1968): 1 is full agreement, 0 what chance would give to two
    readers with these shares of points. None where all points are equal, so that chance explains everything.
    """

    count: int
    equal: float
    within_half: float  # the share that is at most half a point apart
    kappa: float | None


def agreement(pairs: Sequence[tuple[float, float]]) -> Agreement | None:
    """Of pairs of points, the first and the second reading's. None without any."""
    if not pairs:
        return None
    first, second = np.asarray(pairs, dtype=float).T
    observed = np.mean((first - second) ** 2)
    by_chance = np.mean((first[:, None] - second[None, :]) ** 2)
    return Agreement(
        len(pairs),
        float(np.mean(first == second)),
        float(np.mean(np.abs(first - second) <= 0.5)),
        float(1 - observed / by_chance) if by_chance else None,
    )
