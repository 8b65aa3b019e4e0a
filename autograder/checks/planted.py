"""Tests of tests: a student hands in inputs, and implementations with planted faults are run on them.

An input is good if it tells wrong from right: a planted fault is *exposed* if it gives something else than the truth, and
a right but unusual implementation that gives something else raises a *false alarm*. Nothing of a student's runs here:
inputs are plain arrays, checked before they come. The faults for practice lie in a package of the
course, where everybody may read them; the autograder plants others too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

Inputs = Mapping[str, np.ndarray]

TOLERANCE = 1e-3
"""Two answers differ if they are further apart than this share of the largest expected number."""


@dataclass(frozen=True)
class Planted:
    """One implementation.

    name    what it does;
    about   what has to be varied in the inputs to expose it, as a hint: "keys that may not be seen";
    run     the implementation: arrays in, an array out;
    right   whether it is a right one, which no test may reject.
    """

    name: str
    about: str
    run: Callable[..., np.ndarray]
    right: bool = False


@dataclass(frozen=True)
class Task:
    """What is to be tested: the truth, implementations for practice, and what inputs may hold."""

    truth: Callable[..., np.ndarray]
    practice: tuple[Planted, ...]
    yes_or_no: frozenset[str]  # the inputs that are masks
    largest: float  # of every other number


@dataclass(frozen=True)
class Exposure:
    """What some inputs bring to light.

    planted        the implementations that were run;
    noticed        of each, whether it gives something else than the truth;
    exposed        the faults that the inputs expose;
    escaped        the faults that the inputs miss;
    false_alarms   the right implementations that the inputs reject.
    """

    planted: tuple[Planted, ...]
    noticed: tuple[bool, ...]
    exposed: tuple[Planted, ...]
    escaped: tuple[Planted, ...]
    false_alarms: tuple[Planted, ...]

    @property
    def faults(self) -> int:
        """How many of the implementations have a fault."""
        return len(self.exposed) + len(self.escaped)

    @property
    def net(self) -> int:
        """Faults exposed, less false alarms."""
        return len(self.exposed) - len(self.false_alarms)


def task(name: str) -> Task:
    """What `Rule("exposes", faults=name)` is about."""
    return import_module(name).TASK


def problem_with(inputs: Inputs, about: Task) -> str:
    """Why these inputs cannot be used, in a sentence; "" if they can. Their shapes are known to be right."""
    for name, array in inputs.items():
        if name in about.yes_or_no:
            if array.dtype != bool and not np.isin(array, (0, 1)).all():
                return f"{name} contains numbers other than 0 and 1; it must say yes (1) or no (0) for each pair."
        elif not np.isfinite(array).all():
            return f"{name} contains NaN or infinite numbers: no implementation promises anything about such numbers."
        elif np.abs(array.astype(np.float64)).max(initial=0.0) > about.largest:
            return f"{name} contains numbers beyond ±{about.largest:,.0f}, which is the limit."
    return ""


def expose(inputs: Inputs, about: Task, planted: Sequence[Planted]) -> Exposure:
    """Run every implementation on the inputs and compare with the truth."""
    arguments = {
        name: array.astype(bool if name in about.yes_or_no else np.float64) for name, array in inputs.items()
    }
    with np.errstate(all="ignore"):
        want = about.truth(**arguments)
        noticed = tuple(_differs(implementation.run, arguments, want) for implementation in planted)
    pairs = list(zip(planted, noticed, strict=True))
    return Exposure(
        tuple(planted),
        noticed,
        exposed=tuple(one for one, seen in pairs if seen and not one.right),
        escaped=tuple(one for one, seen in pairs if not seen and not one.right),
        false_alarms=tuple(one for one, seen in pairs if seen and one.right),
    )


def _differs(run: Callable[..., np.ndarray], arguments: Inputs, want: np.ndarray) -> bool:
    got = run(**{name: array.copy() for name, array in arguments.items()})
    if got.shape != want.shape:
        return True
    near = np.abs(got - want) <= TOLERANCE * np.abs(want).max(initial=0.0)  # a NaN is not near
    return not near.all()
