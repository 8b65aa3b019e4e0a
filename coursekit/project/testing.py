"""Tests that a student writes, tried on implementations that come with the case: some are right, most have a planted fault.

The implementations are source code in the case, so the grader brings some that nobody has seen.
"""

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

CODE = "code."
"""The prefix of the implementations among the inputs of a case: "code.split: copies stay in both parts"."""
ACCEPTED, REJECTED = 0, 1
VERDICTS = {
    "inputs": CODE,
    "0": "Your tests let a planted fault pass: {names}.",
    "1": "A false alarm: your tests reject an implementation that does what its docstring says: {names}.",
    "last": "Your tests ran on {number} implementations.",
}
"""What the codes of `tried` mean where they are wrong: 0 is wrong for a fault, 1 for a right implementation."""


def packed(source: str) -> np.ndarray:
    """Source code as an input of a case: compressed bytes."""
    return np.frombuffer(zlib.compress(source.strip().encode()), np.uint8).copy()


def unpacked(code: Tensor) -> Callable[..., Any]:
    """The last function that some packed source code defines."""
    source = zlib.decompress(bytes(code.tolist())).decode()
    names: dict[str, Any] = {"torch": torch, "np": np}
    exec(compile(source, "<implementation>", "exec"), names)
    return [value for value in names.values() if getattr(value, "__code__", None)][-1]


def tried(case: Mapping[str, Tensor], **tests: Callable[[Callable[..., Any]], None]) -> dict[str, Tensor]:
    """Whether each implementation is rejected, in the order of their names, and last how many there are.

    `tests` contains one for each function under test: tried(case, split=test_split). A test rejects an implementation if it
    raises any exception but NotImplementedError, which is that of a stub.
    """
    codes = []
    for name in sorted(case):
        if name.startswith(CODE):
            test = tests[name.removeprefix(CODE).partition(":")[0]]
            codes.append(rejected(test, unpacked(case[name])))
    return {"verdicts": torch.tensor([*codes, len(codes)])}


def rejected(test: Callable[[Callable[..., Any]], None], implementation: Callable[..., Any]) -> int:
    """REJECTED if the test raises, else ACCEPTED. NotImplementedError is raised on."""
    try:
        with torch.random.fork_rng(devices=[]):
            test(implementation)
    except NotImplementedError:
        raise
    except Exception:
        return REJECTED
    return ACCEPTED
