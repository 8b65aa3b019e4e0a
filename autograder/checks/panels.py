"""What a picture of an answer shows: one matrix of yours, and the same of what was expected."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

DIGITS = 6
"""Of the numbers that are kept."""


@dataclass(frozen=True)
class Panels:
    """
    yours, expected  rows of numbers, at most `most` by `most` of them, from the same place;
    shapes           of the whole arrays: yours, and what was expected;
    place            the index on the leading axes, where the two differ most; () for a matrix.
    """

    yours: tuple[tuple[float, ...], ...]
    expected: tuple[tuple[float, ...], ...]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    place: tuple[int, ...] = ()

    @property
    def same_shape(self) -> bool:
        """Of the whole arrays: whether there is a difference to show."""
        return self.shapes[0] == self.shapes[1]

    @cached_property
    def matrices(self) -> tuple[np.ndarray, np.ndarray]:
        """Yours and the expected one as float64 arrays of two axes."""
        return np.array(self.yours, np.float64), np.array(self.expected, np.float64)

    @property
    def titles(self) -> tuple[str, str]:
        """ "yours  3×4" and "expected  3×4"."""
        yours, expected = map(in_signs, self.shapes)
        return f"yours  {yours}", f"expected  {expected}"

    def in_words(self) -> str:
        """For who does not see the picture."""
        yours, expected = (
            numbers(matrix, shape) for matrix, shape in zip(self.matrices, self.shapes, strict=True)
        )
        text = f"Heat maps. Yours: {yours}. Expected: {expected}."
        return f"{text} Largest difference shown: {self.difference.max():.3g}." if self.same_shape else text

    @cached_property
    def difference(self) -> np.ndarray:
        """|yours − expected|, of equal shapes."""
        return distance(*self.matrices)

    @cached_property
    def difference_range(self) -> tuple[float, float]:
        """From 0 to the largest finite difference; to 1 where there is none."""
        finite = self.difference[np.isfinite(self.difference)]
        return 0.0, float(finite.max(initial=0.0)) or 1.0

    @cached_property
    def all_finite(self) -> bool:
        """Whether every number that is shown has a colour."""
        return all(np.isfinite(matrix).all() for matrix in self.matrices)

    @cached_property
    def range(self) -> tuple[float, float] | None:
        """The smallest and the largest finite number of both; None if there is none."""
        finite = np.concatenate([matrix[np.isfinite(matrix)] for matrix in self.matrices])
        return (finite.min(), finite.max()) if finite.size else None


def panels(got: np.ndarray, want: np.ndarray, most: int) -> Panels | None:
    """What to show of two arrays of any number of axes; None if a picture would not help."""
    if want.ndim == 0 or want.size < 2 or got.size == 0:
        return None
    same_shape = got.shape == want.shape
    worst = [0] * want.ndim
    if same_shape:
        worst = [int(index) for index in np.unravel_index(distance(got, want).argmax(), want.shape)]
    place = tuple(worst[:-2])
    cut = [_matrix(array, place if same_shape else (0,) * 64) for array in (got, want)]
    if same_shape:
        corner = [
            max(0, min(at - most // 2, size - most))
            for at, size in zip(worst[-2:], want.shape[-2:], strict=True)
        ]
        corner = [0] * (2 - len(corner)) + corner
        cut = [matrix[corner[0] :, corner[1] :] for matrix in cut]
    yours, expected = (_rows(matrix[:most, :most]) for matrix in cut)
    return Panels(yours, expected, (got.shape, want.shape), place)


def distance(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """|yours − expected|; where either is not finite, 0 if they agree and infinity otherwise."""
    got, want = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(got) & np.isfinite(want)
    with np.errstate(over="ignore"):
        apart = np.abs(np.subtract(got, want, where=finite, out=np.zeros_like(want)))
    return np.where(finite | (got == want) | (np.isnan(got) & np.isnan(want)), apart, np.inf)


def in_signs(shape: tuple[int, ...]) -> str:
    """ "3×4"."""
    return "×".join(map(str, shape))


def numbers(array: np.ndarray, shape: tuple[int, ...] | None = None) -> str:
    """A shape (the array's own, unless it is part of another) and the first numbers."""
    signs = in_signs(array.shape if shape is None else shape) or "a number"
    first = np.array2string(array.ravel()[:4], precision=4, separator=", ", suppress_small=True)
    return f"shape {signs}: {first[:-1]}, …]" if array.size > 4 else f"shape {signs}: {first}"


def _matrix(array: np.ndarray, place: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(array, dtype=np.float64)
    while array.ndim > 2:
        array = array[place[0]] if array.shape[0] else np.zeros(array.shape[1:])
        place = place[1:]
    return np.atleast_2d(array)


def _rows(matrix: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(f"{value:.{DIGITS}g}") for value in row) for row in matrix)
