"""A transaction on one question: what has been decided, what is changed, and how it is undone."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from nbgrader.api import Gradebook

from autograder.course import Assignment
from autograder.gradebook.by_hand import Mark, write_marks
from autograder.written.state import Decision, Json, QuestionState, short_digest

ELSEWHERE = "formgrader"
"""Who gave points that the desk knows nothing of."""


class Conflict(Exception):
    """What an action was based on is no longer so. Nothing was written."""


@dataclass
class Transaction:
    """Everything about a question, which nobody else can change until the transaction ends."""

    assignment: Assignment
    question: str
    path: Path
    state: QuestionState
    gradebook: Gradebook
    marks: Mapping[str, Mark]
    texts: Mapping[str, str]

    def decision(self, student: str) -> Decision | None:
        """What counts for a student: the desk's decision if the gradebook agrees, else what the gradebook says."""
        mark, own = self.marks[student], self.state.decisions.get(student)
        if mark.score is None:
            return None
        if own and (own.score, own.comment) == (mark.score, mark.comment):
            return own
        return Decision(mark.score, mark.comment, (), True, ELSEWHERE)

    def tag(self, student: str) -> str:
        """Changes with anything that a decision about this answer is based on."""
        basis = (self.decision(student), self.marks[student].waiting, self.texts[student])
        return short_digest(repr(basis))

    def write(self) -> None:
        """Keep the state as it now is."""
        self.state.write(self.path)

    def new_group(self) -> str:
        """An id that no group of this question has had."""
        self.state.last_group += 1
        return f"g{self.state.last_group}"

    def change_marks(self, who: str, what: str, changes: Mapping[str, tuple[Mark, Decision | None]]) -> None:
        """Give these students new marks, and remember how to take them back. `what` says it in words."""
        before = {
            student: {"mark": self.marks[student], "decision": self.state.decisions.get(student)}
            for student in changes
        }
        self._set_marks(changes)
        after = {student: self.tag(student) for student in changes}
        self.state.done.append({"who": who, "what": what, "kind": "marks", "before": before, "after": after})
        self.write()

    def _set_marks(self, changes: Mapping[str, tuple[Mark, Decision | None]]) -> None:
        marks = {student: mark for student, (mark, _) in changes.items()}
        write_marks(self.gradebook, self.assignment, self.question, marks)
        self.marks = {**self.marks, **marks}
        for student, (_, decision) in changes.items():
            if decision:
                self.state.decisions[student] = decision
            else:
                self.state.decisions.pop(student, None)

    def undo_marks(self, entry: Json) -> None:
        """Take an action on marks back. Raises Conflict if anything that it changed has changed again."""
        for student, tag in entry["after"].items():
            if student not in self.texts or self.tag(student) != tag:
                raise Conflict(
                    "Some of these answers have been graded or handed in again since then, so nothing was undone."
                )
        before = {
            student: msgspec.convert((earlier["mark"], earlier["decision"]), tuple[Mark, Decision | None])
            for student, earlier in entry["before"].items()
        }
        self._set_marks(before)

    def change_groups(
        self, who: str, what: str, before: Mapping[str, list[str]], after: Mapping[str, list[str]]
    ) -> None:
        """Put the groups `after`, {id: students}, in the place of those `before`, and remember how to undo it."""
        names = list(self.state.groups)
        entry = {
            "who": who,
            "what": what,
            "kind": "groups",
            "before": {name: self.state.groups[name] for name in names if name in before},
            "after": dict(after),
            "behind": {name: names[names.index(name) - 1] if names.index(name) else "" for name in before},
        }
        self.state.groups = _replaced(self.state.groups, before, after)
        self.state.done.append(entry)
        self.write()

    def undo_groups(self, entry: Json) -> None:
        """Take an action on groups back. Raises Conflict if they have changed since."""
        if any(self.state.groups.get(name) != members for name, members in entry["after"].items()):
            raise Conflict("These groups have changed since then, so nothing was undone.")
        groups = _replaced(self.state.groups, entry["after"], entry["before"])
        for name, before in entry["behind"].items():
            groups = _behind(groups, name, before)
        self.state.groups = groups


def _replaced(
    groups: Mapping[str, list[str]], old: Mapping[str, list[str]], new: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """The groups with the new ones at the place of the first old one."""
    replaced: dict[str, list[str]] = {}
    placed = False
    for name, members in groups.items():
        if name not in old:
            replaced[name] = members
        elif not placed:
            replaced.update(new)
            placed = True
    return replaced


def _behind(groups: Mapping[str, list[str]], name: str, before: str) -> dict[str, list[str]]:
    """The groups with this one behind that one, or as it is where that one is gone; behind "" is first."""
    names = [other for other in groups if other != name]
    if before in names or not before:
        names.insert(names.index(before) + 1 if before else 0, name)
        return {other: groups[other] for other in names}
    return dict(groups)
