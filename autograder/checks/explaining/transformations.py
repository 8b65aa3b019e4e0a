"""What one operation makes of the expected numbers yours, or of yours the expected ones, in words.

Nothing here knows an exercise. A sentence is said only when the numbers of every input show it.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from autograder.checks.explaining.amounts import amounts, equal_amount
from autograder.checks.explaining.axes import axis_name, common_axes
from autograder.checks.explaining.nearness import (
    ENOUGH,
    Pair,
    Pairs,
    all_equal,
    close,
    count,
    different,
    near,
    scale_of,
)
from autograder.checks.explaining.orders import in_other_places
from autograder.checks.explaining.properties import ALONG
from autograder.checks.explaining.steps import function_of
from autograder.checks.explaining.words import in_words, known_number, listed, number


def transformation(pairs: Pairs, names: str = "") -> str:
    """One or two sentences that say how the numbers of all `pairs` differ, or "".

    `names` are those of the last axes, as in Rule.axes.
    """
    if any(pair.want.size == 0 for pair in pairs):
        return ""
    looks = (_one_number, _an_input, _factor, _offset, function_of, in_other_places, _lacks_input, _power)
    return next(filter(None, (look(pairs, names) for look in looks)), "")


def up_to_rows(pairs: Pairs, names: str = "", axes: Sequence[int] | None = None) -> str:
    """A sentence if all `pairs` differ by a factor or an addend for each vector, or by both for all numbers, or ""."""
    if any(pair.want.size == 0 for pair in pairs):
        return ""
    return _by_rows(pairs, names, axes) or _line(pairs) or _lines(pairs)


def where_they_differ(pairs: Pairs) -> str:
    """What the numbers are like in the places that differ, when that is the same on all inputs, or ""."""
    there = [
        Pair(pair.got[pair.wrong], pair.want[pair.wrong], pair.case, pair.wrong[pair.wrong])
        for pair in pairs
        if pair.got.shape
    ]
    if len(there) < len(pairs) or sum(pair.got.size for pair in there) < ENOUGH:
        return ""
    yours, expected = (np.concatenate([getattr(pair, side) for pair in there]) for side in ("got", "want"))
    if not (yours.size and (yours == expected).all()):
        mine = _always([pair.got for pair in there], there)
        theirs = _always([pair.want for pair in there], there)
        if mine and theirs:
            return f"Where they differ, your number is {mine} and {theirs} is expected."
        if mine:
            return f"Where they differ, your number is always {mine}."
    if all((pair.want == np.round(pair.want)).all() for pair in there):
        return _begin_with_where(_offset(there, "") or function_of(there, ""))
    for look in (_factor, _offset, function_of):
        sentence = look(there, "")
        if sentence and not sentence.startswith("On each input"):
            return _begin_with_where(sentence)
    return ""


def _begin_with_where(sentence: str) -> str:
    return f"Where they differ: {sentence[0].lower()}{sentence[1:]}" if sentence else ""


def _always(arrays: Sequence[np.ndarray], pairs: Pairs) -> str:
    """The one number that all of these are, or the one argument, on each input; or ""."""
    if any((array != array.flat[0]).any() for array in arrays):
        return ""
    firsts = [float(array.flat[0]) for array in arrays]
    for name, value in pairs[0].case.items():
        if type(value) is int and all(
            type(pair.case.get(name)) is int and pair.case[name] == first
            for pair, first in zip(pairs, firsts, strict=True)
        ):
            return f"`{name}`" if len(set(firsts)) > 1 else f"{number(firsts[0])} (`{name}`)"
    return number(firsts[0]) if len(set(firsts)) == 1 else ""


# ------------------------------------------------------------------------------------------ looks, in their order


def _one_number(pairs: Pairs, names: str) -> str:
    """Yours is one number throughout, or all of its rows are the same."""
    if sum(pair.got.size for pair in pairs) < ENOUGH or all(pair.got.size == 1 for pair in pairs):
        return ""
    if any((pair.want == pair.want.flat[0]).all() for pair in pairs if pair.want.size > 1):
        return ""
    firsts = {float(pair.got.flat[0]) for pair in pairs}
    if len(firsts) == 1 and all((pair.got == pair.got.flat[0]).all() for pair in pairs):
        return f"All of your numbers are {number(firsts.pop())}."
    if all((pair.got == pair.got.flat[0]).all() for pair in pairs):
        return "All numbers in your answer are equal."
    for axis in common_axes([pair.want.shape for pair in pairs]):
        if all(
            pair.want.ndim > 1 and _constant(pair.got, axis) and not _constant(pair.want, axis)
            for pair in pairs
        ):
            where = axis_name(axis, pairs[0].want.ndim, names)
            return f"Your answer is the same at every position of {where}."
    return ""


def _constant(array: np.ndarray, axis: int) -> bool:
    first = np.take(array, [0], axis)
    return array.shape[axis] > 1 and bool(close(array, first, 1e-6 * scale_of(array)).all())


def _an_input(pairs: Pairs, names: str) -> str:
    """Yours is one of the inputs as it was given."""
    for name, inputs in _float_inputs(pairs):
        if all(
            array.shape == pair.got.shape and near(pair.got, array)
            for array, pair in zip(inputs, pairs, strict=True)
        ) and different(inputs, ENOUGH):
            return f"Your answer is the input `{name}` as it was given."
    return ""


def _factor(pairs: Pairs, names: str) -> str:
    """Yours is a multiple of the expected: of one number on each input."""
    factors = []
    for pair in pairs:
        finite = np.isfinite(pair.want) & np.isfinite(pair.got)
        square = float((pair.want[finite] ** 2).sum())
        if not square:
            return ""
        factor = float((pair.got[finite] * pair.want[finite]).sum()) / square
        if not np.isfinite(factor) or abs(factor) < 1e-12 or not near(pair.got, factor * pair.want):
            return ""
        factors.append(factor)
    if all(map(_is_one, factors)):
        return ""
    if all_equal(factors, 2e-4):
        if not different([pair.want for pair in pairs], 2):
            return _ratio(pairs, factors[0])
        return _times(factors[0])
    cause = equal_amount(factors, amounts(pairs, names))
    shown = sum(count(pair.want) - 1 for pair in pairs) >= ENOUGH
    if cause:
        return f"Your numbers are the expected ones multiplied by {cause}: {listed(factors)} on these inputs."
    if shown:
        return (
            f"On each input all of your numbers are the expected ones times a single factor: {listed(factors)}. "
            "Which quantity differs between the inputs by these factors?"
        )
    return ""


def _is_one(factor: float) -> bool:
    """As far as a sentence shows it."""
    return number(factor) == "1"


def _times(factor: float) -> str:
    if abs(factor + 1) < 1e-4:
        return "Your numbers are the expected ones with the opposite sign."
    return f"Your numbers are {in_words(factor)} times the expected ones."


def _ratio(pairs: Pairs, factor: float) -> str:
    """For a single number: what it is, and its ratio only if that is a number known by name."""
    if abs(factor + 1) < 1e-4:
        return "Your number is the expected one with the opposite sign."
    constant = known_number(factor, 1e-5)
    return f"Your number is {number(factor)} times the expected one: {constant}." if constant else ""


def _offset(pairs: Pairs, names: str) -> str:
    """Yours is the expected plus one number on each input."""
    offsets = []
    for pair in pairs:
        finite = np.isfinite(pair.want) & np.isfinite(pair.got)
        if not finite.any():
            return ""
        offset = float(np.mean(pair.got[finite] - pair.want[finite]))
        if not near(pair.got - offset, pair.want) or abs(offset) < 1e-6 * scale_of(pair.want):
            return ""
        offsets.append(offset)
    if not different([pair.want for pair in pairs], 2):
        return ""
    if all_equal(offsets, 2e-4):
        more = "larger" if offsets[0] > 0 else "smaller"
        return f"Your numbers are all {more} than the expected ones by {number(abs(offsets[0]))}."
    cause = equal_amount(offsets, amounts(pairs, names))
    if cause:
        return f"Your numbers are the expected ones plus {cause}: {listed(offsets)} on these inputs."
    if sum(count(pair.want) - 1 for pair in pairs) >= ENOUGH:
        return f"On each input all of your numbers are off by the same amount: {listed(offsets)}."
    return ""


def _power(pairs: Pairs, names: str) -> str:
    """Yours are the expected ones to a power, perhaps made to sum to 1 again, as a softmax at another temperature is."""
    if any((pair.got < 0).any() or (pair.want < 0).any() for pair in pairs):
        return ""
    along = [None, *common_axes([pair.want.shape for pair in pairs])]
    for axis in along:
        powers = [power for pair in pairs if (power := _power_of(pair, axis)) is not None]
        if len(powers) < len(pairs):
            continue
        again = " and normalised again to sum to 1" if axis is not None else ""
        if all_equal(powers, 1e-3):
            return f"Your numbers are the expected ones raised to the power {in_words(powers[0])}{again}."
        return f"On each input your numbers are the expected ones raised to a single power ({listed(powers)}){again}."
    return ""


def _power_of(pair: Pair, axis: int | None) -> float | None:
    """The power, other than 1 and 0, to which yours are the expected numbers, each vector divided by its sum; or None."""
    positive = (pair.want > 1e-6) & (pair.got > 1e-12)
    if not np.array_equal(pair.want > 1e-6, positive) or count(pair.want[positive]) < 2 + ENOUGH:
        return None
    log_got, log_want = (np.log(np.where(positive, one, 1)) for one in (pair.got, pair.want))
    if axis is not None:
        sums = [one.sum(axis) for one in (pair.got, pair.want)]
        if not all(np.allclose(one, 1, atol=1e-3) for one in sums):
            return None
        counts = np.maximum(positive.sum(axis, keepdims=True), 1)
        log_got, log_want = (
            np.where(positive, one - one.sum(axis, keepdims=True) / counts, 0) for one in (log_got, log_want)
        )
    square = float((log_want**2).sum())
    power = float((log_got * log_want).sum() / square) if square else 0.0
    fits = np.abs(log_got - power * log_want) <= 1e-3 * max(1.0, abs(power))
    return power if fits.all() and abs(power) > 1e-2 and abs(power - 1) > 1e-2 else None


def _lacks_input(pairs: Pairs, names: str) -> str:
    """The difference, or the ratio, is one of the inputs."""
    for name, inputs in _float_inputs(pairs):
        if not different(inputs, ENOUGH) or not all(
            _broadcasts(array.shape, pair.want.shape) for array, pair in zip(inputs, pairs, strict=True)
        ):
            continue
        both = list(zip(inputs, pairs, strict=True))
        if all(near(pair.got + array, pair.want) for array, pair in both):
            return f"`{name}` is missing from your answer: the expected numbers minus yours are exactly `{name}`."
        if all(near(pair.got - array, pair.want) for array, pair in both):
            return f"Your answer contains `{name}` once too often: your numbers minus the expected ones are exactly `{name}`."
        if all(near(pair.got * array, pair.want) for array, pair in both):
            return f"The factor `{name}` is missing from your answer: the expected numbers divided by yours are exactly `{name}`."
        if all(near(pair.got, pair.want * array) for array, pair in both):
            return f"Your answer contains the factor `{name}` once too often: your numbers divided by the expected ones are exactly `{name}`."
        shares = [
            float(((pair.got - pair.want) * array).sum() / max((array**2).sum(), 1e-30))
            for array, pair in both
        ]
        fits = all(
            near(pair.got - share * array, pair.want)
            for share, (array, pair) in zip(shares, both, strict=True)
        )
        if fits and all_equal(shares, 2e-4) and abs(shares[0]) > 1e-3:
            return f"Your numbers minus the expected ones are {in_words(shares[0])} times `{name}`."
    return ""


def _by_rows(pairs: Pairs, names: str, axes: Sequence[int] | None = None) -> str:
    """Yours is the expected up to a factor or an addend for each vector along one axis."""
    dims = pairs[0].want.ndim
    for axis in reversed(axes or common_axes([pair.want.shape for pair in pairs])):
        if any(pair.want.ndim < 2 or pair.want.shape[axis] < 2 for pair in pairs):
            continue
        if sum(count(pair.want) - pair.want.size // pair.want.shape[axis] for pair in pairs) < 2 * ENOUGH:
            continue
        where = axis_name(axis, dims, names)
        factors = [factor for pair in pairs if (factor := _factors_along(pair, axis)) is not None]
        if len(factors) == len(pairs):
            if all(np.allclose(np.abs(factor[np.isfinite(factor)]), 1, atol=1e-3) for factor in factors):
                return f"Your numbers have the right magnitude; some vectors along {where} have the opposite sign."
            return (
                f"Along {where} the proportions are right: each vector is the expected one times a factor of its own"
                f"{_cause_by_rows(pairs, factors, axis)}."
            )
        if all(
            near(pair.got - (pair.got - pair.want).mean(axis, keepdims=True), pair.want) for pair in pairs
        ):
            return f"Along {where} all of your numbers are off by the same amount: the differences between them are right."
    return ""


def _factors_along(pair: Pair, axis: int) -> np.ndarray | None:
    """The factor of each vector along `axis` (that axis of size 1), or None when there is no such factor."""
    if not (np.isfinite(pair.got).all() and np.isfinite(pair.want).all()):
        return None
    squares = (pair.want**2).sum(axis, keepdims=True)
    factors = (pair.got * pair.want).sum(axis, keepdims=True) / np.where(squares > 0, squares, 1)
    if not near(pair.got, factors * pair.want) or (np.abs(factors[squares > 0]) < 1e-9).any():
        return None
    return np.where(squares > 0, factors, np.nan)


def _cause_by_rows(pairs: Pairs, factors: Sequence[np.ndarray], axis: int) -> str:
    """What the factors of the vectors are: a count of a mask, the place; or the property that they spoil."""
    for name in pairs[0].case:
        arrays = [value for pair in pairs if isinstance(value := pair.case.get(name), np.ndarray)]
        masks = [array for array in arrays if array.dtype.kind == "b" and array.ndim == 2]
        if len(masks) < len(pairs) or not all(
            len(mask) == factor.shape[0] for mask, factor in zip(masks, factors, strict=True)
        ):
            continue
        for quantity, count_of in (
            (f"the number of True values in its row of `{name}`", lambda mask: mask.sum(1)),
            (f"the proportion of True values in its row of `{name}`", lambda mask: mask.mean(1)),
            (f"the number of False values in its row of `{name}`", lambda mask: (~mask).sum(1)),
        ):
            counts = [
                count_of(mask).reshape(-1, *[1] * (factor.ndim - 1)).astype(float)
                for mask, factor in zip(masks, factors, strict=True)
            ]
            if all(_like(factor, value) for factor, value in zip(factors, counts, strict=True)):
                return f", {quantity}"
            if all(_like(factor, 1 / value) for factor, value in zip(factors, counts, strict=True)):
                return f", one over {quantity}"
    for claim, not_yours, holds in ALONG[:2]:  # a factor changes sums and lengths of 1
        if all(holds(pair.want, axis) for pair in pairs) and not any(holds(pair.got, axis) for pair in pairs):
            return f". The expected vectors {claim}, but {not_yours}"
    return ""


def _like(factor: np.ndarray, value: np.ndarray) -> bool:
    finite = np.isfinite(factor)
    if not finite.any() or np.ptp(factor[finite]) < 1e-6:
        return False
    value = np.broadcast_to(value, factor.shape)
    return bool(np.allclose(factor[finite], value[finite], rtol=1e-3))


def _line(pairs: Pairs) -> str:
    """Yours is a multiple of the expected plus a number, the same two on all inputs."""
    yours = np.concatenate([pair.got.ravel() for pair in pairs])
    expected = np.concatenate([pair.want.ravel() for pair in pairs])
    if not (np.isfinite(yours).all() and np.isfinite(expected).all()) or count(expected) < 2 + ENOUGH:
        return ""
    spread = expected - expected.mean()
    factor = float((spread * yours).sum() / max((spread**2).sum(), 1e-300))
    offset = float(yours.mean() - factor * expected.mean())
    if abs(factor) > 1e-6 and not _is_one(factor) and near(yours, factor * expected + offset):
        return f"Your numbers are {number(factor)} times the expected ones {'plus' if offset > 0 else 'minus'} {number(abs(offset))}."
    return ""


def _lines(pairs: Pairs) -> str:
    """Yours is on each input a multiple of the expected plus a number: as where they are standardised."""
    if all(pair.want.ndim < 1 or count(pair.want) < 2 + 2 * ENOUGH for pair in pairs):
        return ""
    for pair in pairs:
        spread = pair.want - pair.want.mean()
        square = float((spread**2).sum())
        if not (np.isfinite(pair.got).all() and np.isfinite(pair.want).all()) or not square:
            return ""
        factor = float((spread * pair.got).sum()) / square
        if abs(factor) < 1e-6 or not near(
            pair.got, factor * pair.want + (pair.got - factor * pair.want).mean()
        ):
            return ""
    return "On each input your numbers are a multiple of the expected ones plus a constant, and both differ from input to input."


def _broadcasts(inner: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(inner, shape) == shape
    except ValueError:
        return False


def _float_inputs(pairs: Pairs) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Names and values of the inputs that are arrays of numbers on every input."""
    for name in pairs[0].case:
        arrays = [value for pair in pairs if isinstance(value := pair.case.get(name), np.ndarray)]
        if len(arrays) == len(pairs) and all(array.dtype.kind in "fiu" and array.size for array in arrays):
            yield name, [array.astype(np.float64) for array in arrays]
