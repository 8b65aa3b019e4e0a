"""What a learning management system lets an instructor download: an archive, or a folder, of files that students made.

Nothing is unpacked: a file is read into memory, with bounds, and only when its place in `submitted/` is known. A path
that would lead elsewhere, a link or a damaged entry is left out, with the reason.
"""

import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from autograder.errors import CourseError
from autograder.untrusted.submission import MAX_FILE_BYTES, LeftOut, Unreadable, read_regular_file

MOST_LISTED = 16 << 20  # bytes of an archive's list of files, which is read at once
MOST_FILES = 100_000
MOST_BYTES = 8 << 30  # that are read of all notebooks together
LONGEST_PATH = 1000


@dataclass(frozen=True)
class File:
    """A regular file in an archive or a folder."""

    path: str
    modified: datetime | None  # UTC, naive, as nbgrader keeps times
    read: Callable[[int], bytes]  # at most so many bytes; Unreadable for more, and for a damaged one


@contextmanager
def opened(source: Path) -> Iterator[tuple[list[File], list[LeftOut]]]:
    """The regular files of a zip archive or a folder, and what is none. Raises CourseError where it is neither."""
    if source.is_dir():
        yield _in_folder(source)
        return
    try:
        with source.open("rb") as file:
            _require_short_list(file, source)
            with zipfile.ZipFile(file) as archive:
                yield _in_archive(archive)
    except FileNotFoundError:
        raise CourseError(f"There is no {source}.") from None
    except zipfile.BadZipFile:
        raise CourseError(f"{source} is no zip archive, and no folder: download it again.") from None


def _require_short_list(file: BinaryIO, source: Path) -> None:
    """Python reads the list at an archive's end as a whole, however long it says that it is."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - (1 << 16) - 100))
    tail = file.read()
    sizes = [0]
    if (place := tail.rfind(b"PK\x05\x06")) >= 0 and len(tail) >= place + 16:
        sizes.append(struct.unpack_from("<L", tail, place + 12)[0] % 0xFFFFFFFF)
    if (place := tail.rfind(b"PK\x06\x06")) >= 0 and len(tail) >= place + 48:  # of large archives
        sizes.append(struct.unpack_from("<Q", tail, place + 40)[0])
    if max(sizes) > MOST_LISTED:
        raise CourseError(f"{source} lists more files than are read: collect it in parts.")
    file.seek(0)


def _in_archive(archive: zipfile.ZipFile) -> tuple[list[File], list[LeftOut]]:
    files: list[File] = []
    left: list[LeftOut] = []
    for entry in archive.infolist()[:MOST_FILES]:
        if entry.is_dir():
            continue
        if reason := _not_to_be_read(entry):
            left.append(LeftOut(entry.filename[:LONGEST_PATH], reason))
        else:
            files.append(File(entry.filename, _zip_time(entry), _reader(archive, entry)))
    if len(archive.infolist()) > MOST_FILES:
        left.append(
            LeftOut("…", f"of more than {MOST_FILES} files the others are not read: collect in parts.")
        )
    return files, left


def _not_to_be_read(entry: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "it is a link, or no regular file."
    if entry.flag_bits & 0x1:
        return "it is encrypted."
    return "" if _leads_nowhere_else(entry.filename) else "its path leads out of the archive."


def _leads_nowhere_else(path: str) -> bool:
    parts = re.split(r"[/\\]", path)
    return (
        len(path) <= LONGEST_PATH
        and not re.search(r"[\x00-\x1f]|^[A-Za-z]:", path)
        and not {"", "..", "."} & {*parts}
    )


def _reader(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[int], bytes]:
    def read(limit: int) -> bytes:
        try:
            with archive.open(entry) as file:
                blob = file.read(limit + 1)  # whatever size the entry says that it has
        except (
            zipfile.BadZipFile,
            zlib.error,
            NotImplementedError,
            RuntimeError,
            EOFError,
            OSError,
        ) as error:
            raise Unreadable(f"it cannot be unpacked ({error}).") from None
        if len(blob) > limit:
            raise Unreadable(f"it has more than {limit >> 20} MB.")
        return blob

    return read


def _zip_time(entry: zipfile.ZipInfo) -> datetime | None:
    """An archive has the time of a wall clock: this machine's."""
    try:
        return _utc(datetime(*entry.date_time))
    except (ValueError, OverflowError, OSError):
        return None


def _utc(local: datetime) -> datetime:
    return local.astimezone().astimezone(UTC).replace(tzinfo=None)


