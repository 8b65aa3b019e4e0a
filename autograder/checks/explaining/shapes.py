"""Wrong shapes in words: which axes are swapped, missing or too many, and what the numbers show about them."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from autograder.checks.explaining.axes import axis_name, common_axes
from autograder.checks.explaining.nearness import MOST, near
from autograder.checks.explaining.words import enumerated

REDUCTIONS: tuple[tuple[str, Callable[[np.ndarray, int], np.ndarray]], ...] = (
    ("the sums", lambda x, axis: x.sum(axis)),
    ("the means", lambda x, axis: x.mean(axis)),
    ("the maxima", lambda x, axis: x.max(axis)),
    ("the positions of the maxima (argmax)", lambda x, axis: x.argmax(axis)),
    ("the minima", lambda x, axis: x.min(axis)),
    ("the first entries", lambda x, axis: x.take(0, axis)),
    ("the last entries", lambda x, axis: x.take(-1, axis)),
    ("the square roots of the sums of squares", lambda x, axis: np.sqrt((x**2).sum(axis))),
)


NOTHING = (0,)
"""The shape of an answer that is empty, and of what a check gives where there is no array to give, such as no gradient."""


def shape_sentence(got: tuple[int, ...], want: tuple[int, ...], axes: str = "") -> str:
    """What a wrong shape looks like: which axes are swapped, missing or too many."""
    if got == NOTHING or want == NOTHING:
        return _there_is_none(got, want)
    names = axes.split() if len(axes.split()) == len(want) else []
    names = [] if any(name.isdecimal() for name in names) else names

    def name(axis: int) -> str:
        return f"{names[axis]} ({want[axis]})" if names else f"axis {axis} (size {want[axis]})"

    def subject(axes: Sequence[int]) -> str:
        said = enumerated(map(name, axes))
        return f"The {'axis' if len(axes) == 1 else 'axes'} {said}" if names else f"A{said[1:]}"

    expected = ", ".join(f"{n}={size}" for n, size in zip(names, want, strict=True)) if names else ""
    facts = f"Your shape is {got}; the expected shape is {want}" + (f" ({expected})." if expected else ".")
    if len(got) == len(want) and sorted(got) == sorted(want):
        moved = [axis for axis in range(len(want)) if got[axis] != want[axis]]
        return f"{facts} {subject(moved)} look swapped."
    if len(got) < len(want):
        missing = _left_over(want, got)
        if len(missing) == len(want) - len(got):
            missed = "is missing: was it" if len(missing) == 1 else "are missing: were they"
            return f"{facts} {subject(missing)} {missed} summed or squeezed away?"
    if len(got) > len(want):
        extra = _left_over(got, want)
        if len(extra) == len(got) - len(want):
            sizes = enumerated(f"axis {axis} of size {got[axis]}" for axis in extra)
            question = (
                " Is a keepdim or an unsqueeze left over?" if all(got[axis] == 1 for axis in extra) else ""
            )
            return f"{facts} {'One axis' if len(extra) == 1 else f'{len(extra)} axes'} too many: {sizes}.{question}"
    if len(got) == len(want):
        off = [axis for axis in range(len(want)) if got[axis] != want[axis]]
        return f"{facts} Look at {enumerated(dict.fromkeys(f'{name(axis)}, which has size {got[axis]} in your answer' for axis in off))}."
    return facts


def _there_is_none(got: tuple[int, ...], want: tuple[int, ...]) -> str:
    if want == NOTHING:
        return f"Nothing is expected here; your array has the shape {got}."
    return f"Your array is empty; {f'the shape {want}' if want else 'a number'} is expected."


def _left_over(longer: tuple[int, ...], shorter: tuple[int, ...]) -> list[int]:
    """Axes of `longer` that remain when `shorter` is read off it in order, from the right; [] if impossible."""
    left, remaining = [], list(shorter)
    for axis in reversed(range(len(longer))):
        if remaining and remaining[-1] == longer[axis]:
            remaining.pop()
        else:
            left.append(axis)
    return [] if remaining else sorted(left)


def numbers_despite_shape(got: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> str:
    """What the numbers of answers of wrong shape show: that they are right, or a sum, mean, … of the expected, or ""."""
    if sum(array.size for array in (*got, *want)) > MOST or any(array.size == 0 for array in (*got, *want)):
        return ""
    pairs = [(a.astype(np.float64), b.astype(np.float64)) for a, b in zip(got, want, strict=True)]
    if len(np.unique(np.concatenate([b.ravel() for _, b in pairs]))) < 3:
        return ""
    with np.errstate(all="ignore"):
        for axes in combinations(common_axes([array.shape for pair in pairs for array in pair]), 2):
            if all(near(a.swapaxes(*axes), b) for a, b in pairs):
                return "If these axes are exchanged, all of your numbers are right."
        if all(a.size == b.size and near(a.ravel(), b.ravel()) for a, b in pairs):
            return "Your numbers are right; only their shape is not."
        dims = {(a.ndim - b.ndim) for a, b in pairs}
        for reduction, reduce in REDUCTIONS:
            for axis in (-1, -2, -3):
                if dims == {-1} and all(_reduces(b, a, reduce, axis) for a, b in pairs):
                    return f"Your numbers are {reduction} of the expected ones along {axis_name(axis, 2)}."
                if dims == {1} and all(_reduces(a, b, reduce, axis) for a, b in pairs):
                    return f"The expected numbers are {reduction} of yours along {axis_name(axis, 2)}."
        for reduction, of_all in (("mean", np.mean), ("sum", np.sum)):
            if max(dims) > 0 and all(b.ndim == 0 and near(np.asarray(of_all(a)), b) for a, b in pairs):
                return f"The expected number is the {reduction} of all your numbers."
        from_the_end = [(np.flip(a), np.flip(b)) for a, b in pairs]
        for place, turned in (("beginning", pairs), ("end", from_the_end)):
            if all(a.ndim == b.ndim and a.ndim > 0 and _overlap(a, b) for a, b in turned):
                return f"If your answer and the expected one are aligned at the {place}, the numbers that overlap are right."
    return ""


def size_written_as_number(
    wrong: Sequence[tuple[tuple[int, ...], tuple[int, ...]]], right: Sequence[tuple[int, ...]], axes: str = ""
) -> str:
    """The sentence for an axis that has one size in all answers, also where others are expected; or "".

    `wrong` are (your, expected) shapes; `right` the shapes of the answers that came out right. One wrong answer alone
    shows nothing; nor do axes that have changed places, or a size of 1, which an unsqueeze leaves behind.
    """
    shapes = [shape for pair in wrong for shape in pair] + list(right)
    swapped = any(sorted(got) == sorted(want) for got, want in wrong)
    if not wrong or swapped or len({len(shape) for shape in shapes}) != 1:
        return ""
    for axis in range(len(shapes[0])):
        fixed = {got[axis] for got, _ in wrong} | {shape[axis] for shape in right}
        asked = {want[axis] for _, want in wrong}
        if len(fixed) == 1 and fixed != {1} and not fixed & asked and len(asked) + bool(right) > 1:
            names = axes.split()
            axis_named = f"Axis {names[axis]}" if len(names) == len(shapes[0]) else f"Axis {axis}"
            sizes = " or ".join(map(str, sorted(asked)))
            return (
                f"{axis_named} has size {fixed.pop()} in all of your answers, even where {sizes} is expected: "
                "did you write a size as a number instead of reading it from the shape?"
            )
    return ""


def size_in_errors(
    messages: Sequence[str], wrong: Sequence[Mapping[str, Any]], right: Sequence[Mapping[str, Any]]
) -> str:
    """The sentence for errors that speak of a size which the inputs that came out right have, and the others have not; or "".

    `messages` are the last lines of the errors, `wrong` and `right` the inputs.
    """
    spoken = [{int(item) for item in re.findall(r"\b\d{1,6}\b", message[:1000])} for message in messages]
    for name in right[0]:
        values = [case.get(name) for case in (*wrong, *right)]
        arrays = [value for value in values if isinstance(value, np.ndarray)]
        if len(arrays) < len(values) or len({array.ndim for array in arrays}) != 1:
            continue
        for axis in range(-1, -arrays[0].ndim - 1, -1):
            sizes = {case[name].shape[axis] for case in right}
            if len(sizes) == 1 and all(
                sizes <= numbers and not sizes & _sizes(case)
                for numbers, case in zip(spoken, wrong, strict=True)
            ):
                size = f"`{name}.shape[{axis}]`" if arrays[0].ndim > 1 else f"`len({name})`"
                return (
                    f"The error mentions {sizes.pop()}. This is {size} on the inputs where your answer is right, but here {size} is "
                    f"{wrong[0][name].shape[axis]}: did you write a size as a number instead of reading it from the shape?"
                )
    return ""


def _sizes(case: Mapping[str, Any]) -> set[int]:
    """All sizes of a case's arrays, and its whole numbers."""
    shapes = {size for value in case.values() if isinstance(value, np.ndarray) for size in value.shape}
    return shapes | {value for value in case.values() if type(value) is int}


def _reduces(longer: np.ndarray, shorter: np.ndarray, reduce: Any, axis: int) -> bool:
    return longer.ndim >= -axis and longer.shape[axis] > 1 and near(reduce(longer, axis), shorter)


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether the numbers agree where both arrays have some, aligned at the beginning."""
    both = tuple(slice(0, min(sizes)) for sizes in zip(a.shape, b.shape, strict=True))
    return a[both].size > 2 and near(a[both], b[both])
