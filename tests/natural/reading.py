"""What the answers in these files are told on the public inputs, compared with what the files say."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from autograder.authoring.natural import NaturalAnswer, cells, read_natural
from autograder.checks import answer_key
from autograder.checks.asking import Answer
from autograder.checks.judging import Verdict, judge
from autograder.checks.status import Status
from autograder.course import Assignment
from autograder.exercise import Exercise
from autograder.grading import reference

HERE = Path(__file__).parent
RATINGS = ("named", "useful", "vague", "misleading")
"""What a person says of a message: it names what was done; it says something true that leads there; it is true and
says no more than how much is wrong; it says something untrue of this answer, or sends the student elsewhere."""
GOOD = ("named", "useful")
UNREAD = "unread"
OUTCOME = ("named", "status", "message")
"""The keys of an entry that say what is told; `--update` writes them, and `rating`."""

_FRAME = re.compile(r"^  in .*, line \d+: .*\n", re.MULTILINE)
_NUMBER = re.compile(r"[−-]?\d+([.,]\d+)*(e[+-]?\d+)?")


@dataclass(frozen=True)
class Feedback:
    """What the author of one answer is told on the public inputs: as an entry has it, and in full."""

    answer: NaturalAnswer
    outcome: Mapping[str, str]
    text: str = ""

    @property
    def as_recorded(self) -> bool:
        """Whether both have the same words. Their numbers may differ from processor to processor."""
        recorded = _recorded(self.answer)
        if self.answer.entry.get("varies"):
            return bool(recorded)
        return _masked(self.outcome) == _masked(recorded)

    def __str__(self) -> str:
        return f"{self.answer.exercise}: {self.answer.what}  [{rating(self.answer)}]\n{_indented(self.text)}"


def file_of(assignment: Assignment) -> Path:
    return HERE / f"{assignment.name}.yaml"


def answers_to(assignment: Assignment) -> list[NaturalAnswer]:
    return read_natural(file_of(assignment), reference.solution_sources(assignment))


def rating(answer: NaturalAnswer) -> str:
    """What a person said of the recorded message; a mistake's name and hint were written by one."""
    return answer.entry.get("rating", "named" if "named" in answer.entry else UNREAD)


def tried(
    server: reference.Runner, assignment: Assignment, answers: Sequence[NaturalAnswer], seed: int
) -> Iterator[tuple[NaturalAnswer, Exercise, list[Answer | None], list[Answer | None]]]:
    """Each answer with its exercise, what its code gives on the inputs of one seed, and what the solution gives."""
    cases = reference.draw(assignment, assignment.exercises, seed)
    given = reference.record(server, assignment, cases, cells(answers))
    for answer in answers:
        numbers = range(len(cases[answer.exercise]))
        got, expected = ([given.get((way, answer.exercise, n)) for n in numbers] for way in (answer.what, ""))
        yield answer, assignment.exercises[answer.exercise], got, expected


def verdicts(
    server: reference.Runner, assignment: Assignment, answers: Sequence[NaturalAnswer]
) -> Iterator[tuple[NaturalAnswer, Verdict, Verdict]]:
    """Each answer with its verdict in the notebook and the one when it is graded, on the inputs that students have."""
    keys = answer_key.load(assignment.key)
    cases = {name: key.cases for name, key in keys.items()}
    given = reference.record(server, assignment, cases, cells(answers))
    for answer in answers:
        key, unseen = keys[answer.exercise], assignment.exercises[answer.exercise].unseen
        got = [given.get((answer.what, answer.exercise, number)) for number in range(len(key.cases))]
        yield (
            answer,
            judge(got, key.expected, key.rule, key.mistakes, cases=key.received),
            judge(got, key.expected, key.rule, key.mistakes, unseen, key.received),
        )


def feedback(
    server: reference.Runner, assignment: Assignment, answers: Sequence[NaturalAnswer]
) -> Iterator[Feedback]:
    """What the wrong ones are told in the notebook."""
    wrong = [answer for answer in answers if not answer.right]
    return (feedback_on(answer, verdict) for answer, verdict, _ in verdicts(server, assignment, wrong))


