"""Grade submissions: restore → job → jail → answers → verdicts → store.

The same engine serves `autograder grade`, with jails on many workers, and nbgrader's own Autograde, with one here.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import dropwhile
from typing import Any

from nbformat import NotebookNode

from autograder import nbgrader_settings, reference
from autograder.course import Assignment
from autograder.jail import jobs
from autograder.jail.client import Outcome, Server
from autograder.jail.frames import Frame, read_frame
from autograder.jail.limits import Limits
from autograder.jails import Jails, OwnJail
from autograder.source import grade_id, is_demo
from autograder.store import Store, job_id, rules_digest
from autograder.submission import Submission
from autograder.verdicts import CellVerdict, judge_cells, without_running
from autograder.worker import Settings
from coursekit.answer_key import ExerciseKey
from coursekit.answers import Malformed

MOST_AT_ONCE = 10  # results that are held in memory, to be recorded together


@dataclass(frozen=True)
class Result:
    """Everything known about one graded submission."""

    student: str
    verdicts: tuple[CellVerdict, ...]
    seconds: float
    outputs: Mapping[int, list[dict[str, Any]]] = field(default_factory=dict)  # by the cell's place
    seed: str = ""
    ending: str = "finished"  # the outcome's status, or the submission's

    @property
    def trouble(self) -> bool:
        """Whether the notebook could not be read, or not be run to its end."""
        return self.ending != "finished" or any(verdict.status == "timeout" for verdict in self.verdicts)

    @property
    def score(self) -> float:
        return sum(verdict.earned for verdict in self.verdicts)

    @property
    def max_score(self) -> float:
        return sum(verdict.max_score for verdict in self.verdicts)

    def to_json(self) -> dict[str, Any]:
        keep = ("grade_id", "score", "max_score", "status", "reason", "mistake")
        cells = [{name: verdict.to_json()[name] for name in keep} for verdict in self.verdicts]
        for cell, verdict in zip(cells, self.verdicts, strict=True):
            if verdict.extra:
                cell["extra_credit"] = verdict.extra
        return {
            "student": self.student,
            "score": self.score,
            "max_score": self.max_score,
            "seconds": round(self.seconds, 3),
            "cells": cells,
        }


@dataclass(frozen=True)
class Attempt:
    """A submission on its way: what its result is called in the store, and which of its cells are run."""

    name: str
    submission: Submission
    places: list[int]


class Engine:
    """Keeps the expected answers on inputs drawn for this run, and judges what comes out of the jails."""

    def __init__(
        self,
        assignment: Assignment,
        store: Store,
        isolation: str = "bwrap",
        jails: Jails | None = None,
        fresh: bool = False,
    ):
        self.assignment = assignment
        self.store = store
        self.settings = Settings(nbgrader_settings.limits(assignment.root), isolation)
        self.jails = jails or OwnJail(self.settings)
        self.fresh = fresh  # what the store held before this run does not count
        self.seed = secrets.randbits(128)
        self._running: dict[str, Attempt] = {}
        self._waiting: dict[str, list[Submission]] = {}  # for the same result
        self._stored: set[str] = set()  # in this run
        self._not_stored: dict[str, Result] = {}

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *error: object) -> None:
        self.jails.close()

    @cached_property
    def release(self) -> NotebookNode:
        return self.assignment.read_release()

    @cached_property
    def _rules(self) -> str:
        return rules_digest(self.assignment)

    @cached_property
    def keys(self) -> Mapping[str, ExerciseKey]:
        """Inputs of this run, with the solution's answers and those of every known mistake.

        Recorded while the jails start, in a server of their own, which then ends: what students' code forks
        from has never seen a solution.
        """
        with _server_beside(self.settings) as starting:
            self.jails.warm_up()
            return reference.exercise_keys(starting.result(), self.assignment, self.seed)

    def grade(self, submission: Submission) -> Result:
        ((_, result),) = self.grade_all([submission])
        return result

    def grade_all(self, submissions: Iterable[Submission]) -> Iterator[tuple[Submission, Result]]:
        """Each submission with its result, as they come. What is in the store is not run; twins are run once."""
        for several in self.batches(submissions):
            yield from several

    def batches(self, submissions: Iterable[Submission]) -> Iterator[list[tuple[Submission, Result]]]:
        """The same in lists: what is known at a time. Nothing is held back while a jail is waited for."""
        known = []
        for found in self._results(submissions):
            if found is not None:
                known.append(found)
            if known and (found is None or len(known) == MOST_AT_ONCE):
                yield known
                known = []
        if known:
            yield known

    def _results(self, submissions: Iterable[Submission]) -> Iterator[tuple[Submission, Result] | None]:
        """Each submission with its result; None before a jail has to be waited for."""
        for submission in submissions:
            name = self._name(submission)
            result = self._without_running(name, submission)
            if result is not None:
                yield submission, result
            elif name in self._waiting:
                self._waiting[name].append(submission)
            else:
                self._waiting[name] = [submission]
                self._send(Attempt(name, submission, self._places(submission.notebook)))
            while self.jails.full:
                yield from self._receive()
        while self._running:
            yield from self._receive()

    def _name(self, submission: Submission) -> str:
        settings = {"isolation": self.settings.isolation, "limits": asdict(self.settings.limits)}
        return job_id(submission.digest, self._rules, settings)

    def _without_running(self, name: str, submission: Submission) -> Result | None:
        if submission.status:
            verdicts = tuple(without_running(self.assignment, submission))
            return Result(submission.student, verdicts, 0.0, ending=submission.status)
        if name in self._not_stored:
            return replace(self._not_stored[name], student=submission.student)
        stored = self.store.get(name) if name in self._stored or not self.fresh else None
        return None if stored is None else _result_from_store(submission.student, stored)

    def _send(self, attempt: Attempt) -> None:
        cells = [attempt.submission.notebook.cells[place] for place in attempt.places]
        steps = [jobs.cell(cell.source, self._checked_exercise(cell)) for cell in cells]
        cases = {name: key.cases for name, key in self.keys.items()}
        self._running[attempt.name] = attempt
        self.jails.submit(attempt.name, jobs.make_job(steps, cases))

    def _receive(self) -> Iterator[tuple[Submission, Result] | None]:
        """Take what a jail gives back, judge it, and yield it for everyone who handed in the same."""
        if not self.jails.ready:
            yield None
        name, outcome = self.jails.take()
        attempt = self._running.pop(name)
        frames = _readable(outcome, self.settings.limits, 2 * len(attempt.places))
        everything = _code_places(attempt.submission.notebook)
        if attempt.places != everything and any(map(_lacks_a_name, frames)):
            # Some answer needs a name that a demonstration defines: run those cells too.
            self._send(replace(attempt, places=everything))
            return
        result = self._judge(attempt, outcome, frames)
        self._keep(name, result)
        for twin in self._waiting.pop(name):
            yield twin, replace(result, student=twin.student)

    def _judge(self, attempt: Attempt, outcome: Outcome, frames: list[Frame]) -> Result:
        submission, places = attempt.submission, attempt.places
        exercises = [self._checked_exercise(submission.notebook.cells[place]) for place in places]
        checks = {number: name for number, name in enumerate(exercises) if name}
        verdicts = judge_cells(self.assignment, submission, self.keys, frames, checks, outcome.status)
        outputs = {places[frame.cell]: list(frame.outputs) for frame in frames if frame.cell < len(places)}
        seed, ending = f"{self.seed:032x}", outcome.status
        return Result(submission.student, tuple(verdicts), outcome.seconds, outputs, seed, ending)

    def _keep(self, name: str, result: Result) -> None:
        """In the store, unless the machine may have had a part in how it ended: then for this run only."""
        if not result.trouble:
            self.store.put(name, _result_to_store(result))
            self._stored.add(name)
        else:
            self._not_stored[name] = result

    def _checked_exercise(self, cell: NotebookNode) -> str:
        exercise = self.assignment.by_check_id.get(grade_id(cell))
        return exercise.name if exercise else ""

    @cached_property
    def _demos(self) -> set[str]:
        return {cell.source.strip() for cell in self.release.cells if is_demo(cell)}

    def _places(self, notebook: NotebookNode) -> list[int]:
        """The cells that are run: all, but for our own demonstrations, which train models and draw pictures.

        No check needs those, unless a student has changed them.
        """
        return [
            place for place in _code_places(notebook) if not self._is_unchanged_demo(notebook.cells[place])
        ]

    def _is_unchanged_demo(self, cell: NotebookNode) -> bool:
        return not grade_id(cell) and cell.source.strip() in self._demos


@contextmanager
def _server_beside(settings: Settings) -> Iterator[Future[Server]]:
    """A server that starts while something else is done. It runs one notebook, which imports what it needs."""
    with ThreadPoolExecutor(1) as pool:
        starting = pool.submit(Server, settings.limits, settings.isolation)
        try:
            yield starting
        finally:
            if starting.exception() is None:
                starting.result().close()


def _code_places(notebook: NotebookNode) -> list[int]:
    return [
        place for place, cell in enumerate(notebook.cells) if cell.cell_type == "code" and cell.source.strip()
    ]


def _readable(outcome: Outcome, limits: Limits, most: int) -> list[Frame]:
    """The frames that are what they claim to be, the first of each cell. A forged one counts as not sent."""
    frames: dict[int, Frame] = {}
    for blob in outcome.frames[:most]:
        try:
            frame = read_frame(blob, limits)
        except Malformed:
            continue
        frames.setdefault(frame.cell, frame)
    return list(frames.values())


def _lacks_a_name(frame: Frame) -> bool:
    """Whether an answer of this cell is a NameError. If the student forged that, the cells run twice, once."""
    messages = (answer.message for answer in frame.answers.values() if answer.problem == "exception")
    return any(_error_type(message) == "NameError" for message in messages)


def _error_type(message: str) -> str:
    """Of an error as `coursekit.asking` describes it: lines for its frames, then its type and what it says."""
    lines = dropwhile(lambda line: line.startswith("  in "), message.split("\n"))
    return next(lines, "").partition(":")[0]


def _result_to_store(result: Result) -> dict[str, Any]:
    return {
        "verdicts": [verdict.to_json() for verdict in result.verdicts],
        "seconds": result.seconds,
        "outputs": {str(place): outputs for place, outputs in result.outputs.items()},
        "seed": result.seed,
    }


def _result_from_store(student: str, stored: Mapping[str, Any]) -> Result:
    return Result(
        student,
        tuple(CellVerdict(**verdict) for verdict in stored["verdicts"]),
        stored["seconds"],
        {int(place): outputs for place, outputs in stored["outputs"].items()},
        stored["seed"],
    )
