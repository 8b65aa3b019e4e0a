"""The result of grading one submission, and the verdict on each of its cells."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.checks.panels import Panels
from autograder.checks.status import Ending, Status

BUILDS = "This exercise builds on "  # as `dependants` begins the line
LONGEST = 400  # characters of a reason that students read
IN_SHORT = {Status.PASSED: "right", Status.MANUAL: "to be graded by hand"}


@dataclass(frozen=True)
class CellVerdict:
    """Score and reason of one graded cell.

    score is None while a person has to grade it. extra is what counts beyond max_score. credit is the share of both that
    a wrong answer earned as a known mistake. panels is what a picture shows of a wrong answer beside the expected one.
    """

    grade_id: str
    score: float | None
    max_score: float
    status: Status
    reason: str = ""
    mistake: str = ""
    hint: str = ""
    extra: float = 0.0
    credit: float = 0.0
    panels: Panels | None = None

    @property
    def earned(self) -> float:
        """The points with extra credit; 0 while a person has to grade the cell."""
        return (self.score or 0.0) + self.extra


@dataclass(frozen=True)
class Result:
    """Everything known about one graded submission."""

    student: str
    verdicts: tuple[CellVerdict, ...]
    seconds: float
    outputs: Mapping[int, list[dict[str, Any]]] = field(default_factory=dict)  # by the cell's place
    seed: str = ""
    ending: Ending = Ending.FINISHED
    notes: tuple[str, ...] = ()  # what had to be put right before it could be run
    notebook: str = ""  # which one of an assignment that has several

    @property
    def trouble(self) -> bool:
        """Whether the notebook could not be read, or not be run to its end."""
        return self.ending != Ending.FINISHED or any(
            verdict.status == Status.TIMEOUT for verdict in self.verdicts
        )

    @property
    def score(self) -> float:
        """The points of all cells, with extra credit: it may exceed `max_score`."""
        return sum(verdict.earned for verdict in self.verdicts)

    @property
    def max_score(self) -> float:
        """The points that can be earned without extra credit."""
        return sum(verdict.max_score for verdict in self.verdicts)

    def to_json(self) -> dict[str, Any]:
        """A summary for other programs, without outputs, hints and pictures."""
        keep = ("grade_id", "score", "max_score", "status", "reason", "mistake")
        cells = [{name: getattr(verdict, name) for name in keep} for verdict in self.verdicts]
        for cell, verdict in zip(cells, self.verdicts, strict=True):
            if verdict.extra:
                cell["extra_credit"] = verdict.extra
            if verdict.credit:
                cell["credit"] = verdict.credit
        return {
            "student": self.student,
            **({"notebook": self.notebook} if self.notebook else {}),
            "score": self.score,
            "max_score": self.max_score,
            "seconds": round(self.seconds, 3),
            "cells": cells,
        }


def in_short(verdict: CellVerdict) -> str:
    """A verdict in one line."""
    if verdict.status in IN_SHORT:
        return IN_SHORT[verdict.status]
    lines = verdict.reason.splitlines() or [verdict.status]
    return lines[-1] if verdict.status == Status.ERROR else lines[0]  # an error's last line is its message


def told(verdict: CellVerdict) -> tuple[str, str, str]:
    """What a student reads of a wrong answer: what happened, the hint, and which earlier answer to correct first."""
    follows = next((line for line in verdict.reason.splitlines() if line.startswith(BUILDS)), "")
    follows = follows and f"{follows} Correct the earlier answer first."
    return _shortened(in_short(verdict)), _shortened(verdict.hint), follows


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
