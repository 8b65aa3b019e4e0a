"""Whether yours is a well-known function of the expected numbers, or the expected of yours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from autograder.checks.explaining.axes import axis_name, common_axes
from autograder.checks.explaining.nearness import ENOUGH, Pairs, count, different, near

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Step:
    """A well-known function, and the sentences for who took it beyond the expected numbers, and for who left it out.

    shown_by    how many different values must come of it: any number between 0 and 1 rounds to one of them.
    """

    function: Function
    taken: str = ""
    left_out: str = ""
    shown_by: int = 2


def _plain(name: str, function: Function) -> Step:
    return Step(
        function,
        f"Your numbers are {name} of the expected ones.",
        f"The expected numbers are {name} of yours: is that step missing?",
    )


def _rounded(how: str, function: Function) -> Step:
    return Step(
        function,
        f"Your numbers are the expected ones, rounded {how}.",
        f"The expected numbers are your numbers rounded {how}.",
        shown_by=4,
    )


FUNCTIONS = (
    _plain("the exponential (exp)", np.exp),
    _plain("the logarithm (log)", np.log),
    _plain("the negative logarithm (−log)", lambda x: -np.log(x)),
    _plain("the base-2 logarithm", np.log2),
    _plain("the square", np.square),
    _plain("the square root", np.sqrt),
    Step(np.reciprocal, "Your numbers are the reciprocals of the expected ones."),
    Step(lambda x: 1 - x, "Your numbers are one minus the expected ones."),
    Step(
        np.abs,
        "Your numbers are the absolute values of the expected ones, but some of the expected numbers are negative.",
        "The expected numbers are the absolute values of yours: none of the expected numbers is negative.",
    ),
    _plain("the hyperbolic tangent (tanh)", np.tanh),
    _plain("the sigmoid", lambda x: 1 / (1 + np.exp(-x))),
    Step(
        lambda x: np.maximum(x, 0),
        "Your numbers are the expected ones, except that you return 0 where a negative number is expected.",
        "Your positive numbers are the expected ones; your negative numbers should be 0.",
    ),
    _rounded("to the nearest whole number", np.round),
    _rounded("down", np.floor),
    _rounded("up", np.ceil),
    Step(
        lambda x: np.clip(x, 0, 1),
        left_out="Your numbers are the expected ones, except for those below 0 or above 1, which should be clipped to 0 or 1.",
    ),
)


def _softmax(x: np.ndarray, axis: int) -> np.ndarray:
    raised = np.exp(x - x.max(axis, keepdims=True))
    return raised / raised.sum(axis, keepdims=True)


ALONG: tuple[tuple[str, Callable[..., np.ndarray]], ...] = (
    ("the softmax", _softmax),
    ("the log-softmax", lambda x, axis: np.log(_softmax(x, axis))),
    ("division by the sum", lambda x, axis: x / x.sum(axis, keepdims=True)),
    ("division by the length (the square root of the sum of squares)", lambda x, axis: x / np.sqrt((x**2).sum(axis, keepdims=True))),
    ("division by the largest number", lambda x, axis: x / x.max(axis, keepdims=True)),
    ("subtraction of the mean", lambda x, axis: x - x.mean(axis, keepdims=True)),
    ("subtraction of the largest number", lambda x, axis: x - x.max(axis, keepdims=True)),
    ("sorting", lambda x, axis: np.sort(x, axis)),
)  # fmt: skip


def function_of(pairs: Pairs, names: str) -> str:
    """Yours is a well-known function of the expected, or the other way round."""
    yours, expected = [pair.got for pair in pairs], [pair.want for pair in pairs]
    if all(set(np.unique(array)) <= {0, 1} for array in (*yours, *expected)):
        return _opposite(yours, expected)
    values = count(np.concatenate([array.ravel() for array in yours]))
    if not different(expected, ENOUGH) or values < 2:
        return ""
    vary = values >= ENOUGH  # one number shows no function
    for step in FUNCTIONS:
        if step.taken and _gives(step.function, expected, yours) and _values(yours) >= step.shown_by:
            return step.taken
        shown = vary and _values(expected) >= step.shown_by
        if step.left_out and shown and _gives(step.function, yours, expected):
            return step.left_out
    for axis in common_axes([array.shape for array in expected]):
        where = axis_name(axis, expected[0].ndim, names)
        for operation, function in ALONG:
            along = partial(function, axis=axis)
            if _gives(along, expected, yours):
                return f"Your answer contains one step too many: {operation} over {where}."
            if vary and _gives(along, yours, expected):
                return f"One step is missing from your answer: {operation} over {where}."
    return ""


def _values(arrays: Sequence[np.ndarray]) -> int:
    return len(np.unique(np.concatenate([array.ravel() for array in arrays])))


def _opposite(yours: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> str:
    mixed = any(len(np.unique(array)) > 1 for array in expected)
    if (
        not mixed
        or sum(array.size for array in expected) <= 2 * ENOUGH
        or not _gives(lambda x: 1 - x, expected, yours)
    ):
        return ""
    return "Your answer is the opposite of the expected one: 1 (True) where 0 (False) is expected, and vice versa."


def _gives(function: Function, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> bool:
    return all(near(output, function(argument)) for argument, output in zip(inputs, outputs, strict=True))
