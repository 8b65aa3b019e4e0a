"""How far a run is, in a small file that `autograder watch` reads: from another terminal, or from a notebook."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import psutil

from autograder.course import Assignment
from autograder.files import write_aside

SECONDS = 0.5
"""Between two looks, and between two writings."""


@dataclass(frozen=True)
class Progress:
    """What a run has done so far."""

    title: str  # "grading 02_attention"
    total: int
    process: int
    started: float  # seconds since the epoch
    done: int = 0
    troubled: int = 0  # could not be run to their end
    ended: str = ""  # "finished" or "interrupted"
    seconds: float = 0.0  # since the start
    begun: float = 0.0  # seconds until the first was done: by then the jails have started
    process_began: float = 0.0  # seconds since the machine's start: another process may have the number later

    def __str__(self) -> str:
        if not self.done and not self.ended:
            return f"{self.title}: 0 of {self.total}; starting"
        parts = [f"{self.title}: {self.done} of {self.total} after {self.seconds:.0f} s"]
        if self.ended:
            parts.append(self.ended)
        elif self.done > 1:
            seconds_each = (self.seconds - self.begun) / (self.done - 1)
            parts.append(f"about {seconds_each * (self.total - self.done):.0f} s to go")
        if self.troubled:
            parts.append(f"{self.troubled} could not be run to the end")
        return "; ".join(parts)


class Record:
    """Keeps the file of a run up to date."""

    def __init__(self, assignment: Assignment, title: str, total: int):
        self._path = _path(assignment)
        me = os.getpid()
        self._now = Progress(title, total, me, time.time(), process_began=_began(me))
        self._written = 0.0
        other = read(assignment)
        self._alone = other is None or bool(other.ended)  # a second run is refused, and leaves no trace

    def __enter__(self) -> "Record":
        self._write()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._now = replace(self._now, ended="interrupted" if kind else "finished")
        self._write()

    def add(self, troubled: bool) -> None:
        """Count one more submission; the file is rewritten at most every half second."""
        self._now = replace(self._now, done=self._now.done + 1, troubled=self._now.troubled + troubled)
        if self._now.done == 1:
            self._now = replace(self._now, begun=time.time() - self._now.started)
        if time.monotonic() - self._written > SECONDS:
            self._write()

    def _write(self) -> None:
        if not self._alone:
            return
        self._now = replace(self._now, seconds=time.time() - self._now.started)
        self._written = time.monotonic()
        write_aside(self._path, json.dumps(asdict(self._now)))


def read(assignment: Assignment) -> Progress | None:
    """How far the last run of an assignment is; None if there was none."""
    try:
        progress = Progress(**json.loads(_path(assignment).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    if not progress.ended and not _lives(progress):
        return replace(progress, ended="stopped early; run the same command again to continue")
    return progress


def _lives(progress: Progress) -> bool:
    try:
        return _began(progress.process) == progress.process_began
    except psutil.NoSuchProcess:
        return False


def _began(process: int) -> float:
    """Seconds since the machine's start, which stay the same when its clock is set."""
    return round(psutil.Process(process).create_time() - psutil.boot_time(), 2)


def follow(assignment: Assignment) -> Iterator[Progress]:
    """The progress whenever it has changed, until the run has ended."""
    last = None
    while (current := read(assignment)) is not None:
        if current != last:
            yield current
        if current.ended:
            return
        last = current
        time.sleep(SECONDS)


def _path(assignment: Assignment) -> Path:
    return assignment.root / ".autograder" / "progress" / f"{assignment.name}.json"
