"""Ask a student's function for an answer: fresh arrays in, plain arrays (or a described problem) out."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.checks.arrays import ADAPTERS, LISTS, NUMBERS, Arrays, read_array, with_article
from autograder.checks.exceptions import WrongCall
from autograder.checks.gradients import Differentiable, gradients_of
from autograder.checks.status import Problem
from autograder.checks.tracebacks import message, stub_name, student_traceback

Case = Mapping[str, Any]
"""Named inputs of one call: numpy arrays become what the course gives, everything else is handed over as a copy.

An input whose name begins with an underscore is for the verdict alone: no student's code gets it.
"""

MOST_PARTS = 64
"""Of a list whose items have unequal shapes."""


@dataclass(frozen=True)
class Answer:
    """What one call gave: named arrays ("" when there is a single one), or the problem instead of them.

    gradients  where they were asked for: of each input that is made of floats, empty where no gradient reaches it.
    message    describes the problem; without one, the error that prevented the gradients.
    """

    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    problem: Problem = Problem.CLEAN
    message: str = ""
    notes: tuple[str, ...] = ()
    gradients: Mapping[str, np.ndarray] = field(default_factory=dict)


class WrongType(TypeError):
    """The returned value is nothing that can be read as arrays."""


def ask(call: Callable[[Case], Any] | Differentiable, case: Case, arrays: str = "numpy") -> Answer:
    """Call the student's code on a copy of `case`, its arrays as `arrays.ADAPTERS` says under that name.

    A Differentiable is called once more for its gradients. Never raises for what the student's code does.
    """
    adapter = ADAPTERS[arrays]
    function = call.call if isinstance(call, Differentiable) else call
    if isinstance(call, Differentiable) and arrays != "torch":
        raise WrongCall("check(…, gradients=…) needs tensors: c.Autograder.arrays must be 'torch'.")
    case = handed_out(case)
    arguments = {name: argument(value, adapter) for name, value in case.items()}
    try:
        value = function(arguments)
    except NotImplementedError as error:
        stub = stub_name(error)
        if stub is None:
            return Answer(problem=Problem.EXCEPTION, message=student_traceback(error))
        return Answer(problem=Problem.UNANSWERED, message=stub)
    except (Exception, SystemExit) as error:
        return Answer(problem=Problem.EXCEPTION, message=student_traceback(error))
    if value is None:
        return Answer(problem=Problem.NONE)
    try:
        read, notes = read_value(value, adapter)
    except WrongType as error:
        return Answer(problem=Problem.TYPE, message=str(error))
    except Exception as error:
        return Answer(
            problem=Problem.TYPE,
            message=f"a {type(value).__name__} that cannot be read: {message(error)}"[:300],
        )
    changed = [name for name in case if _changed(case[name], arguments.get(name))]
    if changed:
        return Answer(read, Problem.CHANGED, ", ".join(changed), notes)
    if not isinstance(call, Differentiable):
        return Answer(read, notes=notes)
    again = {name: argument(value, adapter) for name, value in case.items()}
    found, why_none = gradients_of(call, again)
    return Answer(read, message=why_none, notes=notes, gradients=found)


def handed_out(case: Case) -> dict[str, Any]:
    """The inputs that a student's code gets."""
    return {name: value for name, value in case.items() if not name.startswith("_")}


def read_value(value: Any, adapter: Arrays) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """Arrays of a returned value, and notes on its form.

    A tensor, an array, a number or a list of those is one array, named ""; a tuple or dict has a part for each
    entry, and so has a list whose items have unequal shapes.
    """
    notes: dict[str, None] = {}
    if isinstance(value, dict):
        parts = {str(name): part for name, part in value.items()}
    elif isinstance(value, tuple):
        parts = {str(position): part for position, part in enumerate(value)}
    elif isinstance(value, list):
        return _read_list(value, notes, adapter), tuple(notes)
    else:
        parts = {"": value}
    return {name: _array(part, notes, adapter) for name, part in parts.items()}, tuple(notes)


def _read_list(value: list, notes: dict[str, None], adapter: Arrays) -> dict[str, np.ndarray]:
    notes[LISTS[adapter.name]] = None
    if all(type(item) in (bool, int, float) for item in value):
        return {"": _array(value, notes, adapter)}
    arrays = [_array(item, notes, adapter, inside="list") for item in value]
    if len({array.shape for array in arrays}) > 1:
        if len(arrays) > MOST_PARTS:
            raise WrongType(f"a list of {len(arrays)} items of unequal shapes")
        return {str(position): array for position, array in enumerate(arrays)}
    return {"": np.stack(arrays)}


def argument(value: Any, adapter: Arrays) -> Any:
    """What the student's code gets: its own copy, so that whatever it writes stays out of the case."""
    return adapter.argument(value) if isinstance(value, np.ndarray) else copy.deepcopy(value)


def _changed(before: Any, after: Any) -> bool:
    try:
        if isinstance(before, np.ndarray):
            now = after if isinstance(after, np.ndarray) else np.asarray(after.detach())
            if (before.dtype, before.shape, before.tobytes()) == (now.dtype, now.shape, now.tobytes()):
                return False  # sooner than number by number
            return not np.array_equal(before, now, equal_nan=before.dtype.kind == "f")
        return not _equal(before, after)
    except Exception:
        return True


def _equal(before: Any, after: Any) -> bool:
    """Whether nothing in nested lists and dicts was written to. A NaN equals a NaN."""
    if type(before) is not type(after):
        return False
    if isinstance(before, list | tuple):
        return len(before) == len(after) and all(map(_equal, before, after))
    if isinstance(before, dict):
        return list(before) == list(after) and all(_equal(before[name], after[name]) for name in before)
    return before == after or (before != before and after != after)


def _array(value: Any, notes: dict[str, None], adapter: Arrays, inside: str = "") -> np.ndarray:
    """One array. `inside` is what holds the value, for the sentence about one that cannot be read."""
    read = read_array(value, notes, adapter)
    if read is not None:
        value = read
    elif isinstance(value, bool | int | float):
        if not inside:
            notes[NUMBERS[adapter.name]] = None
        value = np.asarray(value)
    elif isinstance(value, list | tuple):
        value = _stacked(value, notes, adapter)
    else:
        raise WrongType(f"a {inside} that contains {_kind(value)}" if inside else _kind(value))
    # What numpy makes of a Python number that none of its types holds.
    if value.dtype.kind == "O" and read is None:
        raise WrongType("an integer that does not fit into 64 bits")
    if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
        raise WrongType(f"an array of {value.dtype}")
    if value.dtype.kind == "u" and value.dtype.itemsize > 1:
        value = value.astype(np.int64)
    return value


def _stacked(value: list | tuple, notes: dict[str, None], adapter: Arrays) -> np.ndarray:
    """One array of a list or tuple inside an answer."""
    notes[LISTS[adapter.name]] = None
    if all(type(item) in (bool, int, float) for item in value):
        return np.asarray(value) if value else np.zeros(0)
    items = [_array(item, notes, adapter, inside=type(value).__name__) for item in value]
    if len({item.shape for item in items}) > 1:
        raise WrongType(f"a {type(value).__name__} whose items have unequal shapes")
    return np.stack(items)


def _kind(value: Any) -> str:
    if callable(value):
        return f"the function {getattr(value, '__name__', '?')} itself; was it called?"
    return with_article(type(value).__name__)
