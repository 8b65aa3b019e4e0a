"""Who is meant by a name or a number that another system has for a student."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import Student

from autograder.errors import CourseError
from autograder.untrusted.downloads import FileOwner
from autograder.untrusted.submission import can_be_a_student

LONGEST_TABLE = 20 << 20
NUMBER = ("identifier", "id")  # "Participant 12345" in Moodle's grading worksheet, 12345 in Canvas' gradebook
IDS = ("id number", "username", "sis login id", "sis user id")
FULL_NAME = ("full name", "student")
TIME = "last modified (submission)"
TIMES = (
    "%A, %d %B %Y, %I:%M %p",
    "%A, %B %d, %Y, %I:%M %p",
    "%A, %d %B %Y, %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
)


class Unknown(LookupError):
    """Nobody, or more than one, may be meant; the message says which and what to do."""


@dataclass(frozen=True)
class Listed:
    """A line of the table that another system exports."""

    ids: tuple[str, ...]  # the best first
    name: str
    handed_in: datetime | None = None  # UTC, naive


@dataclass(frozen=True)
class Roster:
    """The students of the gradebook, with what another system's table says of its numbers."""

    students: Iterable[Student]
    table: Mapping[str, Listed] = field(default_factory=dict)

    def find(self, name: FileOwner) -> str:
        """The student's id in the gradebook. Raises Unknown."""
        listed = self.table.get(name.number) if name.number else None
        if not name.person and not listed:
            raise Unknown("the download has no names: end anonymous grading there and download again.")
        if listed and (student_id := self._by_id(listed.ids)):
            return student_id
        if name.system == "canvas" and (student_id := self._by_number(name.number)):
            return student_id
        if name.system == "plain" and (student_id := self._by_id([name.person])):
            return student_id
        called = self._called(listed.name if listed and listed.name else name.person)
        if len(called) == 1:
            return called[0]
        if len(called) > 1:
            raise Unknown(f"{' and '.join(called)} have this name: give --names, so that the number decides.")
        if name.system == "plain" and may_be_a_folder(name.person):
            return name.person  # nbgrader's own layout: the folder is the student's id
        new = (
            next((listed_id for listed_id in listed.ids if may_be_a_folder(listed_id)), "") if listed else ""
        )
        if new:
            return new
        raise Unknown(
            "nobody in the gradebook has this name: give --names, or import the student with the names that "
            "the other system has (`nbgrader db student import`)."
        )

    def knows(self, student: str) -> bool:
        """Whether a student with exactly this id is in the gradebook."""
        return student in {listed.id for listed in self.students}

    def handed_in(self, name: FileOwner) -> datetime | None:
        """The time of submission in the exported table, in UTC; None if it has no such number or no time."""
        listed = self.table.get(name.number) if name.number else None
        return listed.handed_in if listed else None

    def _by_id(self, ids: Iterable[str]) -> str:
        for wanted_id in ids:
            wanted = wanted_id.casefold()
            for student in self.students:
                if wanted in (student.id.casefold(), (student.email or "").casefold()):
                    return student.id
        return ""

    def _by_number(self, number: str) -> str:
        return next((student.id for student in self.students if number and student.lms_user_id == number), "")

    def _called(self, name: str) -> list[str]:
        wanted = letters(name)
        return [
            student.id
            for student in self.students
            if wanted
            and wanted
            in (
                letters(f"{student.first_name or ''}{student.last_name or ''}"),
                letters(f"{student.last_name or ''}{student.first_name or ''}"),
            )
        ]


def letters(name: str) -> str:
    """A name without spaces, signs, accents and capitals: systems differ in these."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    return "".join(sign for sign in plain if sign.isalnum())


def may_be_a_folder(student: str) -> bool:
    """Whether a text from another system's table can be a student's id, and the name of one folder."""
    return can_be_a_student(student) and not re.search(r"[/\\]|^\.", student) and bool(student)


def read_table(path: Path) -> dict[str, Listed]:
    """What Moodle's grading worksheet or Canvas' exported gradebook says, by the system's number of each student.

    Raises CourseError for another file.
    """
    try:
        if path.stat().st_size > LONGEST_TABLE:
            raise CourseError(f"{path} has more than {LONGEST_TABLE >> 20} MB.")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise CourseError(f"{path} is not UTF-8 text: export it again as CSV.") from None
    except OSError as error:
        raise CourseError(f"{path} cannot be read ({error.strerror}).") from None
    heading = text.partition("\n")[0]
    delimiter = max(",;\t", key=heading.count)
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        columns = [column.strip().casefold() for column in next(rows, [])]
        number = next((columns.index(column) for column in NUMBER if column in columns), None)
        if number is None:
            raise CourseError(
                f"{path} has neither the column Identifier (Moodle: the assignment's Download grading worksheet) nor "
                f"ID (Canvas: Grades, Export). It has: {', '.join(columns[:12]) or 'nothing'}."
            )
        table = {}
        for row in rows:
            cells = dict(zip(columns, (cell.strip() for cell in row), strict=False))
            digits = re.search(r"\d+$", row[number].strip()) if len(row) > number else None
            if digits:
                ids = tuple(cells[column] for column in IDS if cells.get(column))
                ids += tuple(
                    cell for cell in cells.values() if "@" in cell and cell not in ids
                )  # in any language
                name = next((cells[column] for column in FULL_NAME if cells.get(column)), "")
                table[digits[0]] = Listed(ids, name, _time(cells.get(TIME, "")))
        return table
    except csv.Error as error:
        raise CourseError(f"{path} cannot be read as a table ({error}).") from None


def _time(text: str) -> datetime | None:
    """A time of the wall clock of whoever downloaded the table: this machine's."""
    for form in TIMES:
        try:
            return datetime.strptime(text, form).astimezone().astimezone(UTC).replace(tzinfo=None)
        except (ValueError, OverflowError, OSError):
            continue
    return None
