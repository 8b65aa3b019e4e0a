"""What is known of each student beside the scores: the last verdicts with their reasons, and earlier hand-ins.

nbgrader's gradebook has no room for reasons, named mistakes and attempts. `report` and `regrade` read them here.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import msgspec
from nbformat import NotebookNode

from autograder.checks.status import Ending
from autograder.course import Assignment
from autograder.files import write_aside
from autograder.results import CellVerdict, Result
from autograder.source import grade_id
from autograder.untrusted.submission import Submission

LONGEST_ANSWER = 20_000  # characters that are kept


@dataclass(frozen=True)
class HandIn:
    """One file that was graded."""

    digest: str
    timestamp: str  # when it was handed in (UTC); "" where nobody knows
    answers: Mapping[str, str]  # {grade id of a cell that the student has written in: digest of its text}


@dataclass(frozen=True)
class History:
    """The last hand-in as it was graded, and all hand-ins, oldest first."""

    student: str
    verdicts: tuple[CellVerdict, ...]
    seconds: float
    ending: Ending  # as the result has it
    seed: str  # of the inputs, for appeals
    answers: Mapping[str, str]  # {grade id: text} of the cells that the student has written in
    hand_ins: tuple[HandIn, ...]
    added: str = ""  # the code of cells that are not the release's
    notes: tuple[str, ...] = ()  # what was put right before it was graded

    def by_cell(self) -> dict[str, CellVerdict]:
        """The verdicts of the latest submission by grade id."""
        return {verdict.grade_id: verdict for verdict in self.verdicts}

    def attempts(self, cell: str) -> int:
        """How many different answers were handed in for a cell."""
        return len({hand_in.answers[cell] for hand_in in self.hand_ins if cell in hand_in.answers})


def remember(assignment: Assignment, submission: Submission, result: Result) -> None:
    """Keep what was graded. The same file graded again takes the place of what was known of it."""
    answers = submission.written
    digests = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in answers.items()}
    timestamp = submission.timestamp.isoformat(sep=" ") if submission.timestamp else ""
    before = read_history(assignment, submission.student)
    earlier = list(before.hand_ins) if before else []
    if earlier and earlier[-1].digest == submission.digest:
        timestamp = timestamp or earlier[-1].timestamp  # as in the gradebook, an earlier one stays
        earlier.pop()
    latest = HandIn(submission.digest, timestamp, digests)
    shortened = {name: text[:LONGEST_ANSWER] for name, text in answers.items()}
    history = History(
        submission.student,
        result.verdicts,
        result.seconds,
        result.ending,
        result.seed,
        shortened,
        (*earlier, latest),
        added_code(submission.notebook, _release(assignment, assignment.release.stat().st_mtime_ns))[
            :LONGEST_ANSWER
        ],
        (*submission.notes, *result.notes),
    )
    write_aside(_path(assignment, submission.student), json.dumps(asdict(history)))


def read_history(assignment: Assignment, student: str) -> History | None:
    """What was kept of a student; None if nothing was, or if it is damaged."""
    try:
        # `json` reads NaN, which a picture of an answer may contain, and msgspec's own decoder does not.
        kept = json.loads(_path(assignment, student).read_text(encoding="utf-8"))
        return msgspec.convert(kept, History)
    except (OSError, ValueError):  # msgspec's errors are such
        return None


@lru_cache(maxsize=1)
def _release(assignment: Assignment, changed: int) -> NotebookNode:
    """Read once for all students, who only look at it. `changed` is when the file was."""
    return assignment.read_release()


def added_code(notebook: NotebookNode, release: NotebookNode) -> str:
    """The code of a student's own cells: neither to be filled in nor in the release."""
    released = {cell["source"] for cell in release["cells"]}
    own = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code" and not grade_id(cell)]
    return "\n\n".join(source for source in own if source not in released)


def _path(assignment: Assignment, student: str) -> Path:
    return assignment.kept("results") / f"{student}.json"
