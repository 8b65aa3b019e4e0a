"""Read what a student handed in, distrustfully, and restore what must not differ from the release."""

import base64
import codecs
import copy
import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import msgspec
from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_notebook

from autograder.checks.status import Status
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.source import grade_id, graded_cells, is_locked, is_solution
from autograder.untrusted.budgets import MOST_VALUES, is_small
from autograder.untrusted.texts import decode
from autograder.untrusted.times import NoTime, read_time

# What is read of a hand-in; docs/students.md tells them. The second is for the texts of the cells: outputs do not
# count, and pictures are read as far as there is room.
MAX_FILE_BYTES = 200 << 20
MAX_NOTEBOOK_BYTES = 20 << 20
MAX_CELLS = 2000
MOST_FILES = 1000  # of a folder whose names are looked at
MOST_TIME, SHOWN_TIME = 1000, 60  # bytes of a timestamp.txt, and how many characters of it are shown

# Of a student: characters that nbgrader's gradebook holds, and bytes of a file's name.
LONGEST_NAME, LONGEST_FILE_NAME = 128, 200
PICTURES = ("image/png", "image/jpeg", "image/gif")
KINDS = ("code", "markdown", "raw")


class Unreadable(ValueError):
    """The file is no notebook we can read; the message says why, for the student and the instructor."""


class NotRead(CourseError):
    """This machine does not let us read a hand-in. That is no verdict, and no reason to stop the others."""


@dataclass(frozen=True)
class LeftOut:
    """Somebody who was not graded, or not wholly, and what to do about it."""

    student: str
    reason: str

    def __str__(self) -> str:
        name = self.student if self.student.isprintable() else ascii(self.student)
        return f"{name}: {self.reason}"


@dataclass(frozen=True)
class Submission:
    """One student's notebook, restored and ready to run; or the reason why there is none."""

    student: str
    notebook: NotebookNode
    digest: str
    status: Status | None = None  # why it cannot be run: MALFORMED or MISSING
    reason: str = ""
    timestamp: datetime | None = None
    time_unread: str = ""  # why its timestamp.txt could not be read
    released: Mapping[str, str] = field(kw_only=True)  # {grade id of a cell to be filled in: its text}

    @cached_property
    def graded(self) -> list[NotebookNode]:
        """The cells with points."""
        return graded_cells(self.notebook)

    @cached_property
    def written(self) -> Mapping[str, str]:
        """The texts of the cells to be filled in that are not as they were released, by grade id."""
        return {
            grade_id(cell): cell["source"]
            for cell in self.notebook.cells
            if is_solution(cell) and cell["source"] != self.released.get(grade_id(cell))
        }


@dataclass(frozen=True)
class Handed:
    """What lies in a submission folder, before anything is restored."""

    cells: "list[Cell]"
    digest: str
    status: Status | None = None
    reason: str = ""


def read_submission(folder: Path, student: str, assignment: Assignment, release: NotebookNode) -> Submission:
    """The submission in `folder` (submitted/STUDENT/ASSIGNMENT). Never raises for what the student did.

    Raises NotRead where the machine does not let us read it.
    """
    handed = read_handed(folder, assignment)
    notebook = restore(handed.cells, release)
    when, unread = time_of(folder)
    released = to_be_filled_in(release)
    return Submission(
        student, notebook, handed.digest, handed.status, handed.reason, when, unread, released=released
    )


def to_be_filled_in(release: NotebookNode) -> dict[str, str]:
    """The released texts of the cells in which students write, by grade id."""
    return {grade_id(cell): cell["source"] for cell in release["cells"] if is_solution(cell)}


def read_handed(folder: Path, assignment: Assignment) -> Handed:
    """The cells in `folder`, or the reason why there are none. Raises NotRead."""
    try:
        with _explained(folder):
            blob = read_regular_file(folder, f"{assignment.name}.ipynb")
        return Handed(parse_cells(blob), hashlib.sha256(blob).hexdigest())
    except FileNotFoundError:
        there = f"There is no {assignment.name}.ipynb in the submission{_others(folder)}."
        return Handed([], "", Status.MISSING, there)
    except Unreadable as error:
        return Handed([], "", Status.MALFORMED, str(error))


def _others(folder: Path) -> str:
    """In words: the notebooks that lie there under another name, which a browser, an editor or a person has given them."""
    with suppress(OSError), os.scandir(folder) as entries:
        first = (entry.name for entry in islice(entries, MOST_FILES))
        names = sorted(name for name in first if ".ipynb" in name.lower() and name.isprintable())
        names = [name for name in names if not name.startswith(".")]
        if names:
            return f"; there is {', '.join(names[:3])}, which has another name"
    return ""


