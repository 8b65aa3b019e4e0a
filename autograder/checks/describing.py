"""The inputs of a check, named in a line."""

from collections import Counter
from textwrap import shorten
from typing import Any

import numpy as np

from autograder.checks.asking import Case

LONGEST = 60
"""Characters of one input."""
MOST = 3
"""Inputs "weights.a", "weights.b", … that are named one by one; more are counted."""


def described(case: Case) -> str:
    """The inputs in a line: arrays by their shapes, "queries 2×3×4, heads = 2, weights.… (16 inputs)"."""
    families = Counter(name.partition(".")[0] for name in case if "." in name)
    lines: dict[str, None] = {}  # in their order, each once
    for name, value in sorted(case.items()):  # a file keeps no order
        family, dot, _ = name.partition(".")
        many = bool(dot) and families[family] > MOST
        lines[f"{family}.… ({families[family]} inputs)" if many else _described(name, value)] = None
    return ", ".join(lines)


def _described(name: str, value: Any) -> str:
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return f"{name} of length {len(value)}"
    if isinstance(value, np.ndarray) and value.ndim:
        return f"{name} {'×'.join(map(str, value.shape))}"
    return f"{name} = {shorten(repr(getattr(value, 'tolist', lambda: value)()), LONGEST, placeholder=' …')}"
