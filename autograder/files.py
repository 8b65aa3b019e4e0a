"""Files that are there whole or not at all, and the lock of a course."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.errors import CourseError

UNWRITABLE = (PermissionError, FileExistsError, NotADirectoryError, IsADirectoryError)
"""A place for one student's files that somebody else has taken, or may not be written: it harms nobody else."""


def write_aside(path: Path, content: str | bytes) -> None:
    """Write a whole file or none: aside first, then moved into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        os.chmod(aside, 0o644)
        os.replace(aside, path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


@contextmanager
def kept(folder: Path) -> Iterator[None]:
    """What is in a folder, if it is there, comes back if the block fails."""
    with tempfile.TemporaryDirectory() as aside:
        before = Path(aside) / folder.name
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
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseError(
                f"Another run is grading this course (it holds {path}). Try again when it is done."
            ) from None
        yield
