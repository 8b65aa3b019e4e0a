"""From what came out of the jail to a score and a reason for every graded cell."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nbformat import NotebookNode
from nbgrader.utils import determine_grade, is_grade

from autograder.course import Assignment
from autograder.jail.frames import Frame
from autograder.source import grade_id
from autograder.submission import Submission
from coursekit.answer_key import ExerciseKey
from coursekit.judging import judge

UNFINISHED = {
    "timeout": ("timeout", "The notebook ran out of time before this check was answered."),
    "memory": ("memory", "The notebook used more memory than allowed before this check was answered."),
    "output": ("error", "The notebook wrote more output than allowed before this check was answered."),
    "finished": ("error", "No readable answers of this check came out of the notebook."),
    "died": ("error", "The notebook's process ended before this check was answered."),
}
LONGEST_REASON = 2000


@dataclass(frozen=True)
class CellVerdict:
    """Score and reason of one graded cell.

    score is None while a person has to grade it. extra is what counts beyond max_score.
    """

    grade_id: str
    score: float | None
    max_score: float
    status: str  # passed, failed, error, timeout, memory, missing, malformed, manual
    reason: str = ""
    mistake: str = ""
    hint: str = ""
    extra: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def earned(self) -> float:
        return (self.score or 0.0) + self.extra


def points(cell: NotebookNode) -> float:
    return float(cell.metadata.nbgrader.get("points", 0))


def extra_credit(cell: NotebookNode) -> float:
    return float(cell.metadata.get("course", {}).get("extra_credit", 0))


def judge_cells(
    assignment: Assignment,
    submission: Submission,
    keys: Mapping[str, ExerciseKey],
    frames: Sequence[Frame],
    checks: Mapping[int, str],
    ending: str,
) -> list[CellVerdict]:
    """One verdict for each graded cell of a submission that was run.

    `checks` maps the number of a job's cell to the exercise it checks; `ending` is the outcome's status.
    """
    ran = {checks[frame.cell]: frame for frame in frames if frame.cell in checks}
    verdicts = []
    for cell in graded_cells(submission.notebook):
        exercise = assignment.by_check_id.get(grade_id(cell))
        if exercise is None:
            verdicts.append(_manual(cell))
            continue
        key = keys[exercise.name]
        frame = ran.get(exercise.name)
        answers = frame.answers if frame else {}  # those that another cell claims to have do not count
        given = [answers.get(("", exercise.name, number)) for number in range(len(key.cases))]
        if any(answer is None for answer in given) and (frame is None or frame.problem == "timeout"):
            status, reason = UNFINISHED.get(ending if frame is None else "timeout", UNFINISHED["died"])
            if frame is not None:
                reason = "Your function did not come back within the time limit."
            verdicts.append(_automatic(cell, status, reason))
            continue
        verdict = judge(given, key.expected, key.rule, key.mistakes, exercise.unseen)
        verdicts.append(_automatic(cell, verdict.status, verdict.reason, verdict.mistake, verdict.hint))
    return verdicts


def without_running(assignment: Assignment, submission: Submission) -> list[CellVerdict]:
    """Verdicts of a submission that could not be read: nothing earned, and the reason on every cell."""
    return [
        CellVerdict(grade_id(cell), 0.0, points(cell), submission.status, submission.reason)
        for cell in graded_cells(submission.notebook)
    ]


def graded_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if is_grade(cell)]


def readable(reason: str) -> str:
    """A reason that quotes the student, for terminals and pages: not too long, nothing that is not a letter."""
    if len(reason) > LONGEST_REASON:  # the end of an error says what it was
        reason = f"{reason[: LONGEST_REASON // 2]} … {reason[-LONGEST_REASON // 2 :]}"
    signs = reason.replace("\t", "    ")
    return "".join(
        sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in signs
    )


def _automatic(
    cell: NotebookNode, status: str, reason: str, mistake: str = "", hint: str = ""
) -> CellVerdict:
    passed = status == "passed"
    return CellVerdict(
        grade_id=grade_id(cell),
        score=points(cell) if passed else 0.0,
        max_score=points(cell),
        status=status,
        reason=readable(reason),
        mistake=mistake,
        hint=hint,
        extra=extra_credit(cell) if passed else 0.0,
    )


def _manual(cell: NotebookNode) -> CellVerdict:
    """A written answer: 0 if it is still the stub (nbgrader's own rule), otherwise for a person to grade."""
    score, _ = determine_grade(cell)
    if score is None:
        return CellVerdict(grade_id(cell), None, points(cell), "manual", "To be graded by hand.")
    return CellVerdict(grade_id(cell), float(score), points(cell), "missing", "No answer was written.")
