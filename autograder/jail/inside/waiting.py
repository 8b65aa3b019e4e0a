"""Calls that wait for somebody or something that never comes while a notebook is graded: each says so at once.

A network is missing too, but a call that needs one fails by itself within a second; the variables in `bubblewrap` keep
programs such as pip from trying again. Any other wait ends with the time of its cell, and `alarm` says what it was.
"""

import asyncio
import builtins
import getpass
import math
import os
import re
import select
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NoReturn

from .alarm import awaited, seconds_left, waiting_in
from .limits import Limits

SLEEP = re.compile(r"sleep\s+(\d+(?:\.\d+)?|inf(?:inity)?)([smhd]?)")
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
BARS = "TMonitor"  # tqdm's thread, which only draws
MOMENT = 0.2  # seconds in which what is on its way within the machine arrives


NOBODY_ANSWERS = (
    "waits for somebody to type, and nobody does while a notebook is graded: put the value into the code."
)


class NobodyAnswers(RuntimeError):
    """The notebook asks a person for something."""


@contextmanager
def without_waiting(limits: Limits) -> Iterator[None]:
    """Until the end of the `with` nothing asks a person, and the thread of the cells begins no wait that cannot end in time."""
    with ExitStack() as stack:
        for owner, name, instead in (
            (builtins, "input", _nobody_answers),
            (getpass, "getpass", _nobody_answers),
            *Waits(limits).replacements(),
        ):
            stack.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, instead)
        yield


def _nobody_answers(*prompt: Any, **how: Any) -> NoReturn:
    raise NobodyAnswers(f"input() {NOBODY_ANSWERS}")


