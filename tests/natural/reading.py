"""Answers that students would write, and what they would read about them.

Each file NN_TOPIC.py here holds WRONG and RIGHT, {exercise: {what is special: source of the cell}}, written from the
task texts alone. A person has read every message that a wrong one gets; read.json keeps the verdict on it.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.builder import PUBLIC_SEED
from autograder.authoring.rates import Cells, read_natural
from autograder.checks.judging import judge
from autograder.course import Assignment
from autograder.grading import reference
from autograder.jail.outside.client import Server

HERE = Path(__file__).parent
READ = HERE / "read.json"
KINDS = ("named", "specific", "vague", "error", "missing", "passed")
"""What a program sees of a message: a known mistake, something about the cause, only how many numbers differ, …"""
CLASSES = ("named", "useful", "vague", "misleading")
"""What a person says of it."""
GOOD = ("named", "useful")

_COUNTS = re.compile(
    r"Right on \d+ of \d+ inputs\."
    r"|(^|(?<=\. ))(Part \d+|[\w ]{1,40}): "
    r"|\d+ of \d+ of your (numbers|entries) differ from the expected ones\."
    r"|Your number is \S+, expected is \S+?\.(?=\s|$)"
    r"|Where they differ, yours are always too (large|small)\."
    r"|It is too (large|small) on all of these inputs\.",
    re.MULTILINE,
)
"""The sentences that say how much is wrong and nothing of why."""
_DRAWS = re.compile(r"\b(rand\w*|dropout|Dropout|multinomial|bernoulli_?|shuffle)\(")


@dataclass(frozen=True)
class Message:
    """What the author of one wrong answer reads."""

    exercise: str
    what: str
    kind: str
    text: str
    random: bool = False

    @property
    def digest(self) -> str:
        """The same for the same words: their numbers may differ from processor to processor.

        A cell that draws numbers of its own gets another message each time, and one digest for all of them.
        """
        if self.random:
            return "random"
        words = re.sub(r"[−-]?\d+([.,]\d+)*(e[+-]?\d+)?", "#", self.text)
        return hashlib.sha256(words.encode()).hexdigest()[:12]


def list_of(assignment: Assignment, folder: Path = HERE) -> tuple[Cells, Cells]:
    """WRONG and RIGHT of one assignment, of those of its exercises that there are; empty without a file."""
    path = folder / f"{assignment.name}.py"
    return read_natural(path) if path.exists() else ({}, {})


def with_unseen(assignment: Assignment) -> tuple[Cells, Cells]:
    """The same with the answers of `unseen/`, of which only the verdicts count."""
    both = []
    for own, unseen in zip(list_of(assignment), list_of(assignment, HERE / "unseen"), strict=True):
        marked = {
            name: {f"unseen: {what}": cell for what, cell in cells.items()} for name, cells in unseen.items()
        }
        both.append({name: own.get(name, {}) | marked.get(name, {}) for name in {**own, **marked}})
    return both[0], both[1]


def messages(server: Server, assignment: Assignment, wrong: Cells) -> Iterator[Message]:
    """What each wrong answer gets on the public inputs."""
    keys = reference.public_keys(server, assignment, PUBLIC_SEED)
    given = reference.record(server, assignment, {name: list(keys[name].cases) for name in wrong}, wrong)
    for exercise, several in wrong.items():
        key = keys[exercise]
        for what, source in several.items():
            answers = [given.get((what, exercise, number)) for number in range(len(key.cases))]
            verdict = judge(answers, key.expected, key.rule, key.mistakes, cases=key.cases)
            text = "\n".join(filter(None, (verdict.reason, verdict.hint)))
            kind = _kind(verdict.status, verdict.mistake, text)
            yield Message(exercise, what, kind, text, bool(_DRAWS.search(source)))


def _kind(status: str, mistake: str, text: str) -> str:
    if mistake:
        return "named"
    if status != "failed":
        return status
    return "specific" if _COUNTS.sub("", text).strip() else "vague"


def read_so_far(path: Path = READ) -> dict[str, dict[str, dict[str, str]]]:
    """{exercise: {what: {"class": …, "digest": of the message that was read}}}."""
    return json.loads(path.read_text()) if path.exists() else {}


def class_of(message: Message, read: Mapping[str, Mapping[str, Mapping[str, str]]]) -> str:
    """What a person said of this very message, or ""."""
    entry = read.get(message.exercise, {}).get(message.what, {})
    return entry["class"] if entry.get("digest") == message.digest else ""


def merge(
    read: dict[str, dict[str, dict[str, str]]],
    classes: Mapping[str, Mapping[str, str]],
    found: Sequence[Message],
) -> None:
    """Write down what a person said of each message, {exercise: {what: class}}. Raises ValueError for what is not there."""
    by_name = {(message.exercise, message.what): message for message in found}
    for exercise, several in classes.items():
        for what, one in several.items():
            if one not in CLASSES:
                raise ValueError(f"{exercise}, {what!r}: {one!r} is none of {', '.join(CLASSES)}.")
            if (exercise, what) not in by_name:
                raise ValueError(f"{exercise} has no wrong answer {what!r} among those that were run.")
            entry = {"class": one, "digest": by_name[exercise, what].digest}
            read.setdefault(exercise, {})[what] = entry


def save(read: Mapping[str, Mapping[str, Mapping[str, str]]], path: Path = READ) -> None:
    path.write_text(json.dumps(read, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
