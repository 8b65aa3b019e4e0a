"""Properties that all expected answers have and none of yours, or the other way round: rows that sum to 1, …"""

from collections.abc import Callable, Sequence

import numpy as np

from autograder.checks.explaining.axes import axis_name, common_axes
from autograder.checks.explaining.nearness import Pair

Property = Callable[[np.ndarray, int], bool]

ALONG: tuple[tuple[str, str, Property], ...] = (
    ("sum to 1", "yours do not", lambda x, axis: np.allclose(x.sum(axis), 1, atol=1e-3)),
    ("have length 1", "yours do not", lambda x, axis: np.allclose((x**2).sum(axis), 1, atol=1e-3)),
    ("sum to 0", "yours do not", lambda x, axis: np.allclose(x.sum(axis), 0, atol=1e-3 * np.abs(x).max())),
    (
        "never fall",
        "yours do",
        lambda x, axis: bool((np.diff(x, axis=axis) >= -1e-6 * np.abs(x).max()).all()),
    ),
    ("never rise", "yours do", lambda x, axis: bool((np.diff(x, axis=axis) <= 1e-6 * np.abs(x).max()).all())),
)
"""What the vectors along an axis may have in common, and what is said of those that have it not."""
NORMED = 3
"""Of these, the first, which no answer has by accident."""

OVERALL: tuple[tuple[str, Callable[[np.ndarray], bool]], ...] = (
    ("None of the expected numbers is negative; some of yours are.", lambda x: bool((x >= -1e-6).all())),
    ("None of the expected numbers is above 1; some of yours are.", lambda x: bool((x <= 1 + 1e-4).all())),
    ("None of the expected numbers is positive; some of yours are.", lambda x: bool((x <= 1e-6).all())),
    (
        "The expected numbers are whole numbers; some of yours are not.",
        lambda x: bool((x == np.round(x)).all()),
    ),
)
FEWEST = 8
"""Numbers, over all inputs, that show a property."""


def broken_property(pairs: Sequence[Pair], names: str, axes: Sequence[int] | None = None) -> str:
    """The sentence about a property that all expected arrays have and none of yours, or the other way round; or "".

    Along `axes`, or all that the arrays have.
    """
    if not all(np.isfinite(pair.got).all() and np.isfinite(pair.want).all() for pair in pairs):
        return ""
    if sum(pair.want.size for pair in pairs) < FEWEST or not all(pair.want.size for pair in pairs):
        return ""
    got, want = [pair.got for pair in pairs], [pair.want for pair in pairs]
    long = [
        axis
        for axis in axes or common_axes([array.shape for array in want])
        if all(array.shape[axis] > 2 for array in want)
    ]
    return _lost(got, want, long, names) or _overall(got, want) or _gained(got, want, long, names)


Arrays = Sequence[np.ndarray]


def _lost(got: Arrays, want: Arrays, axes: Sequence[int], names: str) -> str:
    for place, (claim, not_yours, holds) in enumerate(ALONG):
        for axis in axes:
            if not _all(want, holds, axis) or any(holds(array, axis) for array in got):
                continue
            where = axis_name(axis, want[0].ndim, names)
            for other in axes if place < NORMED else ():
                if other != axis and _all(got, holds, other) and not _all(want, holds, other):
                    yours = axis_name(other, want[0].ndim, names)
                    return f"The expected {_subject(claim)} {claim} along {where}; yours do so along {yours}."
            return f"The expected {_subject(claim)} {claim} along {where}; {not_yours}."
    return ""


def _overall(got: Arrays, want: Arrays) -> str:
    for sentence, holds in OVERALL:
        if all(map(holds, want)) and not any(map(holds, got)):
            return sentence
    return ""


def _gained(got: Arrays, want: Arrays, axes: Sequence[int], names: str) -> str:
    for axis in axes:
        for claim, _, holds in ALONG[:NORMED]:
            if _all(got, holds, axis) and not any(holds(array, axis) for array in want):
                return f"Your {_subject(claim)} {claim} along {axis_name(axis, want[0].ndim, names)}; the expected ones do not."
    return ""


def _subject(claim: str) -> str:
    """What the claim is about: a number has no length, a vector has."""
    return "vectors" if claim.startswith("have length") else "numbers"


def _all(arrays: Arrays, holds: Property, axis: int) -> bool:
    return all(holds(array, axis) for array in arrays)
