"""Tests that a student writes, tried on implementations that come with the case: some are right, most have a planted fault.

The implementations are source code in the case, so the grader brings some that nobody has seen.
"""

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from coursekit.project.codes import CODE


def unpacked(code: Tensor) -> Callable[..., Any]:
    """The last function that some packed source code defines."""
    source = zlib.decompress(bytes(code.tolist())).decode()
    names: dict[str, Any] = {"torch": torch, "np": np}
    exec(compile(source, "<implementation>", "exec"), names)
    return [value for value in names.values() if getattr(value, "__code__", None)][-1]


def tried(case: Mapping[str, Tensor], **tests: Callable[[Callable[..., Any]], None]) -> dict[str, Tensor]:
    """Whether each implementation is rejected, under its number: {"split 3": True}.

    `tests` contains one for each function under test: tried(case, split=test_split). A test rejects an implementation if it
    raises any exception but NotImplementedError, which is that of a stub.
    """
    verdicts = {}
    for name in sorted(case):
        if name.startswith(CODE):
            number = name.removeprefix(CODE)
            test = tests[number.partition(" ")[0]]
            verdicts[number] = torch.tensor(rejected(test, unpacked(case[name])))
    return verdicts


def rejected(test: Callable[[Callable[..., Any]], None], implementation: Callable[..., Any]) -> bool:
    """Whether the test raises. NotImplementedError is raised on."""
    try:
        with torch.random.fork_rng(devices=[]):
            test(implementation)
    except NotImplementedError:
        raise
    except Exception:
        return True
    return False
