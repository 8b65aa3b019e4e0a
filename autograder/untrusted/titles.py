"""What assignments and notebooks are called on formgrader's pages: as on the pages of the notebooks themselves."""

import json
import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

from autograder.checks.headings import plain
from autograder.course import Assignment, assignments
from autograder.errors import CourseError

TITLE = re.compile(r"^(?:# )?# (.+)$", re.MULTILINE)
"""A heading of the first rank, in Markdown or in a percent script."""


def titles(root: Path, assignment: str = "") -> dict[str, str]:
    """{name: title} of the assignments with one notebook, and of the notebooks of `assignment`, which may be several.

    Left out is what has no title, or one that another assignment has too; all if the course cannot be read.
    """
    try:
        everything = assignments(root)
        found = {one.name: title for one in everything if not one.part and (title := _title(one))}
        parts = {one.part: title for one in everything if one.name == assignment and (title := _title(one))}
    except (CourseError, OSError):
        return {}
    return _told_apart(found) | _told_apart(parts)


def _told_apart(found: dict[str, str]) -> dict[str, str]:
    times = Counter(found.values())
    return {name: title for name, title in found.items() if name and times[title] == 1}


def _title(one: Assignment) -> str:
    """That of the release or, before there is one, of the source; "" where it has none or cannot be read."""
    for path in (one.release, one.source):
        if path.is_file():
            about = path.stat()
            try:
                return _title_in(path, about.st_mtime_ns, about.st_size)
            except (OSError, ValueError, LookupError, AttributeError):  # no notebook
                return ""
    return ""


@lru_cache(maxsize=500)
def _title_in(path: Path, changed: int, size: int) -> str:
    """The title of a notebook or a percent script as it was then: each page of formgrader asks for all of them."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text).get("cells", [])
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell.get("cell_type") == "markdown")
    match = TITLE.search(text)
    return plain(match[1]) if match else ""