class Waits:
    """Stands before Python's own functions that wait. What may end in time, or in another thread, is left to them."""

    def __init__(self, limits: Limits):
        self.limits = limits
        self._threads = sys._current_frames().keys()  # they are not the notebook's
        self._children = _has_children()

    def replacements(self) -> Iterator[tuple[Any, str, Any]]:
        """(owner, name, what is to stand there)."""
        sleep, system, accept, wait = time.sleep, os.system, socket.socket.accept, threading.Condition.wait
        look, communicate, end = (
            selectors.DefaultSelector.select,
            subprocess.Popen.communicate,
            subprocess.Popen.wait,
        )

        def sleep_or_refuse(seconds: Any, /) -> None:
            self.refuse_sleep(_number(seconds), f"time.sleep({_number(seconds):g})")
            sleep(seconds)

        def system_or_refuse(command: Any) -> int:
            self.refuse_command(command)
            return system(command)

        def communicate_or_refuse(process: Any, input: Any = None, timeout: Any = None) -> Any:
            if self.is_beyond(_slept(process.args)) and timeout is None:
                with suppress(subprocess.TimeoutExpired):
                    return communicate(process, input, MOMENT)  # it may have been killed
                self.refuse_command(process.args)
            return communicate(process, input, timeout)

        def end_or_refuse(process: Any, timeout: Any = None) -> int:
            if self.is_beyond(_slept(process.args)) and timeout is None:
                with suppress(subprocess.TimeoutExpired):
                    return end(process, MOMENT)
                self.refuse_command(process.args)
            return end(process, timeout)

        def wait_or_refuse(condition: Any, timeout: Any = None) -> bool:
            if self.never_ends(timeout):
                if wait(condition, MOMENT):
                    return True
                self.refuse_if_alone(timeout)
            return wait(condition, timeout)

        def accept_or_refuse(server: Any) -> Any:
            if self.never_ends(server.gettimeout()) and not _arrives(server):
                self.refuse_if_alone(None)
            return accept(server)

        def look_or_refuse(selector: Any, timeout: Any = None) -> Any:
            if not self.never_ends(timeout):
                return look(selector, timeout)
            ready = look(selector, MOMENT)
            return self.wake_tasks() if not ready and self.never_ends(timeout) else ready

        yield time, "sleep", sleep_or_refuse
        yield os, "system", system_or_refuse
        yield subprocess.Popen, "communicate", communicate_or_refuse
        yield subprocess.Popen, "wait", end_or_refuse
        yield threading.Condition, "wait", wait_or_refuse
        yield socket.socket, "accept", accept_or_refuse
        yield selectors.DefaultSelector, "select", look_or_refuse

    def is_beyond(self, seconds: float) -> bool:
        """Whether so long a wait of the thread of the cells, and no short one of many, ends after its cell is stopped."""
        return _is_main() and seconds >= self.limits.cell_seconds / 2 and math.inf > seconds_left() <= seconds

    def refuse_sleep(self, seconds: float, what: str) -> None:
        """Raises TimeoutError if it `is_beyond`."""
        if self.is_beyond(seconds):
            limit = self.limits.cell_seconds
            less = "" if seconds >= limit else ", and less time is left"
            raise TimeoutError(
                f"{what} was not waited for: a cell may take {limit:g} seconds while it is graded{less}."
            )

    def refuse_command(self, command: Any) -> None:
        """The same for what a command sleeps."""
        self.refuse_sleep(
            _slept(command), command if isinstance(command, str) else " ".join(map(str, command))
        )

    def never_ends(self, timeout: float | None) -> bool:
        """Whether a wait of the cells' thread ends only with the cell: nothing else runs that could end it."""
        if not self.is_beyond(math.inf if timeout is None else timeout):
            return False
        begun = threading.enumerate()  # with those that have no number yet
        bars = {thread.ident for thread in begun if type(thread).__name__ == BARS}
        threads = sys._current_frames().keys() | {thread.ident for thread in begun}
        others = threads - self._threads - bars - {threading.get_ident()}
        return not others and (self._children or not _has_children())

    def refuse_if_alone(self, timeout: float | None) -> None:
        """Raises TimeoutError if `never_ends`."""
        if self.never_ends(timeout):
            raise TimeoutError(_alone(waiting_in(sys._getframe())))

    def wake_tasks(self) -> list[Any]:
        """Let what the event loop's tasks wait for fail with a TimeoutError; raise it where nothing does."""
        error = _alone(awaited() or waiting_in(sys._getframe()))
        loop = asyncio._get_running_loop()
        futures = [getattr(task, "_fut_waiter", None) for task in asyncio.all_tasks(loop)] if loop else []
        waited = [
            one for one in futures if type(one) is asyncio.Future and not one.done()
        ]  # no tasks, nor several at once
        for future in waited:
            future.set_exception(TimeoutError(error))
        if not waited:
            raise TimeoutError(error)
        return []


def _alone(what: str) -> str:
    return f"{what} would wait for ever: nothing else that runs in this notebook could end the wait."


def _is_main() -> bool:
    return threading.get_ident() == threading.main_thread().ident


def _has_children() -> bool:
    """Whether there is another process, for the first one of a jail adopts those that have lost theirs."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _arrives(server: socket.socket) -> bool:
    """Whether somebody connects in a moment."""
    try:
        poll = select.poll()
        poll.register(server, select.POLLIN)
        return bool(poll.poll(1000 * MOMENT))
    except (OSError, ValueError):
        return True  # it is closed, as `accept` will say


def _number(seconds: Any) -> float:
    """As time.sleep reads it; 0 for what it will refuse."""
    try:
        return float(seconds)
    except (TypeError, ValueError, OverflowError):
        return 0.0


def _slept(command: Any) -> float:
    """Seconds that a command sleeps for certain: its commands come one after the other, and none in the background."""
    if isinstance(command, list | tuple):
        command = " ".join(map(str, command))
    total = 0.0
    for part in re.split(r"[;\n]", command) if isinstance(command, str) else ():
        if match := SLEEP.fullmatch(part.strip()):
            total += float(match[1]) * UNITS[match[2]]
    return total
