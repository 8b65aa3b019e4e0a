"""From what came out of the jail to a score and a reason for every graded cell."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nbformat import NotebookNode, from_dict

from autograder.checks.answer_key import ExerciseKey
from autograder.checks.asking import Answer
from autograder.checks.judging import Verdict, judge
from autograder.checks.measuring import measured
from autograder.checks.panels import Panels, panels
from autograder.checks.status import CellEnding, Ending, Problem, Status
from autograder.course import Assignment
from autograder.exercise import Exercise
from autograder.results import CellVerdict
from autograder.source import extra_credit, grade_id, is_task, points
from autograder.untrusted.frames import Frame
from autograder.untrusted.submission import Submission

UNFINISHED = {
    Ending.TIMEOUT: (Status.TIMEOUT, "The notebook ran out of time before this check was answered."),
    Ending.MEMORY: (
        Status.MEMORY,
        "The notebook used more memory than allowed before this check was answered.",
    ),
    Ending.OUTPUT: (
        Status.ERROR,
        "The notebook wrote more output than allowed before this check was answered.",
    ),
    Ending.KILLED: (
        Status.MEMORY,
        "The machine ran out of memory, and the notebook was stopped twice before this check was answered.",
    ),
    Ending.FINISHED: (Status.ERROR, "The notebook returned no readable answers for this check."),
    Ending.DIED: (Status.ERROR, "The notebook's process stopped before this check was answered."),
}
UNFINISHED_TEST = {
    Ending.TIMEOUT: (Status.TIMEOUT, "The notebook ran out of time before this cell was run."),
    Ending.MEMORY: (Status.MEMORY, "The notebook used more memory than allowed before this cell was run."),
    Ending.OUTPUT: (Status.ERROR, "The notebook wrote more output than allowed before this cell was run."),
    Ending.KILLED: (
        Status.MEMORY,
        "The machine ran out of memory, and the notebook was stopped twice before this cell was run.",
    ),
    Ending.FINISHED: (Status.ERROR, "The notebook returned no readable outputs for this cell."),
    Ending.DIED: (Status.ERROR, "The notebook's process stopped before this cell was run."),
}
LONGEST_REASON = 2000
MOST_KEPT = 16  # rows and columns of a picture: at most 5 KB of each wrong answer
LONGEST_NUMBER = 1000  # characters that are read as partial credit


@dataclass(frozen=True)
class Reply:
    """What came back for one check: the frame of its cell, if there was one, and how the job ended."""

    frame: Frame | None
    ending: Ending

    def answers(self, key: ExerciseKey) -> list[Answer | None]:
        """One for each case; None where none came. Answers that another cell claims to have do not count."""
        answers = self.frame.answers if self.frame else {}
        given = [answers.get(("", key.name, number)) for number in range(len(key.cases))]
        pairs = zip(given, key.cases, strict=True)
        return [answer and measured(answer, case, key.rule) for answer, case in pairs]


def judge_cells(
    assignment: Assignment,
    submission: Submission,
    keys: Mapping[str, ExerciseKey],
    replies: Mapping[str, Reply],
    tests: Mapping[str, Reply],
) -> list[CellVerdict]:
    """One verdict for each graded cell of a submission that was run.

    `replies` of checks are by the exercise's name, `tests` are those of nbgrader's test cells by grade id.
    """
    verdicts = []
    for cell in submission.graded:
        exercise = assignment.by_check_id.get(grade_id(cell))
        if exercise is None:
            test = assignment.is_test(cell)
            verdicts.append(_judge_test(cell, tests.get(grade_id(cell))) if test else _manual(cell))
        else:
            verdicts.append(_judge(cell, exercise, keys[exercise.name], replies[exercise.name]))
    return verdicts


def unnamed(
    assignment: Assignment,
    keys: Mapping[str, ExerciseKey],
    replies: Mapping[str, Reply],
    verdicts: Iterable[CellVerdict],
) -> frozenset[str]:
    """The exercises whose wrong answers may be those of a known mistake, if it were compared with them.

    No mistake is that of a cell without an answer, or one whose answers did not all come; none stops with an error on
    every input. One that has a share of the points may show where an earlier function is right.
    """
    wrong = [
        assignment.by_check_id.get(v.grade_id) for v in verdicts if v.status in (Status.FAILED, Status.ERROR)
    ]
    return frozenset(
        exercise.name
        for exercise in wrong
        if exercise and _may_be_known(exercise, replies[exercise.name].answers(keys[exercise.name]))
    )


def _may_be_known(exercise: Exercise, answers: Sequence[Answer | None]) -> bool:
    if None in answers or not exercise.mistakes:
        return False
    stopped = all(answer is not None and answer.problem == Problem.EXCEPTION for answer in answers)
    return not stopped or any(mistake.credit for mistake in exercise.mistakes)


def judge_again(
    assignment: Assignment,
    submission: Submission,
    keys: Mapping[str, ExerciseKey],
    replies: Mapping[str, Reply],
    verdicts: Iterable[CellVerdict],
    names: Collection[str],
) -> list[CellVerdict]:
    """The verdicts, of these exercises new ones."""
    cells = {grade_id(cell): cell for cell in submission.graded}
    again = {name: assignment.exercises[name] for name in names}
    new = {
        exercise.check_id: _judge(cells[exercise.check_id], exercise, keys[name], replies[name])
        for name, exercise in again.items()
    }
    return [new.get(verdict.grade_id, verdict) for verdict in verdicts]


def _judge(cell: NotebookNode, exercise: Exercise, key: ExerciseKey, reply: Reply) -> CellVerdict:
    answers = reply.answers(key)
    frame = reply.frame
    if any(answer is None for answer in answers) and (frame is None or frame.problem == CellEnding.TIMEOUT):
        if frame is not None:
            reason = f"Your function did not return within the time limit{_waited(frame)}."
            return automatic(cell, Status.TIMEOUT, readable(reason))
        return automatic(cell, *UNFINISHED.get(reply.ending, UNFINISHED[Ending.DIED]))
    verdict = judge(answers, key.expected, key.rule, key.mistakes, exercise.unseen, key.received)
    judged = automatic(cell, verdict.status, verdict.reason, verdict.mistake, verdict.hint, verdict.credit)
    return replace(judged, panels=_panels(verdict, answers, key))


def _waited(frame: Frame) -> str:
    """What the cell says that it was waiting in when it was stopped, to go on with."""
    found = re.search(r"CellTimeout: [^:\n]*(: it was waiting in [^\n]+)", frame.error_text)
    return found[1] if found else ""


def _panels(verdict: Verdict, answers: Sequence[Answer | None], key: ExerciseKey) -> Panels | None:
    """Of the arrays that the verdict is about, if they differ. A test of inputs ("exposes") expects no numbers."""
    if verdict.status != Status.FAILED or verdict.case < 0 or key.rule.kind == "exposes":
        return None
    answer, expected = answers[verdict.case], key.expected[verdict.case]
    got, want = (made.arrays.get(verdict.part) if made else None for made in (answer, expected))
    shown = None if got is None or want is None else panels(got, want, MOST_KEPT)
    return shown if shown and not (shown.same_shape and not shown.difference.any()) else None


def _judge_test(cell: NotebookNode, reply: Reply | None) -> CellVerdict:
    """nbgrader's own rule, on what the cell showed: nothing after an error, else all points or the value of its last line.

    The cell was run in the student's process: whoever wants to can forge what it shows.
    """
    if reply is None:  # an empty cell
        return automatic(cell, Status.PASSED, "")
    frame = reply.frame
    if frame is None:
        return automatic(cell, *UNFINISHED_TEST.get(reply.ending, UNFINISHED_TEST[Ending.DIED]))
    if frame.problem == CellEnding.TIMEOUT:
        reason = f"This cell did not finish within the time limit{_waited(frame)}."
        return automatic(cell, Status.TIMEOUT, readable(reason))
    try:
        score, worth = _determine_grade(NotebookNode(cell, outputs=_as_nbgrader_reads(frame)))
    except (KeyError, ValueError) as error:
        # nbgrader stops here, and the whole notebook has no grade.
        reason = (
            f"The value of its last line is not a number of points ({error.args[0]}): to be graded by hand."
        )
        return CellVerdict(grade_id(cell), None, points(cell), Status.MANUAL, readable(reason))
    if complaint := _complaint(frame, score):
        return automatic(cell, *complaint)
    if score == worth:
        return automatic(cell, Status.PASSED, "")
    reason = f"The test's own value is {score:g} of {worth:g} points."
    return CellVerdict(grade_id(cell), score, worth, Status.PARTIAL if score else Status.FAILED, reason)


def _as_nbgrader_reads(frame: Frame) -> list[NotebookNode]:
    """The outputs of a frame. A text too long for a number is none, and costs no time to read as one."""
    outputs = [from_dict(output) for output in frame.outputs]
    for output in outputs:
        if len(output.get("data", {}).get("text/plain", "")) > LONGEST_NUMBER:
            output.data["text/plain"] = "…"
    return outputs


def _determine_grade(cell: NotebookNode) -> tuple[float | None, float]:
    from nbgrader.utils import determine_grade  # start-up: servers start meanwhile

    return determine_grade(cell)


def _complaint(frame: Frame, score: float | None) -> tuple[Status, str] | None:
    """Status and reason where a cell showed an error, or wrote to stderr, which counts as one."""
    if not frame.problem and score:
        return None
    for output in frame.outputs:
        if output["output_type"] == "error":
            status = Status.FAILED if output["ename"] == "AssertionError" else Status.ERROR
            return status, _as_said(output["ename"], output["evalue"].strip())
        if output.get("name") == "stderr":
            return (
                Status.ERROR,
                f"{output['text']}\nThe cell wrote this to stderr. nbgrader gives no points to a test cell that does so.",
            )
    return (Status.ERROR, "The cell stopped with an error that it did not show.") if frame.problem else None


def with_what_stopped(
    assignment: Assignment,
    submission: Submission,
    verdicts: Iterable[CellVerdict],
    replies: Mapping[str, Reply],
    outputs: Mapping[int, Sequence[Mapping[str, Any]]],
) -> list[CellVerdict]:
    """The verdicts; where there was no answer to judge, with what is known of the reason.

    Who may have answered in another cell is not told that there is no answer: a person decides. `outputs` are those of
    the notebook's cells, by place.
    """
    cells = {grade_id(cell): place for place, cell in enumerate(submission.notebook.cells)}
    final = []
    for verdict in verdicts:
        exercise = assignment.by_check_id.get(verdict.grade_id)
        answer = exercise.solution_id if exercise else verdict.grade_id
        if verdict.status == Status.MISSING and answer in submission.doubtful:
            verdict = _left_to_a_person(verdict, submission.doubtful[answer])
        elif answer in submission.unsure and _is_worth_nothing(verdict):
            verdict = _left_unsure(verdict, submission.unsure[answer])
        elif exercise and verdict.status in (Status.MISSING, Status.ERROR):
            verdict = _explained(verdict, exercise, submission, replies[exercise.name])
            stopped = last_error(outputs.get(cells.get(exercise.solution_id, -1), ()))
            if stopped and stopped not in verdict.reason:
                verdict = replace(
                    verdict,
                    reason=readable(f"{verdict.reason}\nThe cell of the answer stopped with {stopped}."),
                )
        final.append(verdict)
    return final


def _left_to_a_person(verdict: CellVerdict, begins: str) -> CellVerdict:
    quoted = begins.replace("`", "'")
    reason = (
        f"The cell for this answer is unchanged, but the cell that begins with `{quoted}` may contain the answer: to be "
        "graded by hand."
    )
    return replace(verdict, score=None, status=Status.MANUAL, reason=readable(reason))


def _is_worth_nothing(verdict: CellVerdict) -> bool:
    return verdict.status not in (Status.PASSED, Status.MANUAL) and not verdict.credit and not verdict.score


def _left_unsure(verdict: CellVerdict, why: str) -> CellVerdict:
    reason = f"{why} To be graded by hand. As submitted: {verdict.reason}"
    return replace(verdict, score=None, status=Status.MANUAL, reason=readable(reason))


def _explained(verdict: CellVerdict, exercise: Exercise, submission: Submission, reply: Reply) -> CellVerdict:
    if verdict.status != Status.MISSING:
        return verdict
    answers = reply.frame.answers.values() if reply.frame else ()
    own = exercise.name.rpartition(".")[2]
    unanswered = any(answer.problem == Problem.UNANSWERED and answer.message == own for answer in answers)
    if unanswered and exercise.solution_id in submission.written:
        reason = (
            f"`{own}` still raises NotImplementedError, although its cell was changed: delete the line that raises it, so that "
            "what you wrote is run."
        )
        return replace(verdict, reason=reason)
    if reply.frame and not reply.frame.answers and (stopped := last_error(reply.frame.outputs)):
        return replace(verdict, reason=readable(f"The check returned no answer: it stopped with {stopped}."))
    return verdict


def last_error(outputs: Iterable[Mapping[str, Any]]) -> str:
    """The last error among a cell's outputs, in a line."""
    errors = [output for output in outputs if output["output_type"] == "error"]
    if not errors:
        return ""
    said = next(iter(errors[-1]["evalue"].strip().splitlines()), "")
    return _as_said(errors[-1]["ename"], said[:200])


