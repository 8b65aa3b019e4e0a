"""Where an answer differs: in which places of its arrays, in words. Said only when it holds on every input."""

from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import Any

import numpy as np

from autograder.checks.explaining.axes import axis_name, common_axes

CHANCE = 1e-3
"""Differences that only happen to lie in such places: at most this probable, were they strewn at random."""

FEW = 4
"""Positions of an axis of which each has a meaning of its own, such as begin, end and kind."""
BUT = "everywhere but "


def where(
    wrong: Sequence[np.ndarray],
    wants: Sequence[np.ndarray],
    cases: Sequence[Mapping[str, Any]],
    names: str = "",
) -> tuple[str, bool]:
    """In which places answers are wrong, and whether these are exactly those.

    One array of truth values, one expected array, one case for each input; ("", False) when nothing simple describes them.
    """
    if any(mask.ndim == 0 for mask in wrong):
        return "", False
    if sum(int(mask.sum()) for mask in wrong) < 2 or all(mask.all() for mask in wrong):
        return "", False
    by_input = [dict(_places(want, case, names)) for want, case in zip(wants, cases, strict=True)]
    common = [
        description for description in by_input[0] if all(description in of_input for of_input in by_input)
    ]
    for description in common:
        if all(
            np.array_equal(of_input[description], mask)
            for of_input, mask in zip(by_input, wrong, strict=True)
        ):
            if description.startswith(BUT):
                if _settled(description, by_input, wants):
                    continue
                return (
                    f"Everything {description.removeprefix(BUT)} is right, and everything else is wrong.",
                    True,
                )
            return f"They are exactly those {description}.", True
    best, least = "", log(CHANCE)
    for description in common:
        places = [of_input[description] for of_input in by_input]
        held, all_places = sum(map(np.sum, places)), sum(place.size for place in places)
        if any((mask & ~place).any() for mask, place in zip(wrong, places, strict=True)):
            continue
        chance = sum(
            mask.sum() * log(place.mean()) for mask, place in zip(wrong, places, strict=True) if mask.any()
        )
        # Told are places that are few enough to mean something, and most of which are wrong.
        if chance < least and held <= 0.75 * all_places and sum(map(np.sum, wrong)) >= 0.25 * held:
            best, least = description, chance
    if best.startswith(BUT):
        if _settled(best, by_input, wants):
            return "", False
        return f"Everything {best.removeprefix(BUT)} is right.", False
    return (f"All of them are {best}.", False) if best else ("", False)


def _settled(
    description: str, by_input: Sequence[Mapping[str, np.ndarray]], wants: Sequence[np.ndarray]
) -> bool:
    """Whether what is right there is a number or two, whatever the input: that it is right shows nothing."""
    right = [want[~of_input[description]] for want, of_input in zip(wants, by_input, strict=True)]
    return len(np.unique(np.concatenate(right))) <= 2


def _places(want: np.ndarray, case: Mapping[str, Any], names: str) -> Iterator[tuple[str, np.ndarray]]:
    """Words and places; what an input marks comes first, for it says more than where something stands."""
    for name, array in case.items():
        if isinstance(array, np.ndarray) and array.size:
            for description, place in _by_input(name, array, case):
                spread = _spread(place, array.ndim, want.shape)
                if spread is not None:
                    yield description, spread
    yield from _by_expected(want)
    yield from _by_index(want.shape, names)
    if want.ndim and want.shape[-1] > 1:  # of numbers that rise, this is the last position
        yield "at the largest expected number of each vector", want == want.max(-1, keepdims=True)


