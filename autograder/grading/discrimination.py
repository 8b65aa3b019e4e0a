"""How well an exercise separates stronger from weaker students."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ENOUGH = 20  # students; with fewer, the interval is too wide to be useful
QUANTILE = 1.96  # of the normal distribution, for 95 %


@dataclass(frozen=True)
class Discrimination:
    """The point-biserial correlation of being right with the points in the other exercises, and its 95 % interval.

    The interval is Fisher's: atanh(r) is nearly normal with the standard deviation 1 / √(n − 3).
    """

    value: float
    low: float
    high: float
    students: int

    @property
    def certain(self) -> bool:
        """Whether there are enough students to interpret it."""
        return self.students >= ENOUGH


def discrimination(right: Sequence[bool], others: Sequence[float]) -> Discrimination | None:
    """The discrimination of an exercise: `right` says whose answer is right, `others` gives the points in the other exercises.

    None where it is not defined: everybody or nobody was right, the points are all equal, or there are fewer than 4 students.
    """
    count = len(right)
    chosen, points = np.asarray(right, dtype=float), np.asarray(others, dtype=float)
    if count < 4 or np.ptp(chosen) == 0 or np.ptp(points) < 1e-9:
        return None
    value = float(np.corrcoef(chosen, points)[0, 1])
    middle = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, value)))
    half = QUANTILE / math.sqrt(count - 3)
    return Discrimination(value, math.tanh(middle - half), math.tanh(middle + half), count)