def feedback_on(answer: NaturalAnswer, verdict: Verdict) -> Feedback:
    return Feedback(answer, outcome(verdict), "\n".join(filter(None, (verdict.reason, verdict.hint))))


def outcome(verdict: Verdict) -> dict[str, str]:
    """The verdict as an entry has it: the lines that say where in the code an error occurred are left out."""
    if verdict.mistake:
        return {"named": verdict.mistake}
    text = "\n".join(filter(None, (verdict.reason, verdict.hint)))
    status = {} if verdict.status == Status.FAILED else {"status": str(verdict.status)}
    return status | {"message": _FRAME.sub("", f"{text}\n")}


def _recorded(answer: NaturalAnswer) -> dict[str, str]:
    return {key: answer.entry[key] for key in OUTCOME if key in answer.entry}


def _masked(outcome: Mapping[str, str]) -> dict[str, str]:
    return {key: _NUMBER.sub("#", text).strip() for key, text in outcome.items()}


def _indented(text: str) -> str:
    return "    " + text.strip().replace("\n", "\n    ")


def difference(feedback: Feedback) -> str:
    """What the file says of an answer, and what it is told now."""
    recorded = _recorded(feedback.answer)
    before, now = (
        _indented(_lines(each)) if each else "    nothing" for each in (recorded, feedback.outcome)
    )
    return f"{feedback.answer.exercise}: {feedback.answer.what}\n  recorded:\n{before}\n  now:\n{now}"


def updated(text: str, changed: Iterable[Feedback]) -> str:
    """The file with these outcomes in place of those that it has; all other lines stay as they are.

    A person's rating stays as well, unless the answer is told a mistake's name now, or no longer.
    """
    by_name = {(one.answer.exercise, one.answer.what): one for one in changed}
    lines = text.splitlines()
    for exercise, entry in reversed(list(_entries(text))):
        keys = {key.value: key.start_mark for key, _ in entry.value}
        what = next(value.value for key, value in entry.value if key.value == "what")
        one = by_name.get((exercise, what))
        if one is None:
            continue
        column = entry.start_mark.column
        spans = {key: range(mark.line, _end(lines, mark.line, column)) for key, mark in keys.items()}
        last = max(span.stop for key, span in spans.items() if key not in (*OUTCOME, "rating"))
        for line in sorted((n for key in (*OUTCOME, "rating") for n in spans.get(key, ())), reverse=True):
            del lines[line]
            last -= line < last
        new = {**one.outcome, **_rating_after(one)}
        lines[last:last] = (" " * column + line for line in _lines(new).splitlines())
    return "\n".join(lines) + "\n"


def _entries(text: str) -> Iterator[tuple[str, yaml.MappingNode]]:
    for exercise, lists in yaml.compose(text, Loader=yaml.SafeLoader).value:
        for _, entries in lists.value:
            for entry in entries.value:
                yield exercise.value, entry


def _end(lines: Sequence[str], start: int, column: int) -> int:
    """The line after the last one of the key that begins in line `start`: those after it are indented further."""
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" " * (column + 1))):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return end


def _rating_after(feedback: Feedback) -> dict[str, str]:
    entry, named = feedback.answer.entry, "named" in feedback.outcome
    if "rating" in entry and named == ("named" in entry):
        return {"rating": entry["rating"]}
    return {} if named or entry.get("unseen") else {"rating": UNREAD}


def _lines(outcome: Mapping[str, Any]) -> str:
    """An outcome as YAML."""
    lines = []
    for key, value in outcome.items():
        if key == "message":
            lines.append("message: |\n" + "".join(f"  {line}".rstrip() + "\n" for line in value.splitlines()))
        else:
            lines.append(yaml.safe_dump({key: value}, allow_unicode=True, width=10**6))
    return "".join(lines)