def _as_said(kind: str, message: str) -> str:
    """An error in a line. R begins its messages with "Error" and calls each of them ERROR."""
    return message if message.lower().startswith(kind.lower()) else f"{kind}: {message}".removesuffix(": ")


def without_running(assignment: Assignment, submission: Submission) -> list[CellVerdict]:
    """Verdicts of a submission that could not be read: nothing earned, and the reason on every cell."""
    assert submission.status is not None, "it could not be read"
    return [
        CellVerdict(grade_id(cell), 0.0, points(cell), submission.status, submission.reason)
        for cell in submission.graded
    ]


def readable(reason: str) -> str:
    """A reason that quotes the student, for terminals and pages: not too long, nothing that is not a letter."""
    if len(reason) > LONGEST_REASON:  # the end of an error says what it was
        reason = f"{reason[: LONGEST_REASON // 2]} … {reason[-LONGEST_REASON // 2 :]}"
    signs = reason.replace("\t", "    ")
    return "".join(
        sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in signs
    )


def automatic(
    cell: NotebookNode, status: Status, reason: str, mistake: str = "", hint: str = "", credit: float = 0.0
) -> CellVerdict:
    """The verdict of a check: all points, none, or the share that a known mistake earns."""
    share = 1.0 if status == Status.PASSED else credit
    return CellVerdict(
        grade_id=grade_id(cell),
        score=points(cell) * share,
        max_score=points(cell),
        status=status,
        reason=readable(reason),
        mistake=mistake,
        hint=hint,
        extra=extra_credit(cell) * share,
        credit=credit,
    )


def _manual(cell: NotebookNode) -> CellVerdict:
    """For a person to grade; 0 if it is an answer that is still the stub (nbgrader's own rules)."""
    score = None if is_task(cell) else _determine_grade(cell)[0]
    if score is None:
        return CellVerdict(grade_id(cell), None, points(cell), Status.MANUAL, "To be graded by hand.")
    return CellVerdict(grade_id(cell), 0.0, points(cell), Status.MISSING, "No answer was written.")
