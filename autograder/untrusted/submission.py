"""Read what a student handed in, distrustfully, and restore what must not differ from the release."""

import errno
import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import islice
from pathlib import Path

from nbformat import NotebookNode

from autograder.checks.status import Status
from autograder.course import Assignment, composed, notebook_names
from autograder.errors import CourseError
from autograder.source import grade_id, graded_cells, is_solution
from autograder.untrusted.another import another_assignment
from autograder.untrusted.cells import Cell, Unreadable, parse_cells
from autograder.untrusted.placing import restore
from autograder.untrusted.texts import decoded
from autograder.untrusted.times import NoTime, read_time

MAX_FILE_BYTES = 200 << 20  # of a hand-in; docs/students.md tells it
MOST_FILES = 1000  # of a folder whose names are looked at
MOST_TIME, SHOWN_TIME = 1000, 60  # bytes of a timestamp.txt, and how many characters of it are shown

# Of a student: characters that nbgrader's gradebook holds, and bytes of a file's name.
LONGEST_NAME, LONGEST_FILE_NAME = 128, 200
OF_THE_EXCHANGE = ("timestamp.txt", "submission_secret.txt")


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
    """One student's notebook, restored and ready to run; or the reason why there is none.

    notes     what was put right or is missing, in sentences for the student and the instructor
    doubtful  {grade id of an unanswered cell of code: the first line of a cell that may hold the answer}
    another   in a sentence, which other assignment's notebook it is; it is the first of the notes
    unsure    {grade id of an answer or a test: why a person must look at it before it is worth nothing}
    """

    student: str
    notebook: NotebookNode
    digest: str
    status: Status | None = None  # why it cannot be run: MALFORMED or MISSING
    reason: str = ""
    timestamp: datetime | None = None
    time_unread: str = ""  # why its timestamp.txt could not be read
    released: Mapping[str, str] = field(kw_only=True)  # {grade id of a cell to be filled in: its text}
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    doubtful: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    another: str = field(default="", kw_only=True)
    unsure: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    @cached_property
    def graded(self) -> list[NotebookNode]:
        """The cells with points."""
        return graded_cells(self.notebook)

    @cached_property
    def written(self) -> Mapping[str, str]:
        """The texts of the cells to be filled in that are not as they were released, by grade id.

        Below a text stands what is attached to it, with a digest: other pictures make another answer.
        """
        return {
            grade_id(cell): _with_attached(cell)
            for cell in self.notebook.cells
            if is_solution(cell) and cell["source"] != self.released.get(grade_id(cell))
        }


def _with_attached(cell: NotebookNode) -> str:
    lines = [cell["source"]]
    for name, bundle in sorted(cell.get("attachments", {}).items()):
        digest = hashlib.sha256(repr(sorted(bundle.items())).encode()).hexdigest()[:8]
        lines.append(f"[Attached: {name} ({digest}). Formgrader and the feedback show attached pictures.]")
    return "\n\n".join(lines)


@dataclass(frozen=True)
class Handed:
    """What lies in a submission folder, before anything is restored."""

    cells: list[Cell]
    digest: str
    status: Status | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()
    another: str = ""  # in a sentence, which other assignment's notebook it is

    @property
    def is_damaged(self) -> bool:
        """Whether cells of the file are lost: its notes say which."""
        return bool(self.notes)

    def all_notes(self, restored: Iterable[str]) -> tuple[str, ...]:
        """Those on the file, and those on what was put right; of another assignment's notebook the latter say nothing."""
        return (self.another, *self.notes) if self.another else (*self.notes, *restored)


