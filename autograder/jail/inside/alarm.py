"""The end of a cell's time, and what the cell was waiting in when it came."""

import asyncio
import linecache
import os
import resource
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

IDLE = 0.2  # of its time, in seconds of the processor: a cell that uses less was waiting
CELL = "<cell "  # begins the name of a cell's file


class CellTimeout(BaseException):
    """The cell ran too long. Not an Exception: no `except Exception` shall keep it from ending the cell."""


@dataclass(frozen=True)
class Spent:
    """How this process has spent its time, in seconds, and how often its thread yielded the processor or lost it."""

    computed: float = 0.0
    queued: float = 0.0  # ready to compute, on a machine that computed something else
    gave: int = 0
    lost: int = 0

    @classmethod
    def until_now(cls) -> "Spent":
        """Read from the system; values that it does not provide are 0."""
        queued = 0.0
        with suppress(OSError, ValueError, IndexError), open("/proc/self/schedstat") as schedule:
            queued = int(schedule.read().split()[1]) / 1e9
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return cls(time.process_time(), queued, usage.ru_nvcsw, usage.ru_nivcsw)

    def mostly_waited(self, began: "Spent", idle: float) -> bool:
        """Whether less than `idle` seconds since `began` went into computing, or into many short waits."""
        computed, queued = self.computed - began.computed, self.queued - began.queued
        often = self.gave - began.gave > self.lost - began.lost
        return computed < idle and (often or computed + queued < idle)


class Alarm:
    """Interrupts the code under `with` after `seconds`, and again each second in case it was ignored."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self.rang = False
        self.armed = False
        self._began = Spent()

    def __enter__(self) -> None:
        self.armed = True
        self._began = Spent.until_now()
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds, 1)

    def __exit__(self, *error) -> None:
        self.armed = False  # first, so that an alarm already on its way does nothing
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self.armed:
            waited = not self.rang and Spent.until_now().mostly_waited(self._began, IDLE * self.seconds)
            self.rang = True
            place = waiting_in(frame) if waited else ""
            raise CellTimeout(
                f"the cell was stopped after {self.seconds:g} seconds{f': it was waiting in {place}' if place else ''}"
            )


def seconds_left() -> float:
    """Until the alarm of the cell; infinity where none is set, or where the notebook has set one of its own."""
    ring = getattr(signal.getsignal(signal.SIGALRM), "__self__", None)
    left = signal.getitimer(signal.ITIMER_REAL)[0]
    return left if isinstance(ring, Alarm) and ring.armed and left > 0 else float("inf")


def waiting_in(frame: FrameType | None) -> str:
    """The function that a cell has called last, as in "threading.Event.wait", or the line of the cell that waits itself."""
    called = ""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(CELL):
            return called or _line(file, frame.f_lineno)
        if os.path.dirname(file) != os.path.dirname(waiting_in.__code__.co_filename):
            called = _name(frame.f_globals.get("__name__", ""), frame.f_code)
        frame = frame.f_back
    return awaited()


def awaited() -> str:
    """What the tasks of the running event loop wait in: functions, else lines of the cell; or ""."""
    loop = asyncio._get_running_loop()
    called, lines = set(), set()
    for task in asyncio.all_tasks(loop) if loop else ():
        coroutine: Any = task.get_coro()
        function = line = ""
        while coroutine is not None and (frame := getattr(coroutine, "cr_frame", None)):
            if frame.f_code.co_filename.startswith(CELL):
                line, function = _line(frame.f_code.co_filename, frame.f_lineno), ""
            else:
                function = function or _name(frame.f_globals.get("__name__", ""), frame.f_code)
            coroutine = coroutine.cr_await
        called |= {function} - {""}
        lines |= {line} - {""}
    return ", ".join(sorted(called or lines))


def _name(module: str, code: CodeType) -> str:
    return f"{'asyncio' if module.startswith('asyncio.') else module}.{code.co_qualname}"


def _line(file: str, number: int) -> str:
    line = linecache.getline(file, number).strip()
    return f"line {number}{f', {line[:80]}' if line else ''}"
