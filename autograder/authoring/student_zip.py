"""Pack what students get: the notebooks with their answer keys and what they import, without solutions."""

import io
import os
import subprocess
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from autograder.authoring.builder import start_page
from autograder.authoring.lending import lent_bytes
from autograder.course import Assignment, assignments, course_root
from autograder.errors import CourseError
from autograder.files import write_product
from autograder.generating import release_files
from autograder.settings import course_settings

LEAKS = (b"### BEGIN SOLUTION", b"### BEGIN HIDDEN")
EARLIEST = datetime(1980, 1, 1, tzinfo=UTC)
"""The zip format knows no earlier time."""

ReleaseFiles = Callable[[Assignment], Mapping[str, bytes]]
"""What the folder of a release holds, by the names of its files."""


def write_student_zip(
    target: Path | None = None, alone: bool = False, of_release: ReleaseFiles = release_files
) -> Path:
    """Write the zip file for students, byte for byte the same each time, and return its absolute path.

    `alone`: for those who learn alone, who may borrow working functions unless the course lends to nobody. A relative
    `target` is taken from the course folder; without one it is dist/COURSE-student.zip. Raises CourseError, and writes
    nothing, when something is missing or would hand out a solution, or `target` is a file of somebody else.
    """
    root = course_root()
    name = course_settings(root).course_id or root.name
    files = dict(student_files(root, alone, of_release))
    packed = zip_bytes(files, name, changed_when(root, files))
    target = Path(os.path.abspath(root / (target or Path("dist") / f"{name}-student.zip")))
    write_product(root, target, packed)
    return target


def student_files(
    root: Path, alone: bool = False, of_release: ReleaseFiles = release_files
) -> Iterator[tuple[str, bytes]]:
    """Path and content of every file that students get.

    The notebooks are generated anew: those in the release folder may hold someone's own answers.
    """
    settings = course_settings(root)
    for page, content in start_page(root).items():
        yield page.relative_to(root).as_posix(), content
    for assignment in assignments(root):
        folder = assignment.release.parent.relative_to(root)
        for name, content in of_release(assignment).items():
            yield (folder / name).as_posix(), content
        if assignment.exercises:
            if not assignment.key.exists():
                raise CourseError(f"{assignment.key} is missing: run `autograder build` first.")
            yield assignment.key.relative_to(root).as_posix(), assignment.key.read_bytes()
        if lent := lent_bytes(assignment, alone):
            yield assignment.lent.relative_to(root).as_posix(), lent
    own_packages = [name for name in settings.packages if (root / name).is_dir()]  # others are installed
    for name in (*own_packages, *settings.readable, *settings.student_files):
        yield from _below(root, root / name)
    if settings.student_overlay:
        yield from _below(root / settings.student_overlay, root / settings.student_overlay)


def changed_when(root: Path, files: Mapping[str, bytes]) -> dict[str, datetime]:
    """When each of these files was last changed: as git has it, so that every clone packs the same bytes.

    What git does not know, or knows otherwise than it is now, has the time of the file. Below a second counts nothing.
    """
    overlay = course_settings(root).student_overlay
    committed, changed = _commits(root), _uncommitted(root)
    times = {}
    for name in files:
        source = root / overlay / name if overlay and (root / overlay / name).is_file() else root / name
        path = source.relative_to(root).as_posix()
        if path in committed and path not in changed:
            times[name] = committed[path]
        elif source.is_file():
            times[name] = datetime.fromtimestamp(int(source.stat().st_mtime), UTC)
        else:
            times[name] = max(committed.values(), default=EARLIEST)
    return times


def _commits(root: Path) -> dict[str, datetime]:
    """The time of the last commit of every file, by its path in the course."""
    times: dict[str, datetime] = {}
    when = EARLIEST
    for line in _git(root, "log", "--format=%x00%ct", "--name-only", "--no-renames", "--relative"):
        if line.startswith("\0"):
            when = datetime.fromtimestamp(int(line[1:]), UTC)
        elif line:
            times.setdefault(line, when)
    return times


def _uncommitted(root: Path) -> set[str]:
    return set(_git(root, "diff", "--name-only", "--relative", "HEAD"))


def _git(root: Path, *arguments: str) -> list[str]:
    """The lines that git says; none where there is no git, or no repository."""
    try:
        command = ["git", "-c", "core.quotePath=false", *arguments]
        return subprocess.run(
            command, cwd=root, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return []


def zip_bytes(files: Mapping[str, bytes], top: str, times: Mapping[str, datetime]) -> bytes:
    """The files as a zip archive with one top folder, `top`: sorted, each with its time in UTC.

    Raises CourseError if one of them holds a solution.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(files.items()):
            if any(leak in content for leak in LEAKS):
                raise CourseError(f"{path} contains a solution, so nothing was written.")
            time = max(times.get(path, EARLIEST), EARLIEST)
            entry = zipfile.ZipInfo(f"{top}/{path}", time.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, on every machine
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def _below(root: Path, place: Path) -> Iterator[tuple[str, bytes]]:
    """A file, or every file below a folder but hidden ones and Python's caches; the paths are those from `root`."""
    if place.is_file():
        yield place.relative_to(root).as_posix(), place.read_bytes()
        return
    if not place.is_dir():
        raise CourseError(f"{place} is missing: nbgrader_config.py says that students need it.")
    for path in sorted(place.rglob("*")):
        inside = path.relative_to(root)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
        if path.is_file() and not path.is_symlink() and not hidden:
            yield inside.as_posix(), path.read_bytes()