def read_submission(folder: Path, student: str, assignment: Assignment, release: NotebookNode) -> Submission:
    """The submission in `folder` (submitted/STUDENT/ASSIGNMENT). Never raises for what the student did.

    Raises NotRead where the machine does not let us read it.
    """
    handed = read_handed(folder, assignment)
    when, unread = time_of(folder)
    restored = restore(handed.cells, release, damaged=handed.is_damaged)
    return Submission(
        student,
        restored.notebook,
        handed.digest,
        handed.status,
        handed.reason,
        when,
        unread,
        released=to_be_filled_in(release),
        notes=handed.all_notes(restored.notes),
        doubtful=restored.doubtful,
        another=handed.another,
        unsure=restored.unsure,
    )


def to_be_filled_in(release: NotebookNode) -> dict[str, str]:
    """The released texts of the cells in which students write, by grade id."""
    return {grade_id(cell): cell["source"] for cell in release["cells"] if is_solution(cell)}


def read_handed(folder: Path, assignment: Assignment) -> Handed:
    """The cells in `folder`, or the reason why there are none. Raises NotRead."""
    try:
        with _explained(folder):
            blob = read_regular_file(folder, assignment.file)
        read = parse_cells(blob)
        notes = (read.note,) if read.note else ()
        digest, other = hashlib.sha256(blob).hexdigest(), another_assignment(read.cells, assignment)
        another = f"This is the notebook {other}, not {assignment.called}." if other else ""
        return Handed(read.cells, digest, notes=notes, another=another)
    except FileNotFoundError:
        siblings = notebook_names(assignment.root, assignment.name) if assignment.part else ()
        own = {composed(f"{name}.ipynb") for name in siblings}
        there = f"There is no {assignment.file} in the submission{_others(folder, own)}."
        return Handed([], "", Status.MISSING, there)
    except Unreadable as error:
        return Handed([], "", Status.MALFORMED, str(error))


def _others(folder: Path, own: Collection[str]) -> str:
    """In words: what lies there under another name, which a browser or a person has given it, or else all that is there.

    Of the files named in `own`, other notebooks of the assignment, nothing is said.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        first = (entry.name for entry in islice(entries, MOST_FILES))
        known = {*OF_THE_EXCHANGE, *own}
        names = [name for name in first if name.isprintable() and composed(name) not in known]
        notebooks = sorted(name for name in names if ".ipynb" in name.lower())
        if notebooks:
            return f"; there is {', '.join(notebooks[:3])}, which has a different name"
        if names:
            return f", which contains {', '.join(sorted(names)[:3])}"
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
        remedy = "correct its permissions" if denied else "check whether its disk or file server is working"
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
        name = _as_written_there(directory, name)
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


def _as_written_there(directory: int, name: str) -> str:
    """The name as the folder has it, where its system writes ü as two characters."""
    if name.isascii():
        return name
    with os.scandir(directory) as entries:
        there = [entry.name for entry in islice(entries, MOST_FILES)]
    return name if name in there else next((one for one in there if composed(one) == composed(name)), name)


def time_of(folder: Path) -> tuple[datetime | None, str]:
    """When it was handed in (UTC, naive, as nbgrader keeps it), or None and why a timestamp.txt that is there could not be read.

    Raises NotRead.
    """
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
    text = decoded(blob)[0].strip()
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
            return f"it is a file: move it to STUDENT/{assignment}/."
        if stat.S_ISLNK(kind) and os.path.isdir(handed_in):
            return "it is a link: put the folder itself in its place."
        if not stat.S_ISDIR(kind):
            return None
        handed_in.lstat()
    except OSError as error:
        denied = error.errno in OF_THE_MACHINE
        return f"the folder cannot be read ({error.strerror}): correct its permissions." if denied else None
    return "" if can_be_a_student(folder.name) else "the folder's name cannot be a student's id: rename it."


def can_be_a_student(name: str) -> bool:
    """Whether the gradebook and nbgrader's commands can keep a name as it is: they cut off spaces at its ends."""
    return (
        name.isprintable()  # so that it can be written as UTF-8, on one line
        and name == name.strip()
        and len(name) <= LONGEST_NAME
        and len(name.encode()) <= LONGEST_FILE_NAME
    )
