"""What students' functions are given, and how what they give back is read: numpy arrays, or tensors of torch.

A course chooses one of ADAPTERS. Whatever it chose, an answer may be either: what was not asked for gets a note.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

BFLOAT16 = "computed in bfloat16, which keeps two to three digits"


@dataclass(frozen=True)
class Arrays:
    """The arrays of a course.

    name      in ADAPTERS, by which a course chooses them;
    word      what they are called in sentences to students: "tensor";
    argument  makes what a function is given for an array: a copy, so that whatever it writes stays out of the case.
    """

    name: str
    word: str
    argument: Callable[[np.ndarray], Any]


def _tensor(array: np.ndarray) -> Any:
    import torch  # optional: a course in numpy does without

    return torch.from_numpy(array.copy())


def with_article(word: str) -> str:
    """ "an array", "a tensor"."""
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


ADAPTERS = {
    adapter.name: adapter
    for adapter in (Arrays("numpy", "array", np.ndarray.copy), Arrays("torch", "tensor", _tensor))
}

LISTS = {
    name: f"a list was accepted in place of {with_article(adapter.word)}"
    for name, adapter in ADAPTERS.items()
}
NUMBERS = {
    name: f"a Python number was accepted in place of {with_article(adapter.word)}"
    for name, adapter in ADAPTERS.items()
}
FORMS = (*LISTS.values(), *NUMBERS.values())
"""Notes that say nothing when the expected answer has the same form."""


def read_array(value: Any, notes: dict[str, None], wanted: Arrays) -> np.ndarray | None:
    """The array in a numpy array or a tensor, with a note if `wanted` is the other kind; None for anything else."""
    torch = sys.modules.get("torch")  # a tensor cannot come from where torch was never imported
    if torch is not None and isinstance(value, torch.Tensor):
        if wanted.name != "torch":
            notes[f"a tensor was accepted in place of {with_article(wanted.word)}"] = None
        value = value.detach().cpu()
        if value.dtype == torch.bfloat16:
            notes[BFLOAT16] = None
            value = value.float()
        elif value.is_sparse:
            value = value.to_dense()
        return value.numpy()
    if isinstance(value, np.ndarray | np.generic):
        if wanted.name != "numpy":
            notes[f"a numpy array was accepted in place of {with_article(wanted.word)}"] = None
        return np.asarray(value)
    return None
