"""What a learning management system lets an instructor download: an archive, or a folder, of files that students made.

Nothing is unpacked: a file is read into memory, with bounds, and only when its owner is known. A path that would lead
elsewhere is left out, with the reason; a link or a damaged entry is a file that cannot be read.
"""

import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import BinaryIO, Protocol

from autograder.course import composed
from autograder.errors import CourseError
from autograder.untrusted.submission import MAX_FILE_BYTES, LeftOut, Unreadable, read_regular_file

MOST_LISTED = 32 << 20  # bytes of an archive's list of files, which is read at once
MOST_INSIDE = 1000  # files of an archive that a student has handed in
MOST_BYTES = 8 << 30  # that are read of all notebooks together
LONGEST_PATH = 1000


ENCODINGS = (
    "cp850 cp1252 cp437 cp932 cp936 cp949 cp950 cp1250 cp852 cp1251 cp866 "
    "cp1253 cp737 cp1254 cp857 cp1255 cp862 cp1256 cp720 cp1257 cp775 cp874"
).split()
"""How names in an archive may be encoded that are no UTF-8: programs write those of the machine they run on."""


class Read(Protocol):
    """Reads a file: all of it, Unreadable where it is damaged or longer than `limit`; or only its `beginning`."""

    def __call__(self, limit: int, beginning: bool = False) -> bytes:
        """The bytes of the file."""
        ...


@dataclass(frozen=True)
class File:
    """A regular file in an archive or a folder, or what cannot be read in the place of one."""

    path: str
    modified: datetime | None  # UTC, naive, as nbgrader keeps times
    read: Read
    guessed: bool = False  # nobody knows in which encoding its path is


Files = tuple[list[File], list[LeftOut]]
"""The files, and what has a path that leads elsewhere."""


@contextmanager
def opened(
    source: Path, zone: tzinfo = UTC, knows: Callable[[str], bool] = lambda part: False
) -> Iterator[Files]:
    """The files of a zip archive or a folder. Raises CourseError where it is neither.

    The times in an archive are those of a clock in `zone`; `knows` says whether a part of a path names a student.
    """
    if source.is_dir():
        yield _in_folder(source)
        return
    try:
        file = source.open("rb")
    except FileNotFoundError:
        raise CourseError(f"There is no {source}.") from None
    except OSError as error:
        raise CourseError(f"{source} cannot be read ({error.strerror}).") from None
    with file:
        _require_short_list(file, source.name)
        try:
            archive = zipfile.ZipFile(file)
        except NOT_ZIP:
            raise CourseError(f"{source} is neither a zip archive nor a folder: download it again.") from None
        with archive:
            yield _in_archive(archive, zone, knows)


NOT_ZIP = (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, OverflowError, struct.error)
"""What Python's reader of archives raises at what is none."""


def inside(blob: bytes, path: str) -> list[File]:
    """The files of an archive that a student has handed in. Raises Unreadable where it is none, or too large."""
    file = io.BytesIO(blob)
    try:
        _require_short_list(file, path)
        archive = zipfile.ZipFile(file)
    except CourseError as error:
        raise Unreadable(str(error)) from None
    except NOT_ZIP as error:
        raise Unreadable(f"it is not a zip archive ({error}).") from None
    files, _ = _in_archive(archive, UTC, lambda part: False)
    return [File(f"{path}/{file.path}", file.modified, file.read) for file in files[:MOST_INSIDE]]


def _require_short_list(file: BinaryIO, source: str) -> None:
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
        raise CourseError(
            f"{source} contains more files than can be read at once: split it and collect the parts one by one."
        )
    file.seek(0)


def _in_archive(archive: zipfile.ZipFile, zone: tzinfo, knows: Callable[[str], bool]) -> Files:
    files: list[File] = []
    left: list[LeftOut] = []
    encoding, certain = _encoding(archive.infolist(), knows)
    for entry in archive.infolist():
        raw = _without_flag(entry)
        name = _in_unicode(entry) or entry.filename
        path = _path(name if raw is None else raw.decode(encoding, "replace"))
        if path.endswith("/"):
            continue
        if not _leads_nowhere_else(path):
            left.append(LeftOut(path[:LONGEST_PATH], "its path leads out of the archive."))
            continue
        reason = _not_to_be_read(entry)
        read = _unreadable(reason) if reason else _reader(archive, entry)
        files.append(File(path, _zip_time(entry, zone), read, raw is not None and not certain))
    return files, left