# Whose fault these are nobody knows: permissions, a broken disk, a file server that is away.
OF_THE_MACHINE = {errno.EACCES, errno.EPERM, errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT}


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """What the machine refuses becomes NotRead."""
    try:
        yield
    except OSError as error:
        if error.errno not in OF_THE_MACHINE:
            raise
        denied = isinstance(error, PermissionError)
        remedy = "mend its permissions" if denied else "see whether its disk or file server is well"
        raise NotRead(f"{folder} cannot be read ({error.strerror}): {remedy}.") from None


def read_regular_file(folder: Path, name: str, limit: int = MAX_FILE_BYTES) -> bytes:
    """Bytes of `folder/name`. A link, a pipe or a giant file is Unreadable, and is never opened or followed."""
    try:
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except NotADirectoryError:
        raise Unreadable("The submission folder is not a plain folder.") from None
    except OSError as error:
        if isinstance(error, FileNotFoundError) or error.errno in OF_THE_MACHINE:
            raise
        raise Unreadable("The submission folder is a link or cannot be opened.") from None
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{name} is not a regular file (a link, a folder or a pipe).")
        if status.st_size > limit:
            advice = " Clear all outputs of the notebook and save it." if name.endswith(".ipynb") else ""
            raise Unreadable(
                f"{name} has {status.st_size >> 20} MB; at most {limit >> 20} MB are read.{advice}"
            )
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
        with open(handle, "rb") as file:
            return file.read(limit + 1)[:limit]
    finally:
        os.close(directory)


@dataclass(frozen=True)
class Cell:
    """What is taken from a submitted cell: nothing but its text, its kind, its name and its pictures."""

    kind: str
    source: str
    name: str  # its grade id
    attachments: dict[str, dict[str, str]]


def parse_cells(blob: bytes) -> list[Cell]:
    """The cells of a notebook file. Raises Unreadable with a sentence for anything else."""
    blob = blob.removeprefix(codecs.BOM_UTF8)  # some editors write it
    try:
        content = (
            json.loads(blob.decode("utf-8")) if is_small(blob, MAX_NOTEBOOK_BYTES) else _cells_alone(blob)
        )
    except Unreadable:
        raise
    except UnicodeDecodeError:
        raise Unreadable("The file is not UTF-8 text.") from None
    except msgspec.ValidationError as error:
        raise Unreadable(f"The file is JSON, but not a notebook of format 4 ({error}).") from None
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Unreadable(f"The file is not a notebook (not JSON: {what[:120]}).") from None
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise Unreadable("The file is JSON, but not a notebook of format 4 (no list of cells).")
    _check_count(content["cells"])
    return [_parse_cell(number, cell) for number, cell in enumerate(content["cells"])]


def _check_count(cells: Sequence[Any]) -> None:
    if len(cells) > MAX_CELLS:
        raise Unreadable(f"The notebook has {len(cells)} cells; at most {MAX_CELLS} are read.")


class _LargeCell(msgspec.Struct):
    """What is read of a cell in a large file, as the bytes that stand there. The rest is passed over."""

    cell_type: Literal["code", "markdown", "raw"]  # so that a list of nothing is refused at its first entry
    source: msgspec.Raw = msgspec.Raw(b'""')
    metadata: msgspec.Raw = msgspec.Raw(b"{}")
    id: msgspec.Raw = msgspec.Raw(b'""')
    attachments: msgspec.Raw = msgspec.Raw(b"{}")


class _LargeFile(msgspec.Struct):
    cells: list[_LargeCell]


def _cells_alone(blob: bytes) -> dict[str, Any]:
    """The notebook in a large file without its outputs, and without the pictures for which there is no room.

    Time and memory are bounded by the size of the file, whatever it holds: nothing is built of what is passed over.
    """
    cells = msgspec.json.decode(blob, type=_LargeFile).cells
    _check_count(cells)
    room = MAX_NOTEBOOK_BYTES - sum(_size(part) for cell in cells for part in _texts(cell))
    if room < 0:
        limit = MAX_NOTEBOOK_BYTES >> 20
        raise Unreadable(
            f"The texts of the notebook's cells have more than {limit} MB, without outputs and pictures; at most "
            f"{limit} MB are read."
        )
    read = []
    for cell in cells:
        parts: tuple[str, ...] = ("source", "metadata", "id")
        if cell.cell_type == "markdown" and _size(cell.attachments) <= room:
            room -= _size(cell.attachments)
            parts += ("attachments",)
        read.append({"cell_type": cell.cell_type} | {name: _loads(getattr(cell, name)) for name in parts})
    return {"cells": read}


