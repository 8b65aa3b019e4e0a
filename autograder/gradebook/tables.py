"""Tables that people have: CSV of a learning management system or a spreadsheet, in whatever encoding and with whatever separator."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from autograder.errors import CourseError
from autograder.untrusted.texts import GUESSED, decoded, is_of_another_script

LONGEST_TABLE = 20 << 20
SEPARATORS = ",;\t|"
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")
"""What a cell begins with that a spreadsheet takes for a formula (OWASP, CSV injection)."""
UPPER = 10  # rows among which the heading is, below a title


def harmless(text: str) -> str:
    """The text of a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def unescaped(text: str) -> str:
    """The inverse of `harmless`."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text


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


def read_rows(
    path: Path, is_heading: Callable[[tuple[str, ...]], bool] = lambda cells: False, encoding: str = ""
) -> Table:
    """The table in a file. Raises CourseError where there is none.

    Its heading is the first of the upper rows that `is_heading`, else the first row that is no title, which has one cell.
    """
    try:
        if path.stat().st_size > LONGEST_TABLE:
            raise CourseError(f"{path} is larger than {LONGEST_TABLE >> 20} MB.")
        blob = path.read_bytes()
    except OSError as error:
        raise CourseError(f"{path} cannot be read ({error.strerror}).") from None
    if blob.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise CourseError(f"{path} is a spreadsheet: open it in a spreadsheet program and save it as CSV.")
    text, guessed = _text(path, blob, encoding)
    text = text.replace("\r\n", "\n").replace(
        "\r", "\n"
    )  # old spreadsheets end lines with a carriage return alone
    first, _, rest = text.partition("\n")
    separators: Sequence[str] = sorted(SEPARATORS, key=lambda sign: -_count(text, sign))
    if first.strip().casefold().startswith("sep=") and first.strip()[4:]:  # which Excel writes for itself
        text, separators = rest, [first.strip()[4]]
    uppers = [[*islice(_rows(path, text, separator), UPPER)] for separator in separators]
    if not uppers[0]:
        raise CourseError(f"{path} is empty.")
    separator, place = next(
        (
            (separator, place)
            for separator, rows in zip(separators, uppers, strict=True)
            for place, row in enumerate(rows)
            if is_heading(row)
        ),
        (separators[0], _below_title(uppers[0])),
    )
    rows = [*_rows(path, text, separator)]
    width = len(rows[place])
    below = tuple((*row, *[""] * width)[:width] for row in rows[place + 1 :])
    return Table(path, rows[place], tuple(row for row in below if any(row)), guessed)


def _text(path: Path, blob: bytes, encoding: str) -> tuple[str, bool]:
    """What is in a file, and whether its encoding is guessed. Raises CourseError where it cannot even be guessed."""
    if encoding:
        try:
            return blob.decode(encoding), False
        except LookupError:
            raise CourseError(
                f"There is no encoding {encoding!r}: try utf-8, shift_jis, gb18030 or cp1251."
            ) from None
        except UnicodeError:
            raise CourseError(f"{path} is not in the encoding {encoding!r}.") from None
    text, found = decoded(blob)
    if is_of_another_script(blob, found):
        raise CourseError(
            f"{path} is neither in UTF-8 nor in a Western encoding, so its letters cannot be read with certainty: save it as CSV UTF-8. "
            "(`autograder students` also takes the name of its encoding, as in --encoding shift_jis.)"
        )
    return text, found == GUESSED


def _rows(path: Path, text: str, separator: str) -> Iterator[tuple[str, ...]]:
    """The rows that are not empty."""
    csv.field_size_limit(LONGEST_TABLE)  # a student's text in a worksheet may be long
    try:
        yield from filter(
            any, (tuple(map(_cell, row)) for row in csv.reader(io.StringIO(text), delimiter=separator))
        )
    except csv.Error as error:
        raise CourseError(f"{path} cannot be read as a table ({error}).") from None


def _cell(cell: str) -> str:
    """Without spaces at its ends, and without the formula by which zeros before a number are kept: ="0012345"."""
    formula = re.fullmatch(r'=\s*"([^"]*)"', cell.strip())
    return (formula[1] if formula else cell).strip()


def _below_title(rows: Sequence[tuple[str, ...]]) -> int:
    """The place of the first row with more than one cell, where there is such a row near the top."""
    return next((place for place, row in enumerate(rows) if sum(map(bool, row)) > 1), 0)


def _count(text: str, separator: str) -> int:
    """Into how many cells the first line falls that is no title; those in quotation marks may hold the sign."""
    try:
        lines = csv.reader(islice(io.StringIO(text), UPPER), delimiter=separator)
        return next((len(row) for row in lines if len(row) > 1), 1)
    except csv.Error:
        return 0
