"""Tables that people have: CSV of a learning management system or a spreadsheet, in whatever encoding and with whatever separator."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError
from autograder.untrusted.texts import GUESSED, decoded

LONGEST_TABLE = 20 << 20
SEPARATORS = ",;\t|"


@dataclass(frozen=True)
class Table:
    """A heading and rows, all of the same length and without spaces at the ends of their cells."""

    path: Path
    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    guessed: bool = False  # nothing says how its letters are encoded

    def column(self, place: int) -> list[str]:
        """The cells of a column."""
        return [row[place] for row in self.rows]

    @property
    def columns(self) -> str:
        """The heading in words, for a message."""
        return ", ".join(self.heading[:12]) or "nothing"


def read_rows(path: Path) -> Table:
    """The table in a file. Raises CourseError where there is none."""
    try:
        if path.stat().st_size > LONGEST_TABLE:
            raise CourseError(f"{path} has more than {LONGEST_TABLE >> 20} MB.")
        blob = path.read_bytes()
    except OSError as error:
        raise CourseError(f"{path} cannot be read ({error.strerror}).") from None
    if blob.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise CourseError(f"{path} is a spreadsheet: open it there and save it as CSV.")
    text, encoding = decoded(blob)
    text = "\n".join(text.splitlines())  # old spreadsheets end lines with a carriage return alone
    first, _, rest = text.partition("\n")
    separator = max(SEPARATORS, key=lambda sign: _count(first, sign))
    if first.strip().casefold().startswith("sep=") and first.strip()[4:]:  # which Excel writes for itself
        text, separator = rest, first.strip()[4]
    csv.field_size_limit(LONGEST_TABLE)  # a student's text in a worksheet may be long
    try:
        rows = [
            tuple(cell.strip() for cell in row) for row in csv.reader(io.StringIO(text), delimiter=separator)
        ]
    except csv.Error as error:
        raise CourseError(f"{path} cannot be read as a table ({error}).") from None
    rows = [row for row in rows if any(row)]
    if not rows:
        raise CourseError(f"{path} is empty.")
    width = len(rows[0])
    return Table(path, rows[0], tuple((*row, *[""] * width)[:width] for row in rows[1:]), encoding == GUESSED)


def _count(line: str, separator: str) -> int:
    """Into how many cells a line falls, of which those in quotation marks may hold the sign."""
    try:
        return len(next(csv.reader([line], delimiter=separator), []))
    except csv.Error:
        return 0
