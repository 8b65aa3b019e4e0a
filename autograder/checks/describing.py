"""The inputs of a check, named in a line."""

from textwrap import shorten
from typing import Any

import numpy as np

from autograder.checks.asking import Case

LONGEST = 60
"""Characters of one input."""


def described(case: Case) -> str:
    """The inputs in a line: arrays by their shapes, "queries 2×3×4, heads = 2"."""
    return ", ".join(_described(name, value) for name, value in sorted(case.items()))  # a file keeps no order


def _described(name: str, value: Any) -> str:
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return f"{name} of length {len(value)}"
    if isinstance(value, np.ndarray) and value.ndim:
        return f"{name} {'×'.join(map(str, value.shape))}"
    return f"{name} = {shorten(repr(getattr(value, 'tolist', lambda: value)()), LONGEST, placeholder=' …')}"
