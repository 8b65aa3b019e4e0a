"""Arrays that are compared beyond a rule: near or not, and how many different numbers show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MOST = 200_000
"""Numbers, over all inputs; of more nothing is said, for these arrays may be hostile."""

ENOUGH = 3
"""Different numbers that an operation must explain beyond those that it was fitted to."""


@dataclass(frozen=True)
class Pair:
    """What was given and what was expected as one part of an answer to one input.

    wrong   which of the numbers are, where the shape is right.
    others  the expected arrays of the answer's other parts.

    Where numbers are explained, both arrays are of float64 and of the same shape.
    """

    got: np.ndarray
    want: np.ndarray
    case: Mapping[str, Any]
    wrong: np.ndarray
    others: Mapping[str, np.ndarray] = field(default_factory=dict)


Pairs = Sequence[Pair]


def scale_of(array: np.ndarray) -> float:
    """The largest absolute value among the finite numbers, at least 1e-30; 1 where none is finite."""
    finite = np.abs(array[np.isfinite(array)])
    return max(float(finite.max()), 1e-30) if finite.size else 1.0


def close(left: np.ndarray, right: np.ndarray, distance: float | np.ndarray) -> np.ndarray:
    """For each number, whether both are equal (an infinity to itself, too) or at most `distance` apart. NaN is not."""
    with np.errstate(all="ignore"):
        return (left == right) | (np.abs(left - right) <= distance)


def near(left: np.ndarray, right: np.ndarray) -> bool:
    """Stricter than a rule: small numbers beside large ones count, too."""
    if left.shape != right.shape:
        return False
    allowed = 3e-4 * (np.abs(right) + 0.02 * scale_of(right))
    return bool(close(left, right, np.where(np.isfinite(allowed), allowed, 0)).all())


def all_equal(values: Sequence[float], tolerance: float) -> bool:
    """Whether these agree, up to a share `tolerance` of the largest absolute value. There must be at least one."""
    return max(values) - min(values) <= tolerance * max(map(abs, values))


def count(array: np.ndarray) -> int:
    """How many different finite numbers other than 0 there are."""
    rounded = np.round(array[np.isfinite(array)] / scale_of(array), 5)
    return len(np.unique(rounded[rounded != 0]))


def different(arrays: Sequence[np.ndarray], least: int) -> bool:
    """Whether the arrays hold, added up over all of them, at least as many different numbers, as `count` has it."""
    return sum(map(count, arrays)) >= least