def _loads(part: msgspec.Raw) -> Any:
    blob = bytes(part)
    if not is_small(blob, MAX_NOTEBOOK_BYTES):
        raise Unreadable(f"A cell has more than {MOST_VALUES} values in it, which are not read.")
    return json.loads(blob)


def _texts(cell: _LargeCell) -> tuple[msgspec.Raw, ...]:
    return cell.source, cell.metadata, cell.id


def _size(part: msgspec.Raw) -> int:
    return len(memoryview(part))


def _parse_cell(number: int, cell: Any) -> Cell:
    if not isinstance(cell, dict) or cell.get("cell_type") not in KINDS:
        raise Unreadable(f"Cell {number} of the file is not a code, markdown or raw cell.")
    source = cell.get("source", "")
    if isinstance(source, list):
        with suppress(TypeError):  # a line that is no text
            source = "".join(source)
    if not isinstance(source, str):
        raise Unreadable(f"Cell {number} of the file has no readable text.")
    if not source.isascii():
        # A lone surrogate is legal in JSON but cannot be written to a file again.
        source = source.encode("utf-8", "replace").decode("utf-8")
    source = source.replace("\r\n", "\n").replace("\r", "\n")  # as the release has them
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    if not isinstance(name, str):
        name = cell.get("id")  # the release's ids are its grade ids: they survive lost metadata
    return Cell(
        cell["cell_type"], source, name if isinstance(name, str) else "", _pictures(cell.get("attachments"))
    )


def _pictures(attachments: Any) -> dict[str, dict[str, str]]:
    if not isinstance(attachments, dict):
        return {}
    pictures = {}
    for name, bundle in attachments.items():
        if isinstance(bundle, dict):
            images = {kind: data for kind, data in bundle.items() if kind in PICTURES and _is_base64(data)}
            if images and name.isprintable():  # which half a character, that no file can hold, is not
                pictures[name] = images
    return pictures


def _is_base64(data: Any) -> bool:
    try:
        return isinstance(data, str) and bool(base64.b64decode("".join(data.split()), validate=True))
    except ValueError:
        return False


def to_notebook(cells: list[Cell]) -> NotebookNode:
    """The cells as a notebook that keeps nothing but their texts, pictures and names."""
    made = []
    for position, cell in enumerate(cells):
        metadata = from_dict({"nbgrader": {"grade_id": cell.name}} if cell.name else {})
        made.append(_with_pictures(_new_cell(cell, f"cell-{position}", metadata), cell))
    return new_notebook(cells=made)


def from_notebook(notebook: NotebookNode) -> list[Cell]:
    """The inverse of `to_notebook`."""
    return [Cell(c.cell_type, c.source, grade_id(c), dict(c.get("attachments", {}))) for c in notebook.cells]


def restore(handed: list[Cell], release: NotebookNode) -> NotebookNode:
    """A notebook with the student's texts and everything else from the release.

    Locked cells and all metadata come from the release, by grade id. Of a doubled id the first cell
    counts. A deleted cell comes back behind the cells that precede it in the release.
    """
    released = release["cells"]
    names = [grade_id(cell) for cell in released]
    official = {name: place for place, name in enumerate(names) if name}
    plain = {released[place]["source"]: place for place, name in enumerate(names) if not name}
    whole: list[tuple[int, Cell | None]] = []  # with the place in the release, or -1
    seen: set[int] = set()
    for cell in handed:
        place = official.get(cell.name, -1)
        if place >= 0 and place not in seen and cell.kind == released[place]["cell_type"]:
            seen.add(place)
        else:
            place = plain.get(cell.source, -1)
        whole.append((place, cell))
    for place in official.values():
        if place not in seen:
            before = [i for i, (other, _) in enumerate(whole) if 0 <= other < place]
            whole.insert(before[-1] + 1 if before else 0, (place, None))
    cells = []
    for position, (place, kept) in enumerate(whole):
        original = released[place] if place >= 0 else None
        if original is not None and names[place]:
            cells.append(_restored(kept, names[place], original))
        elif kept is not None:  # only cells with a grade id come back
            cells.append(_as_handed_in(kept, original, position))
    metadata = copy.deepcopy(release.metadata)
    return NotebookNode(nbformat=4, nbformat_minor=5, metadata=metadata, cells=cells)


def _as_handed_in(cell: Cell, original: NotebookNode | None, position: int) -> NotebookNode:
    """A student's cell without a grade id of the release, with the metadata of the released cell that has its text."""
    metadata = NotebookNode()
    if original is not None and original["cell_type"] == cell.kind:
        metadata = original["metadata"]
    return _with_pictures(_new_cell(cell, f"cell-{position}", metadata), cell)