def _without_flag(entry: zipfile.ZipInfo) -> bytes | None:
    """A name as it is in the archive, if it is not ASCII and nothing says how it is encoded."""
    if entry.flag_bits & 0x800 or entry.orig_filename.isascii() or _in_unicode(entry):
        return None
    return entry.orig_filename.encode("cp437")  # which Python has taken it for


def _in_unicode(entry: zipfile.ZipInfo) -> str:
    """The name in the field that Info-ZIP writes beside the one of the machine, or "". Only newer Pythons read it."""
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind == 0x7075 and field[:1] == b"\x01":
            raw = entry.orig_filename.encode("cp437", "replace")
            is_of_name = field[1:5] == struct.pack("<L", zlib.crc32(raw))
            return field[5:].decode("utf-8", "replace") if is_of_name else ""
    return ""


def _encoding(entries: Iterable[zipfile.ZipInfo], knows: Callable[[str], bool]) -> tuple[str, bool]:
    """The encoding of the names that have no flag, and whether that is certain.

    It is UTF-8 if all of them may be. Else it is the one by which the most of them name students who are known.
    """
    names = {raw for entry in entries if (raw := _without_flag(entry)) is not None}
    if all(_decodes(raw, "utf-8") for raw in names):
        return "utf-8", True
    known: dict[str, int] = {}
    for encoding in ENCODINGS:
        paths = (_path(raw.decode(encoding)) for raw in names if _decodes(raw, encoding))
        parts = {part for path in paths for part in path.split("/") if not part.isascii()}
        known[encoding] = sum(map(knows, parts))
    best = max(known, key=lambda encoding: known[encoding])
    return best, known[best] > 0


def _decodes(raw: bytes, encoding: str) -> bool:
    try:
        raw.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _path(name: str) -> str:
    """A name as a path: Windows' own programs write backslashes, and nothing but these."""
    plain = composed(name if "/" in name else name.replace("\\", "/"))
    return plain.removeprefix("./")


def _not_to_be_read(entry: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "it is a link, or not a regular file."
    return "it is encrypted." if entry.flag_bits & 0x1 else ""


def _unreadable(reason: str) -> Read:
    def read(limit: int, beginning: bool = False) -> bytes:
        raise Unreadable(reason)

    return read


def _leads_nowhere_else(path: str) -> bool:
    parts = re.split(r"[/\\]", path)
    return (
        len(path) <= LONGEST_PATH
        and not re.search(r"[\x00-\x1f]|^[A-Za-z]:", path)
        and not {"", "..", "."} & {*parts}
    )


def _reader(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Read:
    def read(limit: int, beginning: bool = False) -> bytes:
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
        return _bounded(blob, limit, beginning)

    return read


def _bounded(blob: bytes, limit: int, beginning: bool) -> bytes:
    if len(blob) > limit and not beginning:
        raise Unreadable(f"it is larger than {limit >> 20} MB.")
    return blob[:limit]


def _zip_time(entry: zipfile.ZipInfo, zone: tzinfo) -> datetime | None:
    """An archive has the time of a wall clock."""
    try:
        return datetime(*entry.date_time, tzinfo=zone).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return None


def _in_folder(source: Path) -> Files:
    files: list[File] = []
    left: list[LeftOut] = []
    for place, folders, names in os.walk(source):
        folders.sort()
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for name in [*links, *sorted(names)]:
            path = Path(place) / name
            shown = composed(path.relative_to(source).as_posix())
            if not _leads_nowhere_else(shown):
                left.append(LeftOut(shown[:LONGEST_PATH], "its path cannot be read."))
                continue
            status = path.lstat()
            regular = stat.S_ISREG(status.st_mode)
            modified = datetime.fromtimestamp(status.st_mtime, UTC).replace(tzinfo=None, microsecond=0)
            read = _file_reader(path) if regular else _unreadable("it is a link, or not a regular file.")
            files.append(File(shown, modified, read))
    return files, left


def _file_reader(path: Path) -> Read:
    def read(limit: int, beginning: bool = False) -> bytes:
        try:
            if not beginning:
                return read_regular_file(path.parent, path.name, limit)
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                return file.read(limit)
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
            raise Unreadable(
                "together with this file, the notebooks are too large to read at once: collect them in several batches."
            ) from None
        self._left -= len(blob)
        return blob
