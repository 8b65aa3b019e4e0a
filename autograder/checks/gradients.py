"""Whether a model can be trained through an answer: the gradients with respect to the inputs of a call.

A check that is given `gradients` calls the student's function once more, with inputs that require gradients. The
gradients are those of a fixed random projection of the output.
"""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checks.tracebacks import message

NO_GRADIENT = np.zeros(0)
"""Stands for the gradient of an input that is not connected to the output."""
TOLERANCE = 0.01
"""Relative to the largest number of the expected gradient: rounding stays far below, and a cut far above it."""
NEGLIGIBLE = 1e-3
"""Relative to the largest gradient of a call: no smaller one is compared."""
NEEDED = "The notebook computes gradients through this function"
CUTS = "`detach`, `no_grad`, `.data`, `.item()`, `.tolist()`, `torch.tensor(…)` and NumPy cut"


@dataclass(frozen=True)
class Differentiable:
    """The call of a check that asks for gradients as well: with True at all its inputs, or at those that are named."""

    call: Callable[[Mapping[str, Any]], Any]
    at: bool | Sequence[str] = True


def gradients_of(asked: Differentiable, arguments: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], str]:
    """The gradient at each tensor of floats that is asked about, and the error that prevented all of them, or "".

    Never raises for what the student's code does.
    """
    import torch  # optional: a course in numpy does without

    named = arguments if isinstance(asked.at, bool) else asked.at
    leaves = {
        name: value.requires_grad_()
        for name, value in arguments.items()
        if isinstance(value, torch.Tensor) and value.is_floating_point() and name in named
    }
    try:
        # A notebook may have switched gradients off where it needs none; and what a function prints was shown before.
        with torch.enable_grad(), redirect_stdout(io.StringIO()):
            copies = {name: leaf.clone() for name, leaf in leaves.items()}
            total = _projection(asked.call({**arguments, **copies}))
        if not total.requires_grad:
            return dict.fromkeys(leaves, NO_GRADIENT), ""
        slopes = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
        found = [NO_GRADIENT if slope is None else slope.to_dense().numpy() for slope in slopes]
    except (Exception, SystemExit) as error:
        return dict.fromkeys(leaves, NO_GRADIENT), _in_words(error)
    return dict(zip(leaves, found, strict=True)), ""


def _projection(value: Any) -> Any:
    """One number of all finite numbers of an output, whatever holds them; in float64."""
    import torch  # optional: as in `gradients_of`

    numbers = torch.cat(list(_flat(value)))
    weights = torch.from_numpy(np.random.default_rng(0).standard_normal(len(numbers)))
    return torch.where(numbers.isfinite(), numbers, 0.0) @ weights


def _flat(value: Any) -> Iterator[Any]:
    """The numbers of an output in their order, as tensors with one axis. A dictionary's order is that of its names."""
    import torch  # optional: as in `gradients_of`

    if isinstance(value, torch.Tensor):
        yield value.reshape(-1).double()
    elif isinstance(value, dict):
        yield from _flat([value[name] for name in sorted(value)])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _flat(part)
    else:
        yield torch.from_numpy(np.array(value, np.float64)).reshape(-1)


def _in_words(error: BaseException) -> str:
    text = message(error)
    if "on Tensor that requires grad" in text:
        return ""  # NumPy was called; torch's own advice, `detach`, would cut the gradient off as well
    if "inplace operation" in text:
        return (
            "a line such as `x += …` or `x[…] = …` writes over numbers that the gradient still needs; make a new "
            "tensor instead"
        )
    return f"{type(error).__name__}: {text}"[:300].rstrip(".")


def what_is_cut(
    got: Mapping[str, np.ndarray], want: Mapping[str, np.ndarray], tolerance: float
) -> tuple[list[str], list[str]]:
    """The inputs that no gradient reaches although it should, and those that a wrong one reaches.

    Numbers that are not finite on either side are not compared: where a formula meets 0 · ∞ its value may be right.
    """
    none, other = [], []
    for name in _that_count(want):
        found, expected = got.get(name, NO_GRADIENT), want[name]
        if not found.size or found.shape != expected.shape or not np.any(found):
            none.append(name)
        elif not _close(found, expected, tolerance):
            other.append(name)
    return none, other


def same_gradients(got: Mapping[str, np.ndarray], recorded: Mapping[str, np.ndarray]) -> bool:
    """Whether gradients are those of a known mistake."""
    if {name: one.shape for name, one in got.items()} != {name: one.shape for name, one in recorded.items()}:
        return False
    return all(_close(got[name], recorded[name], TOLERANCE) for name in _that_count(recorded))


def _that_count(gradients: Mapping[str, np.ndarray]) -> list[str]:
    """The inputs whose gradients exceed the rounding errors of the largest one; those of a saturated softmax do not."""
    sizes = {name: float(np.abs(one[np.isfinite(one)]).max(initial=0.0)) for name, one in gradients.items()}
    least = NEGLIGIBLE * max(NEGLIGIBLE, *sizes.values()) if sizes else 0.0
    return sorted(name for name, size in sizes.items() if size > least)  # a file keeps no order


def _close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> bool:
    both = np.isfinite(found) & np.isfinite(expected)
    left, right = found[both].astype(np.float64), expected[both].astype(np.float64)
    return bool(np.all(np.abs(left - right) <= tolerance * np.abs(right).max(initial=1e-30)))