def _by_index(shape: tuple[int, ...], names: str) -> Iterator[tuple[str, np.ndarray]]:
    for axis in common_axes([shape]):
        if shape[axis] < 2:
            continue
        index = np.arange(shape[axis]).reshape(-1, *[1] * (-axis - 1))
        axis_words = axis_name(axis, len(shape), names)
        for middle in range(1, shape[axis] - 1) if shape[axis] <= FEW else ():
            what = f"at position {middle} of {axis_words}, counted from 0"
            yield what, np.broadcast_to(index == middle, shape)
        for what, place in (
            (f"at the first position of {axis_words}", index == 0),
            (f"at the last position of {axis_words}", index == shape[axis] - 1),
            (f"{BUT}at the first position of {axis_words}", index != 0),
            (f"{BUT}at the last position of {axis_words}", index != shape[axis] - 1),
        ):
            yield what, np.broadcast_to(place, shape)
    if len(shape) > 1 and shape[0] > 1:  # the same axis from in front, where inputs have more axes or fewer
        index = np.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1))
        for what, place in (
            ("at the first position of the first axis", index == 0),
            (f"{BUT}at the first position of the first axis", index != 0),
            ("at the last position of the first axis", index == shape[0] - 1),
        ):
            yield what, np.broadcast_to(place, shape)
    if len(shape) > 1 and shape[-1] == shape[-2] > 1:
        row, column = np.indices(shape[-2:])
        for what, place in (
            ("on the diagonal", row == column),
            ("above the diagonal", row < column),
            ("below the diagonal", row > column),
            ("off the diagonal", row != column),
            ("on and above the diagonal", row <= column),
            ("on and below the diagonal", row >= column),
        ):
            yield what, np.broadcast_to(place, shape)


def _by_expected(want: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    yield "where 0 is expected", want == 0
    yield "where a negative number is expected", want < 0
    yield "where −∞ is expected", np.isneginf(want)
    yield "where 1 is expected", want == 1
    if want.dtype.kind in "iu" or (want == np.round(want)).all():
        for value in (-100, -1):
            yield f"where −{-value} is expected", want == value


def _by_input(name: str, array: np.ndarray, case: Mapping[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    """Truth values about `array`: one for each entry, or (without its last axis) one for each vector in it."""
    if array.dtype.kind == "b":
        yield f"where `{name}` is False", ~array
        yield f"where `{name}` is True", array
        if array.ndim > 1:
            yield f"in the rows where every entry of `{name}` is False", ~np.any(array, axis=-1)
            yield f"in the rows where some entry of `{name}` is False", ~np.all(array, axis=-1)
            yield f"in the rows where every entry of `{name}` is True", np.all(array, axis=-1)
        return
    if array.dtype.kind in "iu":
        for other, value in case.items():
            if type(value) is int:
                yield f"where `{name}` is `{other}`", array == value
                if array.ndim > 1:
                    yield f"in the rows where `{name}` contains `{other}`", (array == value).any(-1)
        yield f"where `{name}` is −100", array == -100
        yield f"where `{name}` is negative", array < 0
    yield f"where `{name}` is 0", array == 0
    if array.ndim > 1:
        yield f"in the rows where `{name}` contains only zeros", (array == 0).all(-1)
        yield f"in the rows where all entries of `{name}` are equal", (array == array[..., :1]).all(-1)
    if array.dtype.kind == "f":
        yield f"where `{name}` is negative", array < 0
        yield f"where `{name}` is beyond ±80", np.abs(array) > 80
        if array.ndim > 1:
            yield f"in the rows where `{name}` contains numbers beyond ±80", (np.abs(array) > 80).any(-1)


def _spread(place: np.ndarray, ndim: int, shape: tuple[int, ...]) -> np.ndarray | None:
    """`place` over an answer of `shape`: by its leading axes, as numpy broadcasts it, or by its first and last; or None.

    `ndim` is that of the input: truth values about its vectors have one axis less.
    """
    dims = place.ndim
    if dims > len(shape) or dims == 0:
        return None
    if all(length in (1, size) for length, size in zip(place.shape, shape, strict=False)):
        return np.broadcast_to(place.reshape(place.shape + (1,) * (len(shape) - dims)), shape)
    if dims == ndim and all(
        length in (1, size) for length, size in zip(place.shape, shape[-dims:], strict=True)
    ):
        return np.broadcast_to(place, shape)
    if dims == ndim == 2 and len(shape) > 2 and place.shape == (shape[0], shape[-1]):
        return np.broadcast_to(place.reshape(shape[0], *[1] * (len(shape) - 2), shape[-1]), shape)
    return None
