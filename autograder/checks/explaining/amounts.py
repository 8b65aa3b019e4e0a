"""Numbers that belong to an input: its sizes, its scalar arguments, its counts; and which of them a factor is."""

from collections.abc import Callable, Mapping, Sequence
from math import nan, sqrt
from typing import Any

import numpy as np

from autograder.checks.explaining.axes import axis_name
from autograder.checks.explaining.words import in_words

FORMS = (
    ("{}", lambda n: n),
    ("1/{}", lambda n: 1 / n),
    ("√{}", lambda n: sqrt(n)),
    ("1/√{}", lambda n: 1 / sqrt(n)),
    ("−{}", lambda n: -n),
    ("{}²", lambda n: n * n),
    ("1/{}²", lambda n: 1 / (n * n)),
    ("n/(n − 1), where n is {}", lambda n: n / (n - 1)),
    ("(n − 1)/n, where n is {}", lambda n: (n - 1) / n),
    ("n − 1, where n is {}", lambda n: n - 1),
    ("n + 1, where n is {}", lambda n: n + 1),
    ("√(n/(n − 1)), where n is {}", lambda n: sqrt(n / (n - 1))),
    ("√((n − 1)/n), where n is {}", lambda n: sqrt((n - 1) / n)),
    ("half of {}", lambda n: n / 2),
    ("twice {}", lambda n: n * 2),
)


def amounts(pairs: Sequence[Any], names: str = "") -> dict[str, list[float]]:
    """{in words: its value on each input}. `pairs` have a `case` and the expected array, `want`; `names` are its axes'."""
    by_input = [_of_case(pair.case) | _of_answer(pair.want, names) for pair in pairs]
    return {
        name: [of_input[name] for of_input in by_input]
        for name in by_input[0]
        if all(name in of_input for of_input in by_input)
    }


def _of_case(case: Mapping[str, Any]) -> dict[str, float]:
    named: dict[str, float] = {}
    for name, value in case.items():
        if isinstance(value, bool) or value is None:
            continue
        if isinstance(value, int | float):
            named[f"`{name}`"] = float(value)
        elif isinstance(value, list):
            named[f"the length of `{name}`"] = len(value)
    for name, value in case.items():
        if isinstance(value, np.ndarray):
            named |= _of_array(name, value)
    return named


def _of_array(name: str, array: np.ndarray) -> dict[str, float]:
    named: dict[str, float] = {}
    if array.ndim == 1:
        named[f"the length of `{name}`"] = array.shape[0]
    if array.ndim > 1:
        for axis in range(-1, -array.ndim - 1, -1):
            named[f"`{name}.shape[{axis}]`"] = array.shape[axis]
        named[f"the number of entries of `{name}`"] = array.size
        if array.shape[-1]:
            named[f"the number of vectors in `{name}`"] = array.size // array.shape[-1]
    if array.dtype.kind == "b":
        named[f"the number of True values in `{name}`"] = int(array.sum())
        named[f"the number of False values in `{name}`"] = int((~array).sum())
        if array.size:
            named[f"the proportion of True values in `{name}`"] = float(array.mean())
    return named


def _of_answer(want: np.ndarray, names: str) -> dict[str, float]:
    sizes = {axis_name(axis, want.ndim, names): want.shape[axis] for axis in range(-1, -want.ndim - 1, -1)}
    named = {f"the size of the answer along {along}": float(size) for along, size in sizes.items()}
    return named | ({"the number of entries of the answer": float(want.size)} if want.ndim else {})


def equal_amount(values: Sequence[float], candidates: Mapping[str, Sequence[float]]) -> str:
    """Which of the `candidates`, in which form, `values` are on every input; "" if none.

    One input alone shows nothing: some amount is always near. Two must agree, with different values.
    """
    if len(values) < 2:
        return ""
    for form, of in FORMS:
        for name, amount in candidates.items():
            if _agree(values, [_or_nan(of, value) for value in amount]):
                bare = form == "{}" or ", where" in form or form.endswith(" {}") or name.startswith("`")
                return form.format(name if bare else f"({name})")
    if len(values) < 3:
        return ""
    return _ratio_of_two(values, candidates) or _multiple(values, candidates)


def _multiple(values: Sequence[float], candidates: Mapping[str, Sequence[float]]) -> str:
    """Like `equal_amount`, for a fixed multiple of one of them."""
    for form, of in FORMS[:4]:
        for name, amount in candidates.items():
            made = [_or_nan(of, value) for value in amount]
            times = values[0] / made[0] if made[0] else nan
            if len(set(amount)) > 2 and _agree(values, [times * value for value in made]):
                return f"{in_words(times)} times {form.format(name if name.startswith('`') else f'({name})')}"
    return ""


def _ratio_of_two(values: Sequence[float], candidates: Mapping[str, Sequence[float]]) -> str:
    """Like `equal_amount`, for a quotient of two of them and its root; on three inputs or more."""
    different: dict[tuple[float, ...], str] = {}
    for name, amount in candidates.items():
        if all(amount) and len(set(amount)) > 1:
            different.setdefault(tuple(amount), name)
    for above, over in different.items():
        for below, under in different.items():
            quotients = [upper / lower for upper, lower in zip(above, below, strict=True)]
            if _agree(values, quotients):
                return f"{over} divided by {under}"
            if _agree(values, [_or_nan(sqrt, quotient) for quotient in quotients]):
                return f"the square root of the ratio of {over} to {under}"
    return ""


def _or_nan(of: Callable[[float], float], amount: float) -> float:
    try:
        return of(amount)
    except (ValueError, ZeroDivisionError, OverflowError):
        return nan


def _agree(values: Sequence[float], made: Sequence[float]) -> bool:
    return all(
        abs(candidate - value) <= 3e-4 * abs(value) for candidate, value in zip(made, values, strict=True)
    )
