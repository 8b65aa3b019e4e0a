"""Files that are there whole or not at all, and the lock of a course."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograder.checks.storing import aside, locked, try_lock, write_aside
from autograder.errors import CourseError

UNWRITABLE = (PermissionError, FileExistsError, NotADirectoryError, IsADirectoryError)
"""A place for one student's files that somebody else has taken, or may not be written: it harms nobody else."""


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of ours; an empty one where there is none, or a damaged one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def write_product(root: Path, path: Path, content: str | bytes) -> None:
    """Write a file that a command was asked for, whole or not at all. Raises CourseError as `product` does."""
    with product(root, path) as new:
        new.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def product(root: Path, path: Path) -> Iterator[Path]:
    """A name to write to, which becomes `path`, a file that a command of the course `root` was asked for.

    Raises CourseError where `require_replaceable` does.
    """
    require_replaceable(root, path)
    with aside(path) as new:
        yield new
        new.chmod(0o644)
        digest = _digest(new)
    write_aside(_record(root, path), digest)


def require_replaceable(root: Path, path: Path) -> None:
    """Raise CourseError where `path` is anything but a file as a command of this course has left it."""
    if not os.path.lexists(path):
        return
    record = _record(root, path)
    if path.is_symlink() or not path.is_file() or not record.exists() or record.read_text() != _digest(path):
        raise CourseError(
            f"{path} exists already and was not written by a command of this course: move it away, or choose "
            "another file."
        )


def _record(root: Path, path: Path) -> Path:
    """Where the digest of a file is kept that a command has written."""
    place = path.absolute()
    if place.is_relative_to(root):  # a course may be moved
        place = place.relative_to(root)
    return root / ".autograder" / "products" / hashlib.sha256(os.fsencode(place)).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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


def kept_secret(path: Path, new: bytes) -> bytes:
    """The secret in a file that only its owner may read; `new` where there is none yet.

    Programs that ask for it at the same time all get the same one. An empty file, which a full disk can leave behind, counts as none.
    """
    with locked(path.with_suffix(".lock")):
        if not path.exists() or not path.stat().st_size:
            with aside(path) as name:
                name.touch(0o600)
                name.write_bytes(new)
        return path.read_bytes()


class Busy(CourseError):
    """Another process does what only one may do at a time."""


@contextmanager
def course_lock(root: Path) -> Iterator[None]:
    """Only one run at a time writes the gradebook of a course. Raises Busy."""
    path = root / ".autograder" / "lock"
    sentence = f"Another run is grading this course (it has locked {path}). Try again when it has finished."
    with _only_one(path, sentence):
        yield


@contextmanager
def watch_lock(root: Path) -> Iterator[None]:
    """Only one process at a time watches a course; between two hand-ins, other runs may grade. Raises Busy."""
    path = root / ".autograder" / "watching"
    sentence = f"Another process is watching this course already (it has locked {path}). Leave that process running, or stop it first."
    with _only_one(path, sentence):
        yield


@contextmanager
def _only_one(path: Path, otherwise: str) -> Iterator[None]:
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as file:
        if not try_lock(file):
            raise Busy(otherwise)
        yield
