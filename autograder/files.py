"""Files that are there whole or not at all, and the lock of a course."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograder.checks.storing import aside, try_lock, write_aside
from autograder.errors import CourseError

__all__ = ["UNWRITABLE", "aside", "course_lock", "read_object", "restored_on_failure", "write_aside"]

UNWRITABLE = (PermissionError, FileExistsError, NotADirectoryError, IsADirectoryError)
"""A place for one student's files that somebody else has taken, or may not be written: it harms nobody else."""


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of ours; an empty one where there is none, or a damaged one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


@contextmanager
def restored_on_failure(folder: Path) -> Iterator[None]:
    """What is in a folder, if it is there, comes back if the block fails."""
    with tempfile.TemporaryDirectory() as temporary:
        before = Path(temporary) / folder.name
        if folder.exists():
            shutil.copytree(folder, before)
        try:
            yield
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            if before.exists():
                shutil.copytree(before, folder)
            raise


@contextmanager
def course_lock(root: Path) -> Iterator[None]:
    """Only one run at a time writes the gradebook of a course."""
    path = root / ".autograder" / "lock"
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as file:
        if not try_lock(file):
            raise CourseError(
                f"Another run is grading this course (it holds {path}). Try again when it is done."
            )
        yield
