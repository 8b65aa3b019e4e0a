"""Read what a student handed in, distrustfully, and restore what must not differ from the release."""

import base64
import copy
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_notebook
from nbgrader.utils import is_locked, parse_utc

from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.source import grade_id

MAX_NOTEBOOK_BYTES = 20 << 20
MAX_CELLS = 2000
LONGEST_NAME = 200  # of a student, in bytes
PICTURES = ("image/png", "image/jpeg", "image/gif")
KINDS = ("code", "markdown", "raw")


class Unreadable(ValueError):
    """The file is no notebook we can read; the message says why, for the student and the instructor."""


@dataclass(frozen=True)
class Submission:
    """One student's notebook, restored and ready to run; or the reason why there is none."""

    student: str
    notebook: NotebookNode
    digest: str
    status: str = ""  # "", "malformed" or "missing"
    reason: str = ""
    timestamp: datetime | None = None


@dataclass(frozen=True)
class Handed:
    """What lies in a submission folder, before anything is restored."""

    cells: "list[Cell]"
    digest: str
    status: str = ""
    reason: str = ""


def read_submission(folder: Path, student: str, assignment: Assignment, release: NotebookNode) -> Submission:
    """The submission in `folder` (submitted/STUDENT/ASSIGNMENT). Never raises for what the student did."""
    handed = read_handed(folder, assignment)
    notebook = restore(handed.cells, release)
    return Submission(student, notebook, handed.digest, handed.status, handed.reason, _timestamp(folder))


def read_handed(folder: Path, assignment: Assignment) -> Handed:
    """The cells in `folder`, or the reason why there are none."""
    try:
        blob = read_regular_file(folder, f"{assignment.name}.ipynb")
        return Handed(parse_cells(blob), hashlib.sha256(blob).hexdigest())
    except FileNotFoundError:
        return Handed([], "", "missing", f"There is no {assignment.name}.ipynb in the submission.")
    except Unreadable as error:
        return Handed([], "", "malformed", str(error))
    except PermissionError as error:  # whose fault that is nobody knows: not a verdict
        raise CourseError(f"{folder} cannot be read ({error.strerror}): mend its permissions.") from None


def read_regular_file(folder: Path, name: str, limit: int = MAX_NOTEBOOK_BYTES) -> bytes:
    """Bytes of `folder/name`. A link, a pipe or a giant file is Unreadable, and is never opened or followed."""
    try:
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except NotADirectoryError:
        raise Unreadable("The submission folder is not a plain folder.") from None
    except OSError as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise Unreadable("The submission folder is a link or cannot be opened.") from None
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable(f"{name} is not a regular file (a link, a folder or a pipe).")
        if found.st_size > limit:
            raise Unreadable(f"{name} has {found.st_size >> 20} MB; at most {limit >> 20} MB are read.")
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
    try:
        content = json.loads(blob.decode("utf-8"))
    except UnicodeDecodeError:
        raise Unreadable("The file is not UTF-8 text.") from None
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Unreadable(f"The file is not a notebook (not JSON: {what[:120]}).") from None
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise Unreadable("The file is JSON, but not a notebook of format 4 (no list of cells).")
    if len(content["cells"]) > MAX_CELLS:
        raise Unreadable(f"The notebook has {len(content['cells'])} cells; at most {MAX_CELLS} are read.")
    return [_parse_cell(number, cell) for number, cell in enumerate(content["cells"])]


def _parse_cell(number: int, cell: Any) -> Cell:
    if not isinstance(cell, dict) or cell.get("cell_type") not in KINDS:
        raise Unreadable(f"Cell {number} of the file is not a code, markdown or raw cell.")
    source = cell.get("source", "")
    if isinstance(source, list):
        with suppress(TypeError):  # a line that is no text
            source = "".join(source)
    if not isinstance(source, str):
        raise Unreadable(f"Cell {number} of the file has no readable text.")
    # A lone surrogate is legal in JSON but cannot be written to a file again.
    source = source.encode("utf-8", "replace").decode("utf-8")
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
    kept = {}
    for name, bundle in attachments.items():
        if isinstance(bundle, dict):
            images = {kind: data for kind, data in bundle.items() if kind in PICTURES and _is_base64(data)}
            if images and name.isprintable():  # which half a character, that no file can hold, is not
                kept[name] = images
    return kept


def _is_base64(data: Any) -> bool:
    try:
        return isinstance(data, str) and bool(base64.b64decode("".join(data.split()), validate=True))
    except ValueError:
        return False


