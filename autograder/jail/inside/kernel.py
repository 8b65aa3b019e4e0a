"""The few calls into libc that Python's standard library does not offer."""

import ctypes
import os
from collections.abc import Callable
from typing import Any

# PyDLL keeps the interpreter's lock during a call: a fork must not leave it to a thread that is gone.
libc = ctypes.PyDLL(None, use_errno=True)


def call(function: Callable[..., int], name: str, *arguments: Any) -> int:
    """Call a libc function and raise OSError, with `name` in its message, when it returns -1."""
    result = function(*arguments)
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result


def prctl(name: str, option: int, *arguments: int) -> None:
    """Call prctl(2) with up to four arguments. Raises OSError, with `name` in its message."""
    padded = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    call(libc.prctl, name, ctypes.c_int(option), *padded)
