"""Ask a student's function for an answer: fresh tensors in, plain arrays (or a described problem) out."""

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Case = Mapping[str, Any]
"""Named inputs of one call: numpy arrays become tensors, everything else is handed over as it is."""


@dataclass(frozen=True)
class Answer:
    """What one call gave: named arrays ("" when there is a single one), or the problem instead of them."""

    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    problem: str = ""  # "", "unanswered", "exception", "none", "type", "changed"
    message: str = ""
    notes: tuple[str, ...] = ()


class WrongType(TypeError):
    """The returned value is nothing that can be read as arrays."""


def ask(call: Callable[[Case], Any], case: Case) -> Answer:
    """Call the student's code on a copy of `case`. Never raises for what the student's code does."""
    given = {name: _given(value) for name, value in case.items()}
    try:
        value = call(given)
    except NotImplementedError:
        return Answer(problem="unanswered")
    except (Exception, SystemExit) as error:
        return Answer(problem="exception", message=student_traceback(error))
    if value is None:
        return Answer(problem="none")
    try:
        arrays, notes = read_value(value)
    except WrongType as error:
        return Answer(problem="type", message=str(error))
    except Exception as error:
        return Answer(
            problem="type", message=f"a {type(value).__name__} that cannot be read: {_words(error)}"[:300]
        )
    changed = [name for name in case if _changed(case[name], given.get(name))]
    if changed:
        return Answer(arrays, "changed", ", ".join(changed), notes)
    return Answer(arrays, notes=notes)


def read_value(value: Any) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """Arrays of a returned value: a tensor, an array, a number, or a tuple or dict of those."""
    notes: dict[str, None] = {}
    if isinstance(value, dict):
        parts = {str(name): part for name, part in value.items()}
    elif isinstance(value, tuple):
        parts = {str(position): part for position, part in enumerate(value)}
    else:
        parts = {"": value}
    return {name: _array(part, notes) for name, part in parts.items()}, tuple(notes)


def student_traceback(error: BaseException) -> str:
    """The error as the student should see it: from the first frame of the notebook on, without ours."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [i for i, frame in enumerate(frames) if _in_notebook(frame.filename)]
    # The first notebook frame is the lambda of the check cell, which tells nothing; skip it if there is more.
    start = own[1] if len(own) > 1 else own[0] if own else len(frames)
    words = f"{type(error).__name__}: {_words(error)}"
    if type(error) is NameError and own == [len(frames) - 1]:  # the check itself asks for what is not there
        return f"{words[:1800]}\nThe cell that defines it was not run, or it ended with an error: look there first."
    shown = [f"  in {frame.name}, line {frame.lineno}: {frame.line}" for frame in frames[start:]]
    return "\n".join([*shown[-6:], words])[:2000]


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:
        return f"(its message cannot be shown: {type(broken).__name__})"


def _in_notebook(filename: str) -> bool:
    return "ipykernel_" in filename or filename.startswith(("<ipython-input", "<cell"))


def _given(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    import torch

    return torch.from_numpy(value.copy())


def _changed(before: Any, after: Any) -> bool:
    if not isinstance(before, np.ndarray):
        return False
    try:
        return not np.array_equal(before, np.asarray(after.detach()), equal_nan=before.dtype.kind == "f")
    except Exception:
        return True


def _array(value: Any, notes: dict[str, None]) -> np.ndarray:
    import torch

    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        if value.dtype == torch.bfloat16:
            notes["computed in bfloat16, which keeps three digits"] = None
            value = value.float()
        elif value.is_sparse:
            value = value.to_dense()
        value = value.numpy()
    elif isinstance(value, np.ndarray | np.generic):
        notes["a numpy array was accepted in place of a tensor"] = None
        value = np.asarray(value)
    elif isinstance(value, bool | int | float):
        value = np.asarray(value)
    elif isinstance(value, list) and value:
        value = np.stack([_array(item, notes) for item in value])
    else:
        raise WrongType(_kind(value))
    if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
        raise WrongType(f"an array of {value.dtype}")
    if value.dtype.kind == "u" and value.dtype.itemsize > 1:
        value = value.astype(np.int64)
    return value


def _kind(value: Any) -> str:
    if callable(value):
        return f"the function {getattr(value, '__name__', '?')} itself; was it called?"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
