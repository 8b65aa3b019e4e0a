"""Grade one submission: restore → job → jail → answers → verdicts → store.

The same engine serves `autograder grade` and nbgrader's own Autograde.
"""

import secrets
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from nbformat import NotebookNode

from autograder import nbgrader_settings, reference
from autograder.course import Assignment
from autograder.jail.client import Outcome, Server, ServerDied
from autograder.jail.frames import Frame, read_frame
from autograder.jail.limits import Limits
from autograder.source import grade_id, is_demo
from autograder.store import CACHED_STATUS, Store, job_id, rules_digest
from autograder.submission import Submission
from autograder.verdicts import CellVerdict, judge_cells, without_running
from coursekit.answer_key import ExerciseKey
from coursekit.answers import Malformed


@dataclass(frozen=True)
class Result:
    """Everything known about one graded submission."""

    student: str
    verdicts: tuple[CellVerdict, ...]
    seconds: float
    outputs: Mapping[int, list[dict[str, Any]]] = field(default_factory=dict)  # by the cell's place
    seed: str = ""

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


class Engine:
    """Keeps one warm server, and the expected answers on inputs drawn for this run."""

    def __init__(self, assignment: Assignment, store: Store, isolation: str = "bwrap"):
        self.assignment = assignment
        self.store = store
        self.isolation = isolation
        self.limits = nbgrader_settings.limits(assignment.root)
        self.seed = secrets.randbits(128)
        self._open = ExitStack()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    @cached_property
    def release(self) -> NotebookNode:
        return self.assignment.read_release()

    @cached_property
    def _rules(self) -> str:
        return rules_digest(self.assignment)

    @cached_property
    def server(self) -> Server:
        """What students' code forks from."""
        return self._server_and_keys[0]

    @cached_property
    def keys(self) -> Mapping[str, ExerciseKey]:
        """Inputs of this run, with the solution's answers and those of every known mistake."""
        return self._server_and_keys[1]

    @cached_property
    def _server_and_keys(self) -> tuple[Server, Mapping[str, ExerciseKey]]:
        with ThreadPoolExecutor(2) as pool:
            server, keys = pool.submit(self._start_server), pool.submit(self._record_keys)
            return self._open.enter_context(server.result()), keys.result()

    def _start_server(self) -> Server:
        data = self.assignment.root / "data"
        return Server(self.limits, self.isolation, extra_readonly=[data] if data.exists() else [])

    def _record_keys(self) -> Mapping[str, ExerciseKey]:
        """In a server of their own: what students' code forks from has never seen a solution."""
        with Server(self.limits, self.isolation) as server:
            return reference.exercise_keys(server, self.assignment, self.seed)

    def grade(self, submission: Submission) -> Result:
        if submission.status:
            return Result(submission.student, tuple(without_running(self.assignment, submission)), 0.0)
        job = job_id(
            submission.digest, self._rules, {"isolation": self.isolation, "limits": asdict(self.limits)}
        )
        stored = self.store.get(job)
        if stored is not None:
            return _result_from_store(submission.student, stored)
        result, outcome = self._run(submission)
        if outcome.status in CACHED_STATUS and not any(v.status == "timeout" for v in result.verdicts):
            self.store.put(job, _result_to_store(result))
        return result

    def _run(self, submission: Submission) -> tuple[Result, Outcome]:
        places = [
            place
            for place in _code_places(submission.notebook)
            if not self._is_unchanged_demo(submission.notebook, place)
        ]
        result, outcome, needs_all = self._run_cells(submission, places)
        if needs_all and len(places) < len(_code_places(submission.notebook)):
            # Some answer needs a name that a demonstration defines: run those cells too.
            result, outcome, _ = self._run_cells(submission, _code_places(submission.notebook))
        return result, outcome

    def _run_cells(self, submission: Submission, places: list[int]) -> tuple[Result, Outcome, bool]:
        cells = [submission.notebook.cells[place] for place in places]
        exercises = [self._checked_exercise(cell) for cell in cells]
        steps = [reference.cell(c.source, name) for c, name in zip(cells, exercises, strict=True)]
        cases = {name: list(key.cases) for name, key in self.keys.items()}
        outcome = self._run_job(reference.make_job(steps, cases))
        frames = _readable(outcome, self.limits, 2 * len(cells))
        checks = {number: name for number, name in enumerate(exercises) if name}
        verdicts = judge_cells(self.assignment, submission, self.keys, frames, checks, outcome.status)
        outputs = {places[frame.cell]: list(frame.outputs) for frame in frames if frame.cell < len(places)}
        needs_all = any("NameError" in verdict.reason for verdict in verdicts)
        result = Result(submission.student, tuple(verdicts), outcome.seconds, outputs, f"{self.seed:032x}")
        return result, outcome, needs_all

    def _run_job(self, job: bytes) -> Outcome:
        try:
            return self.server.run(job)
        except ServerDied:
            # Twice, with this job. If a harmless job dies too, the fault is ours and ends the run.
            self.server.run(reference.make_job([reference.cell("1 + 1")], {}))
            return Outcome((), "died", 0.0, 0.0, 0)

    def _checked_exercise(self, cell: NotebookNode) -> str:
        exercise = self.assignment.by_check_id.get(grade_id(cell))
        return exercise.name if exercise else ""

    @cached_property
    def _demos(self) -> set[str]:
        return {cell.source.strip() for cell in self.release.cells if is_demo(cell)}

    def _is_unchanged_demo(self, notebook: NotebookNode, place: int) -> bool:
        """Our own demonstrations train models and draw pictures; no check needs them."""
        cell = notebook.cells[place]
        return not grade_id(cell) and cell.source.strip() in self._demos


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