def to_notebook(cells: list[Cell]) -> NotebookNode:
    """The cells as a notebook that keeps nothing but their texts, pictures and names."""
    made = []
    for position, cell in enumerate(cells):
        new = _with_pictures(_new_cell(cell, f"cell-{position}"), cell)
        new.metadata = from_dict({"nbgrader": {"grade_id": cell.name}} if cell.name else {})
        made.append(new)
    return new_notebook(cells=made)


def from_notebook(notebook: NotebookNode) -> list[Cell]:
    """The inverse of `to_notebook`."""
    return [Cell(c.cell_type, c.source, grade_id(c), dict(c.get("attachments", {}))) for c in notebook.cells]


def restore(handed: list[Cell], release: NotebookNode) -> NotebookNode:
    """A notebook with the student's texts and everything else from the release.

    Locked cells and all metadata come from the release, by grade id. Of a doubled id the first cell
    counts. A deleted cell comes back behind the cells that precede it in the release.
    """
    official = {grade_id(cell): place for place, cell in enumerate(release.cells) if grade_id(cell)}
    plain = {cell.source: place for place, cell in enumerate(release.cells) if not grade_id(cell)}
    restored: list[tuple[int, NotebookNode]] = []  # with the place in the release, or -1
    seen: set[int] = set()
    for cell in handed:
        place = official.get(cell.name, -1)
        if place >= 0 and place not in seen and cell.kind == release.cells[place].cell_type:
            restored.append((place, _graded(cell, release.cells[place])))
            seen.add(place)
        else:
            place = plain.get(cell.source, -1)
            restored.append((place, _ungraded(cell, release.cells[place] if place >= 0 else None)))
    for place in official.values():
        if place not in seen:
            before = [i for i, (other, _) in enumerate(restored) if 0 <= other < place]
            restored.insert(before[-1] + 1 if before else 0, (place, _blank(release.cells[place])))
    cells = [cell for _, cell in restored]
    for position, cell in enumerate(cells):
        cell.id = grade_id(cell) or f"cell-{position}"
    metadata = copy.deepcopy(release.metadata)
    return NotebookNode(nbformat=4, nbformat_minor=5, metadata=metadata, cells=cells)


def _graded(cell: Cell, original: NotebookNode) -> NotebookNode:
    restored = _blank(original)
    if not is_locked(original):
        restored.source = cell.source
        return _with_pictures(restored, cell)
    return restored


def _ungraded(cell: Cell, original: NotebookNode | None) -> NotebookNode:
    new = _new_cell(cell)
    if original is not None and original.cell_type == cell.kind:
        new.metadata = original.metadata
    return _with_pictures(new, cell)


def _new_cell(cell: Cell, cell_id: str = "") -> NotebookNode:
    """Like nbformat's new_code_cell and its sisters, which validate each cell and are a hundred times slower."""
    code = {"outputs": [], "execution_count": None} if cell.kind == "code" else {}
    return NotebookNode(id=cell_id, cell_type=cell.kind, metadata=NotebookNode(), source=cell.source, **code)


def _with_pictures(notebook_cell: NotebookNode, cell: Cell) -> NotebookNode:
    if cell.attachments and cell.kind == "markdown":
        notebook_cell.attachments = from_dict(cell.attachments)
    return notebook_cell


def _blank(original: NotebookNode) -> NotebookNode:
    cell = NotebookNode(original)  # its metadata are read and never changed
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    return cell


def _timestamp(folder: Path) -> datetime | None:
    """When it was handed in (UTC, naive, as nbgrader keeps it); None if the file is absent or unreadable."""
    try:
        text = read_regular_file(folder, "timestamp.txt", limit=1000).decode("utf-8").strip()
        return parse_utc(text) if text else None
    except (OSError, ValueError, OverflowError):
        return None


def students(submitted: Path, assignment: str) -> Iterator[tuple[str, Path]]:
    """Every student with a folder for this assignment under `submitted`, in order.

    Raises CourseError for a folder whose name no gradebook can hold.
    """
    if not submitted.is_dir():
        return
    for folder in sorted(submitted.iterdir()):
        if folder.name.startswith(".") or folder.is_symlink() or not folder.is_dir():
            continue
        if os.path.lexists(folder / assignment):
            if not folder.name.isprintable() or len(folder.name.encode()) > LONGEST_NAME:
                raise CourseError(
                    f"{submitted} holds a folder named {ascii(folder.name)}, which cannot be a student's id: rename it."
                )
            yield folder.name, folder / assignment
