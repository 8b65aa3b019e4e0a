"""What no student could be found for, as a table: a person fills in who it is, and gives the table back."""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import CourseError
from autograder.files import require_replaceable, write_product
from autograder.gradebook.tables import harmless, read_rows, unescaped
from autograder.untrusted.submission import LeftOut

HEADING = ("in the download", "student", "why")


@dataclass
class Matches:
    """What belongs to whom by the word of a person, by its name at the top of the download; and what nobody has matched yet."""

    by_hand: Mapping[str, str] = field(default_factory=dict)
    unmatched: list[LeftOut] = field(default_factory=list)

    def miss(self, name: str, reason: str) -> None:
        """Note what has no student, once."""
        if all(one.student != name for one in self.unmatched):
            self.unmatched.append(LeftOut(name, reason))


def read_matches(path: Path) -> dict[str, str]:
    """{name in the download: student's id} of the rows that are filled in. Raises CourseError where it is no such table."""
    table = read_rows(path)
    heading = [cell.casefold() for cell in table.heading]
    if missing := [name for name in HEADING[:2] if name not in heading]:
        raise CourseError(
            f"{path} has no column {' and no column '.join(map(repr, missing))}, unlike the table that `autograder collect` "
            f"writes. Its columns: {table.columns}."
        )
    names, students = (table.column(heading.index(name)) for name in HEADING[:2])
    pairs = zip(map(unescaped, names), map(unescaped, students), strict=True)
    return {name: student for name, student in pairs if student}


def write_unmatched(root: Path, matches: Matches) -> Path | None:
    """Write the table, with what is matched already, under the first name that is free; None where nothing is unmatched."""
    if not matches.unmatched:
        return None
    rows: Iterable[tuple[str, ...]] = [
        HEADING,
        *((one.student, "", one.reason) for one in matches.unmatched),
        *((name, student, "") for name, student in matches.by_hand.items()),
    ]
    text = io.StringIO()
    csv.writer(text).writerows([harmless(cell) for cell in row] for row in rows)
    path = _free(root, Path("unmatched.csv"))
    write_product(root, path, text.getvalue().encode("utf-8", "replace"))
    return path


def _free(root: Path, path: Path) -> Path:
    """This name, or with a number where somebody has changed the file of that name."""
    number = 1
    free = path
    while True:
        try:
            require_replaceable(root, free)
        except CourseError:
            number += 1
            free = path.with_name(f"{path.stem}-{number}{path.suffix}")
        else:
            return free
