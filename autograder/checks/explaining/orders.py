"""Whether the expected numbers stand in other places: transposed, reversed, shifted, mixed up."""

from itertools import combinations

import numpy as np

from autograder.checks.explaining.axes import axis_name, common_axes, swap_name
from autograder.checks.explaining.nearness import ENOUGH, MOST, Pair, Pairs, different, near


def in_other_places(pairs: Pairs, names: str) -> str:
    """The expected numbers stand in other places."""
    if sum(int(pair.wrong.sum()) for pair in pairs) < ENOUGH or not different([p.want for p in pairs], 2):
        return ""
    axes = common_axes([pair.want.shape for pair in pairs])
    dims = pairs[0].want.ndim
    for left, right in combinations(axes, 2):
        if sentence := _swapped(pairs, left, right, names):
            return sentence
    for axis in axes:
        where = axis_name(axis, dims, names)
        if all(near(pair.got, np.flip(pair.want, axis)) for pair in pairs):
            return f"Your answer is the expected one in reverse order along {where}."
        for step in (1, -1, 2, -2):
            if all(near(pair.got, np.roll(pair.want, step, axis)) for pair in pairs):
                return f"Your answer is the expected one, rolled by {_places(step)} along {where}: {'what was last is now at the front' if step > 0 else 'what was first is now at the end'}."
            if _shifted(pairs, axis, step):
                return f"Your answer is the expected one, shifted by {_places(step)} along {where}."
    for axis in axes:
        if all(pair.want.ndim > 1 and _same_rows(pair, axis) for pair in pairs):
            return f"Your answer contains the right vectors in another order along {axis_name(axis, dims, names)}."
    for axis in axes:
        if all(near(np.sort(pair.got, axis), np.sort(pair.want, axis)) for pair in pairs):
            return (
                f"Your numbers are the expected ones in another order along {axis_name(axis, dims, names)}."
            )
    if all(pair.want.ndim > 1 and near(np.sort(pair.got, None), np.sort(pair.want, None)) for pair in pairs):
        return "Your numbers are the expected ones, but at other positions."
    return ""


def _swapped(pairs: Pairs, left: int, right: int, names: str) -> str:
    axes_swapped = swap_name(left, right, pairs[0].want.ndim, names)
    if all(
        pair.want.shape[left] == pair.want.shape[right] and near(pair.got, pair.want.swapaxes(left, right))
        for pair in pairs
    ):
        return f"Your answer is the expected one with {axes_swapped} exchanged (transposed)."
    for of_expected, of_yours in (
        (lambda x: x.swapaxes(left, right), lambda x: x),
        (lambda x: x, lambda x: x.swapaxes(left, right)),
    ):
        if all(
            np.array_equal(np.sort(of_yours(pair.got).shape), np.sort(of_expected(pair.want).shape))
            and near(of_yours(pair.got).ravel(), of_expected(pair.want).ravel())
            for pair in pairs
        ):
            return (
                f"All of the expected numbers are there, but mixed up: a reshape (view) was used where {axes_swapped} should be exchanged, "
                "or the other way round."
            )
    return ""


def _places(step: int) -> str:
    return f"{abs(step)} position{'s' if abs(step) > 1 else ''} {'towards the end' if step > 0 else 'towards the front'}"


def _shifted(pairs: Pairs, axis: int, step: int) -> bool:
    """Whether yours is the expected moved by `step`, whatever has come in at the end; it must not be constant there."""
    moved = []
    for pair in pairs:
        size = pair.want.shape[axis]
        if size < abs(step) + 2:
            return False
        keep = np.arange(max(0, -step), size - max(0, step))
        lost = np.arange(max(0, step), size - max(0, -step))
        want, got = np.take(pair.want, keep, axis), np.take(pair.got, lost, axis)
        if not near(got, want):
            return False
        moved.append(want)
    return different(moved, ENOUGH) and sum(array.size for array in moved) > 2 * ENOUGH


def _same_rows(pair: Pair, axis: int) -> bool:
    """Whether yours has the expected sub-arrays along `axis`, each once, in another order."""
    got = np.moveaxis(pair.got, axis, 0).reshape(pair.got.shape[axis], -1)
    want = np.moveaxis(pair.want, axis, 0).reshape(got.shape)
    if got.shape[1] < 2 or len(got) < 2 or got.size * len(got) > MOST:
        return False
    free = list(range(len(want)))
    for row in got:
        match = next((row_ for row_ in free if near(row, want[row_])), None)
        if match is None:
            return False
        free.remove(match)
    return True
