"""Begin a course: settings, one assignment to look at, and what to keep out of version control."""

import os
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from autograder.errors import CourseError
from autograder.settings import FILE

TEMPLATE = files("autograder") / "templates" / "course"
NAMES = {"gitignore": ".gitignore"}
"""How a file of the template is called in a course, where that is not its own name."""


def begin_course(folder: Path) -> list[Path]:
    """Write the files of a new course into `folder`, which is made if it is missing, and return their paths.

    Raises CourseError, and writes nothing, in a course and where one of the files is there already.
    """
    folder = folder.resolve()
    if os.path.lexists(folder / FILE):
        raise CourseError(
            f"{folder} already contains a course ({FILE}): create the new one in another folder."
        )
    course = {folder / path: text.replace("COURSE_ID", _course_id(folder)) for path, text in _template()}
    if taken := [str(path.relative_to(folder)) for path in course if os.path.lexists(path)]:
        raise CourseError(
            f"{folder} already contains {', '.join(taken)}: create the course in an empty folder."
        )
    for path, text in course.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(course)


def _course_id(folder: Path) -> str:
    """The folder's name in characters that nbgrader's exchange takes."""
    return re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-") or "course"


def _template(part: Traversable = TEMPLATE, inside: Path = Path()) -> list[tuple[Path, str]]:
    """Path in the course and text of every file."""
    files = []
    for entry in sorted(part.iterdir(), key=lambda entry: entry.name):
        path = inside / NAMES.get(entry.name, entry.name)
        if entry.is_dir():
            files += [] if entry.name == "__pycache__" else _template(entry, path)
        else:
            files.append((path, entry.read_text(encoding="utf-8")))
    return files