def _in_folder(source: Path) -> tuple[list[File], list[LeftOut]]:
    files: list[File] = []
    left: list[LeftOut] = []
    for place, folders, names in os.walk(source):
        folders.sort()
        for name in [*folders, *sorted(names)]:
            path = Path(place) / name
            inside = path.relative_to(source).as_posix()
            status = path.lstat()
            if stat.S_ISREG(status.st_mode) and len(files) < MOST_FILES:
                modified = datetime.fromtimestamp(status.st_mtime, UTC).replace(tzinfo=None, microsecond=0)
                files.append(File(inside, modified, _file_reader(path)))
            elif not stat.S_ISDIR(status.st_mode):
                left.append(LeftOut(inside, "it is a link, or no regular file."))
    return files, left


def _file_reader(path: Path) -> Callable[[int], bytes]:
    def read(limit: int) -> bytes:
        try:
            return read_regular_file(path.parent, path.name, limit)
        except OSError as error:
            raise Unreadable(f"it cannot be read ({error.strerror}).") from None

    return read


class Budget:
    """Reads notebooks until all of them together are too much."""

    def __init__(self, most: int = MOST_BYTES):
        self._left = most

    def read(self, file: File) -> bytes:
        """The file's bytes. Raises Unreadable, with the reason, if the file or all files together are too large."""
        try:
            blob = file.read(min(MAX_FILE_BYTES, self._left))
        except Unreadable:
            if self._left >= MAX_FILE_BYTES:
                raise
            raise Unreadable("with it all notebooks together are too large: collect them in parts.") from None
        self._left -= len(blob)
        return blob


# What a path says. Moodle: "Ada Lovelace_12345_assignsubmission_file/x.ipynb", before 4.1 with one more "_" behind "file",
# or without folders; in the name underscores are spaces (mod/assign/classes/downloader.php). Canvas:
# "lovelaceada_LATE_12_345_x.ipynb" with the numbers of the user and of the file (lib/content_zipper.rb).
MOODLE = re.compile(r"(?P<person>[^_]+)_(?P<number>\d+)_assignsubmission_file(?:_(?P<file>.*))?")
CANVAS = re.compile(
    r"(?P<prefix>(?P<person>(?:(?!_\d+_).)*?)(?P<late>_LATE)?_(?P<number>\d+)_(?P<order>\d+)_)(?P<file>[^/]+)"
)
HIDDEN_IN_CANVAS = re.compile(r"(?:LATE_)?anon_\w+?_\d+_[^/]+")
AGAIN = re.compile(r"(?P<stem>.+?)(?:[ _-]?\((?P<copy>\d+)\)|-(?P<attempt>\d+))")


@dataclass(frozen=True)
class FileOwner:
    """Whose a file is, as its path has it."""

    system: str  # "moodle", "canvas", or "plain": STUDENT/…/x.ipynb
    person: str  # the full name; in a plain folder what is called like the student
    number: str = ""  # by which the system knows the person
    file: str = ""  # as the student called it
    prefix: str = ""  # what the system asks of a file that goes back to the same person
    folder: str = ""  # in which the file lies
    late: bool = False
    order: int = 0  # larger for what was handed in later


def owner_of(path: str, assignments: Collection[str]) -> FileOwner | None:
    """What a path says; None where it names nobody."""
    parts = path.split("/")
    for part in parts[:-1]:
        if match := MOODLE.fullmatch(part):
            return FileOwner("moodle", match["person"], match["number"], parts[-1], f"{part}/")
    if (match := MOODLE.fullmatch(parts[-1])) and match["file"]:
        prefix = parts[-1][: match.start("file")]
        return FileOwner("moodle", match["person"], match["number"], match["file"], prefix)
    if len(parts) <= 2 and HIDDEN_IN_CANVAS.fullmatch(parts[-1]):
        return FileOwner("canvas", "", "", parts[-1])
    if len(parts) <= 2 and (match := CANVAS.fullmatch(parts[-1])):
        late, order = bool(match["late"]), int(match["order"][:18])
        return FileOwner(
            "canvas", match["person"], match["number"], match["file"], match["prefix"], late=late, order=order
        )
    folders = parts[:-1]
    if folders and folders[-1] in assignments:
        folders = folders[:-1]
    if not folders:
        return None
    return FileOwner("plain", folders[-1], "", parts[-1], f"{folders[-1]}/", parts[-2])


def which_assignment(name: FileOwner, assignments: Collection[str]) -> tuple[str, int]:
    """The assignment that a notebook is called after, or "", and the number that a second one gets from a browser."""
    stem = name.file.removesuffix(".ipynb")
    again = 0
    while stem not in assignments and (match := AGAIN.fullmatch(stem)):
        again = again or int((match["copy"] or match["attempt"])[:9])
        stem = match["stem"]
    if stem in assignments:
        return stem, again
    return (name.folder if name.folder in assignments else ""), again
