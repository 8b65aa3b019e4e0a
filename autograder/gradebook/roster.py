"""Who is meant by a name or a number that another system has for a student."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from nbgrader.api import Student

from autograder.gradebook.worksheet import Listed
from autograder.untrusted.layouts import FileOwner
from autograder.untrusted.submission import can_be_a_student


class Unknown(LookupError):
    """Nobody, or more than one, may be meant; the message says which and what to do."""


@dataclass(frozen=True)
class Roster:
    """The students of the gradebook, with what another system's table says of its numbers."""

    students: Iterable[Student]
    table: Mapping[str, Listed] = field(default_factory=dict)
    groups: bool = False  # whether Moodle puts the name of a group and a hyphen before each person's

    def find(self, name: FileOwner) -> str:
        """The student's id in the gradebook. Raises Unknown."""
        student = self._find(name)
        if not may_be_a_folder(student):
            raise Unknown(
                f"the id {ascii(student)} is not allowed: an id must not contain <, >, / or invisible characters."
            )
        return student

    def _find(self, name: FileOwner) -> str:
        listed = self.table.get(name.number) if name.number else None
        if not name.person and not listed:
            raise Unknown("the download has no names: end anonymous grading there and download again.")
        if listed and (known := self._all_by_id(listed.ids)):
            if len(known) > 1:
                raise Unknown(
                    f"the table assigns {name.number} to both {' and '.join(known)}: correct the table."
                )
            return known[0]
        if name.system == "canvas" and (student_id := self._by_number.get(name.number)):
            return student_id
        if known := self._all_by_id(_accounts(name)):
            if len(known) > 1 and name.system == "plain":
                raise Unknown(
                    f"{' and '.join(known)} differ from it only in upper and lower case: rename the folder."
                )
            if len(known) > 1:
                raise Unknown(f"it may be that of {' or '.join(known)}.")
            return known[0]
        called = self._called(listed.name if listed and listed.name else name.person)
        if len(called) == 1:
            return called[0]
        if len(called) > 1:
            raise Unknown(
                f"{' and '.join(called)} have this name: give --names, so that they are identified by their numbers."
            )
        if name.system == "plain" and may_be_a_folder(name.person):
            return name.person  # nbgrader's own layout: the folder is the student's id
        if name.login and not self._ids and may_be_a_folder(account := _accounts(name)[-1]):
            return account  # where nobody has an id yet
        new = next(filter(may_be_a_folder, listed.ids), "") if listed else ""
        if new:
            return new
        raise Unknown(
            "nobody in the gradebook has this name: give --names, or import the student with the name that "
            "the other system has (`autograder students FILE`)."
        )

    def knows(self, student: str) -> bool:
        """Whether a student with exactly this id is in the gradebook."""
        return student in self._ids

    def names(self, person: str) -> bool:
        """Whether somebody in the gradebook has this id, address or name."""
        return bool(self._by_folded.get(person.casefold()) or self._by_name.get(letters(person)))

    def has_groups(self, persons: Iterable[str]) -> bool:
        """Whether these are people with the name of their group in front: nobody is known without taking it away."""
        persons = list(persons)
        return not any(map(self.names, persons)) and any(
            self._by_name.get(letters(end)) for person in persons for end in _ends(person)
        )

    def listed(self, name: FileOwner) -> Listed | None:
        """The line of the exported table, or None if it has no such number."""
        return self.table.get(name.number) if name.number else None

    @cached_property
    def known(self) -> set[str]:
        """Ids and addresses."""
        return self._ids | {student.email for student in self.students if student.email}

    @cached_property
    def _ids(self) -> set[str]:
        return {student.id for student in self.students}

    @cached_property
    def _by_folded(self) -> Mapping[str, list[str]]:
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for student in self.students:
            for text in filter(None, (student.id, student.email)):
                found[text.casefold()][student.id] = None
        return {text: list(ids) for text, ids in found.items()}

    @cached_property
    def _by_number(self) -> Mapping[str, str]:
        return {student.lms_user_id: student.id for student in self.students if student.lms_user_id}

    @cached_property
    def _by_name(self) -> Mapping[str, list[str]]:
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for student in self.students:
            first, last = student.first_name or "", student.last_name or ""
            for name in (letters(f"{first}{last}"), letters(f"{last}{first}")):
                if name:
                    found[name][student.id] = None
        return {name: list(ids) for name, ids in found.items()}

    def _all_by_id(self, ids: Iterable[str]) -> list[str]:
        """The students who have these ids or addresses, but for capitals where nobody has just this id."""
        found: dict[str, None] = {}
        for wanted in ids:
            exact = [wanted] if wanted in self._ids else self._by_folded.get(wanted.casefold(), [])
            found |= dict.fromkeys(exact)
        return list(found)

    def _called(self, name: str) -> list[str]:
        names = [name, *_ends(name)] if self.groups else [name]
        return list(dict.fromkeys(found for one in names for found in self._by_name.get(letters(one), [])))


def _accounts(name: FileOwner) -> list[str]:
    """What may be the person's account, and so an id: of Blackboard's TITLE_ACCOUNT each part has to be thought of."""
    if name.system == "plain":
        return [name.person]
    parts = name.login.split("_")
    if name.system == "blackboard":
        return ["_".join(parts[place:]) for place in range(1, len(parts))]
    return [name.login] if name.login else []


def _ends(person: str) -> list[str]:
    """What may be a person's name in "Group A-Anna-Lena Schmidt"."""
    parts = person.split("-")
    return ["-".join(parts[place:]) for place in range(1, len(parts))]


def letters(name: str) -> str:
    """A name without spaces, signs, accents and capitals: systems differ in these."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    return "".join(sign for sign in plain if sign.isalnum())


def may_be_a_folder(student: str) -> bool:
    """Whether a text from another system can be a student's id, and the name of one folder."""
    return can_be_a_student(student) and not re.search(r"[/\\<>]|^\.", student) and bool(student)
