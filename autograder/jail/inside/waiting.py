"""Calls that wait for somebody or something that never comes while a notebook is graded: each says so at once.

A network is missing too, but a call that needs one fails by itself within a second; the variables in `bubblewrap` keep
programs such as pip from trying again.
"""

import builtins
import getpass
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from .limits import Limits

TOO_LONG = 3600.0  # seconds of sleep; less ends at the cell's limit


class NobodyAnswers(RuntimeError):
    """The notebook asks a person for something."""


@contextmanager
def without_waiting(limits: Limits) -> Iterator[None]:
    """Until the end of the `with` nothing asks a person, and nothing sleeps for hours."""
    before = builtins.input, getpass.getpass, time.sleep
    really_sleep = time.sleep

    def sleep(seconds: Any) -> None:
        """As time.sleep, unless it would take hours."""
        if isinstance(seconds, int | float) and seconds > TOO_LONG:
            raise TimeoutError(
                f"time.sleep({seconds:g}) was not begun: a cell may take {limits.cell_seconds:g} seconds while it is graded."
            )
        really_sleep(seconds)

    builtins.input = _nobody_answers
    getpass.getpass = _nobody_answers
    time.sleep = sleep
    try:
        yield
    finally:
        builtins.input, getpass.getpass, time.sleep = before


def _nobody_answers(*prompt: Any, **how: Any) -> NoReturn:
    raise NobodyAnswers(
        "input() waits for somebody to type, and nobody does while a notebook is graded: put the value into the code."
    )
