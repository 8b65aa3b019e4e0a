"""Pack what students get: the notebooks and what they import, without solutions and without the autograder."""

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nbformat

from autograder.builder import START, release_bytes
from autograder.course import assignments, course_root
from autograder.errors import CourseError
from autograder.source import read_source

FOLDER = "words-in-context"
DEFAULT = Path("dist") / f"{FOLDER}-student.zip"

COPIED = (
    "environment.yml",
    "constraints.txt",
    "requirements-models.txt",
    "tools/bootstrap.py",
    "LICENSE",
    "LICENSE-CONTENT",
    "CITATION.cff",
)
OVERLAY = Path("tools") / "student"
"""A folder with the files that students get in place of, or in addition to, ours."""

INSTRUCTORS_SECTIONS = ("project.optional-dependencies", "project.scripts", "tool.ruff", "tool.pytest")
LEAKS = (b"### BEGIN SOLUTION", b"### BEGIN HIDDEN")
EARLIEST = (1980, 1, 1, 0, 0, 0)  # the zip format knows no earlier time


def student_release(target: Path = DEFAULT) -> Path:
    """Write the zip file for students, byte for byte the same each time, and return its absolute path.

    A relative `target` is taken from the course folder. Raises CourseError, and writes nothing, when
    something is missing or would hand out a solution.
    """
    root = course_root()
    packed = pack(dict(student_files(root)))
    target = (root / target).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(packed)
    return target


def student_files(root: Path) -> Iterator[tuple[str, bytes]]:
    """Path and content of every file of the release.

    The notebooks are generated anew: those in notebooks/ may hold someone's own answers.
    """
    yield f"notebooks/{START}.ipynb", _start_page(root)
    for assignment in assignments(root):
        yield assignment.release.relative_to(root).as_posix(), release_bytes(assignment)
        if not assignment.key.exists():
            raise CourseError(f"{assignment.key} is missing: run `make notebooks` first.")
    yield from _folder(root, "coursekit")
    yield from _folder(root, "data")
    for name in COPIED:
        yield name, _read(root / name)
    yield "pyproject.toml", student_pyproject(_read(root / "pyproject.toml").decode()).encode()
    yield from _folder(root / OVERLAY, ".")


def student_pyproject(text: str) -> str:
    """Our pyproject.toml without the autograder, its command, and the settings of our tools."""
    sections = re.split(r"(?m)^(?=\[[a-z])", text)
    kept = "".join(part for part in sections if not part[1:].startswith(INSTRUCTORS_SECTIONS))
    ours, theirs = '["coursekit*", "autograder*"]', '["coursekit*"]'
    if ours not in kept:
        raise CourseError(
            f"pyproject.toml does not list its packages as {ours}: tell autograder/release.py how it does."
        )
    return kept.replace(ours, theirs)


def pack(files: dict[str, bytes]) -> bytes:
    """The files as a zip archive with one top folder: sorted, and without the times of this machine."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(files.items()):
            if any(leak in content for leak in LEAKS):
                raise CourseError(f"{path} holds a solution: nothing was written.")
            entry = zipfile.ZipInfo(f"{FOLDER}/{path}", EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, on every machine
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def _start_page(root: Path) -> bytes:
    source = root / "solutions" / f"{START}.py"
    if not source.exists():
        raise CourseError(f"{source} is missing: without it students have no start page.")
    return nbformat.writes(read_source(source)).encode()


def _folder(root: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Every file below a folder but hidden ones and Python's caches."""
    for path in sorted((root / name).rglob("*")):
        inside = path.relative_to(root)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
        if path.is_file() and not path.is_symlink() and not hidden:
            yield inside.as_posix(), path.read_bytes()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise CourseError(f"{path} is missing: students need it.") from None
