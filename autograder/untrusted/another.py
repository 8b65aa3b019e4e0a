"""Of which assignment a notebook is: students hand in the right file under the wrong name, or the wrong one under the right."""

import json
from collections.abc import Collection
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from autograder.course import Assignment, assignments
from autograder.errors import CourseError
from autograder.source import grade_id
from autograder.untrusted.cells import Cell

SHORTEST = 40  # characters of a text that stands in one notebook of a course only, as a rule


def another_assignment(cells: Collection[Cell], assignment: Assignment) -> str:
    """The other assignment of the course whose notebook these cells are, by grade ids and released texts; "" if none.

    It is another's only if less than half of its own is there, and more than twice as much of the other.
    """
    handed = {cell.name for cell in cells} | {cell.source.strip() for cell in cells}
    own = _signs(assignment)
    mine = len(own & handed)
    if 2 * mine >= len(own):
        return ""
    found = {}
    with suppress(CourseError):
        found = {
            other.called: len((_signs(other) - own) & handed)
            for other in assignments(assignment.root)
            if other != assignment
        }
    best = max(found, key=lambda name: found[name], default="")
    return best if best and found[best] > max(1, 2 * mine) else ""


def _signs(assignment: Assignment) -> frozenset[str]:
    """What tells a release from others: the grade ids and longer texts of its cells. Nothing where there is no release."""
    with suppress(OSError, CourseError):
        file = assignment.release
        status = file.stat()
        return _signs_in(file, status.st_mtime_ns, status.st_size)
    return frozenset()


@lru_cache(maxsize=100)
def _signs_in(file: Path, changed: int, size: int) -> frozenset[str]:
    """Of a file as it was then: a class asks hundreds of times."""
    try:
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        texts = {"".join(cell["source"]).strip() for cell in cells}
        return frozenset({grade_id(cell) for cell in cells} - {""} | {t for t in texts if len(t) >= SHORTEST})
    except (ValueError, LookupError, TypeError, AttributeError):
        return frozenset()
