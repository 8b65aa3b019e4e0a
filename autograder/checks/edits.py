"""Which functions in the kernel are older than their cell: it was run again since, and did not define them.

A cell with a SyntaxError leaves the function of before in memory, and so does one in which the function got another name. A check
would judge that one, and show lines that are no longer in the notebook.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import getattr_static
from types import FunctionType, MethodType
from typing import Any

from autograder.checks.tracebacks import message


@dataclass
class Edits:
    """What the cells of a notebook have defined, as a person ran them."""

    _cells: dict[str, str] = field(default_factory=dict)  # {name: the cell that defined it last}
    # {name: what it stands for, and why it is old}
    _old: dict[str, tuple[Any, str]] = field(default_factory=dict)
    _before: dict[str, Any] = field(default_factory=dict)

    def before(self, names: Mapping[str, Any]) -> None:
        """A cell is about to run, in a notebook with these names."""
        self._before = _defined(names)

    def after(self, names: Mapping[str, Any], cell: str, error: BaseException | None) -> None:
        """The cell has run, and ended with that error or without one."""
        now = _defined(names)
        new = {name for name, value in now.items() if self._before.get(name) is not value}
        kept = [name for name, owner in self._cells.items() if owner == cell and name in now.keys() - new]
        for name in kept:
            self._old[name] = now[name], _why(name, error, new)
        for name in new:
            self._cells[name] = cell
            self._old.pop(name, None)
        self._before = {}

    def why_old(self, name: str, value: Any) -> str:
        """Why `value`, which `name` stands for, is older than its cell; "" if it is not."""
        old, why = self._old.get(name, (None, ""))
        return why if value is not None and value is old else ""


def _why(name: str, error: BaseException | None, new: set[str]) -> str:
    if error is not None:
        happened = f"stopped with {type(error).__name__}: {message(error).partition(chr(10))[0][:200]}"
    else:
        others = ", ".join(f"`{other}`" for other in sorted(new)[:3])
        happened = f"defined {others} and not `{name}`" if new else f"did not define `{name}`"
    return (
        f"When that cell was last run, it {happened}. The `{name}` in memory is the earlier version, so it was not checked: "
        "change the cell, run it, and then run this check again."
    )


def _defined(names: Mapping[str, Any]) -> dict[str, Any]:
    """The functions and classes among the names of a notebook that it has defined itself, decorated ones too."""
    return {name: value for name, value in names.items() if _made_here(value)}


def _made_here(value: Any, layers: int = 8) -> bool:
    """Whether the notebook defines what is called here: a function or class, or what `lru_cache`, `partial` or so wraps."""
    if isinstance(value, FunctionType | type) and value.__module__ == "__main__":
        return True
    if layers == 0 or isinstance(value, type) or not callable(value):
        return False
    if isinstance(value, partial):
        inner: list[Any] = [value.func]
    elif isinstance(value, MethodType):
        inner = [value.__func__]
    else:  # statically, for an object may answer to every name; vectorize's is pyfunc
        inner = [type(value), *(getattr_static(value, name, None) for name in ("__wrapped__", "pyfunc"))]
    return any(_made_here(one, layers - 1) for one in inner)