def _restored(cell: Cell | None, name: str, original: NotebookNode) -> NotebookNode:
    """The released cell `original`, with the grade id `name` and, unless it is locked, the text of the student's cell.

    A cell that the student deleted is None.
    """
    code = _not_run(original["cell_type"])
    if cell is None or is_locked(original):
        return NotebookNode(original, id=name, **code)
    return _with_pictures(NotebookNode(original, id=name, source=cell.source, **code), cell)


def _new_cell(cell: Cell, cell_id: str, metadata: NotebookNode) -> NotebookNode:
    """Like nbformat's new_code_cell and its sisters, which validate each cell and are a hundred times slower."""
    code = _not_run(cell.kind)
    return NotebookNode(id=cell_id, cell_type=cell.kind, metadata=metadata, source=cell.source, **code)


def _not_run(kind: str) -> dict[str, Any]:
    """What only code cells have, as it is before they run."""
    return {"outputs": [], "execution_count": None} if kind == "code" else {}


def _with_pictures(notebook_cell: NotebookNode, cell: Cell) -> NotebookNode:
    if cell.attachments and cell.kind == "markdown":
        notebook_cell.attachments = from_dict(cell.attachments)
    return notebook_cell


def handed_in_at(folder: Path) -> datetime | None:
    """When it was handed in (UTC, naive, as nbgrader keeps it); None if the file is absent or holds no time. Raises NotRead."""
    return time_of(folder)[0]


def time_of(folder: Path) -> tuple[datetime | None, str]:
    """When it was handed in, as `handed_in_at`, and why a timestamp.txt that is there could not be read. Raises NotRead."""
    try:
        with _explained(folder):
            blob = read_regular_file(folder, "timestamp.txt", MOST_TIME)
    except OSError:
        return None, ""
    except Unreadable as error:  # of the folder itself the notebook's reason speaks
        return None, str(error) if folder.is_dir() and not folder.is_symlink() else ""
    return parse_timestamp(blob)


def parse_timestamp(blob: bytes) -> tuple[datetime | None, str]:
    """The time in a timestamp.txt, or None and why there is none; an empty one says nothing and is no mistake."""
    text = decode(blob).strip()
    if not text:
        return None, ""
    try:
        return read_time(text), ""
    except NoTime as error:
        shown = text if text.isprintable() and len(text) <= SHOWN_TIME else ascii(text[:SHOWN_TIME])
        return None, f'timestamp.txt cannot be read: "{shown}" {error}.'


def students(submitted: Path, assignment: str) -> Iterator[tuple[str, Path]]:
    """Every student with a folder for this assignment under `submitted` that can be graded, in order."""
    for folder in _folders(submitted):
        if _obstacle(folder, assignment) == "":
            yield folder.name, folder / assignment


def left_out(submitted: Path, assignment: str) -> list[LeftOut]:
    """Whatever under `submitted` may be a hand-in of this assignment and is not among the `students`."""
    obstacles = ((folder.name, _obstacle(folder, assignment)) for folder in _folders(submitted))
    return [LeftOut(name, reason) for name, reason in obstacles if reason]


def _folders(submitted: Path) -> list[Path]:
    """What lies in `submitted`, in order. Raises CourseError where it cannot be read."""
    with _explained(submitted):
        if not submitted.is_dir():
            return []
        return sorted(path for path in submitted.iterdir() if not path.name.startswith("."))


def _obstacle(folder: Path, assignment: str) -> str | None:
    """Why what lies in a student's folder cannot be graded, and what to do; "" where it can, None without a hand-in."""
    handed_in = folder / assignment
    try:
        kind = folder.lstat().st_mode
        if stat.S_ISREG(kind) and folder.suffix == ".ipynb":
            return f"it is a file: move it to STUDENT/{assignment}/{assignment}.ipynb."
        if stat.S_ISLNK(kind) and os.path.isdir(handed_in):
            return "it is a link: put the folder itself in its place."
        if not stat.S_ISDIR(kind):
            return None
        handed_in.lstat()
    except OSError as error:
        denied = error.errno in OF_THE_MACHINE
        return f"the folder cannot be read ({error.strerror}): mend its permissions." if denied else None
    return "" if can_be_a_student(folder.name) else "the folder's name cannot be a student's id: rename it."


def can_be_a_student(name: str) -> bool:
    """Whether the gradebook and nbgrader's commands can keep a name as it is: they cut off spaces at its ends."""
    return (
        name.isprintable()  # so that it can be written as UTF-8, on one line
        and name == name.strip()
        and len(name) <= LONGEST_NAME
        and len(name.encode()) <= LONGEST_FILE_NAME
    )
