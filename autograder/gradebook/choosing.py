"""Which of the files that a student has handed in is the notebook."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from nbformat import NotebookNode

from autograder.course import Assignment
from autograder.source import grade_id, is_locked
from autograder.untrusted.downloads import Budget, File, inside
from autograder.untrusted.layouts import FileOwner, is_hidden, looks_like_a_notebook, which_assignment
from autograder.untrusted.submission import Cell, Unreadable, parse_cells

MOST_LOOKED_AT, MOST_ARCHIVES = 50, 3  # files of a student, and how many archives are held in memory at once
SHOWN = 5  # of the files in a hand-in without a notebook

RULE = (
    "If a student handed in several notebooks, one with answers is preferred to the untouched release, one named after the "
    "assignment to one with another name, and a later one (by the time or number that the system gives) to an earlier one. "
    "If all this is equal, the one with more answers counts."
)


@dataclass(frozen=True)
class HandIn:
    """A file of a student, with whose it is."""

    file: File
    owner: FileOwner


@dataclass(frozen=True)
class NotebookMatch:
    """The notebook that a file is called after, or None."""

    notebook: Assignment | None = None
    exactly: bool = False  # and not only with more words around it
    again: int = 0  # the number that a second one gets from a browser


class Notebooks:
    """The notebooks of a course, by what the file of a hand-in may be called after.

    That is the notebook or, where an assignment has only one, the assignment. Two assignments may have notebooks of the
    same name: then the folder of the file says which is meant, or the instructor does, who names the `wanted` assignment.
    """

    def __init__(self, notebooks: Sequence[Assignment], wanted: str = ""):
        self.assignments = list(dict.fromkeys(notebook.name for notebook in notebooks))
        self._by_name = {
            name: _by_name([one for one in notebooks if one.name == name]) for name in self.assignments
        }
        self._wanted, self._everywhere = wanted, _by_name(notebooks)

    def of(self, assignment: str) -> list[Assignment]:
        """The notebooks of an assignment; none of one that there is not."""
        return list(dict.fromkeys(self._by_name.get(assignment, {}).values()))

    def called(self, owner: FileOwner) -> NotebookMatch:
        """What a file is called after."""
        in_folder, in_wanted = (self._by_name.get(name, {}) for name in (owner.folder, self._wanted))
        found = [
            (names, which_assignment(owner, names)) for names in (in_folder, self._everywhere, in_wanted)
        ]
        found.sort(key=lambda pair: not pair[1].exactly)
        names, called = next((pair for pair in found if pair[1].assignment), found[0])
        return NotebookMatch(names.get(called.assignment), called.exactly, called.again)


def _by_name(notebooks: Sequence[Assignment]) -> Mapping[str, Assignment]:
    """The notebooks by their own names, and those of assignments with one; without a name that several have."""
    pairs = {(one.notebook, one) for one in notebooks} | {
        (one.name, one) for one in notebooks if not one.part
    }
    count = Counter(name for name, _ in pairs)
    return {name: one for name, one in sorted(pairs, key=lambda pair: pair[0]) if count[name] == 1}


@dataclass(frozen=True)
class Candidate:
    """A notebook of a student, one of perhaps several."""

    file: File
    owner: FileOwner
    called: NotebookMatch
    cells: int | None  # None: it cannot be read as a notebook
    work: int  # cells whose text is the student's
    problem: str = ""  # why it cannot be read, in a sentence

    @property
    def is_untouched(self) -> bool:
        """Whether it is the release, without an answer."""
        return bool(self.cells) and not self.work

    @property
    def order(self) -> tuple[Any, ...]:
        """Larger for what counts. Moodle and Canvas write the time of the download, not of the hand-in."""
        when = self.file.modified if self.owner.system == "plain" else None
        fits = 2 * self.called.exactly or bool(self.called.notebook)
        later = when or datetime.min, self.owner.order, self.called.again
        return self.work > 0, self.cells is not None, fits, *later, self.work, self.file.path


@dataclass(frozen=True)
class Chosen:
    """The notebook that counts, as bytes, and those that do not; or a file that is only called like one."""

    candidate: Candidate
    blob: bytes
    passed_over: Sequence[Candidate]
    held: str = ""  # what was handed in, in words, if no notebook can be read in it


class NoNotebook(LookupError):
    """Nothing that was handed in is a notebook; the message says what it is."""


class Released:
    """The texts of a release, by which a student's own are told."""

    def __init__(self, release: NotebookNode | None):
        cells = release["cells"] if release else []
        self._texts = {cell["source"].strip() for cell in cells}
        self._locked = {grade_id(cell) for cell in cells if is_locked(cell)} - {""}

    def work(self, cells: Iterable[Cell]) -> int:
        """How many of the cells hold a text that is not the release's."""
        texts = (cell.source.strip() for cell in cells if cell.name not in self._locked)
        return sum(bool(text) and text not in self._texts for text in texts)


def choose(
    hand_ins: Sequence[HandIn],
    notebook: Assignment,
    notebooks: Notebooks,
    released: Released,
    budget: Budget,
) -> Chosen:
    """The file that is an assignment's notebook. Raises NoNotebook, or Unreadable where the only one cannot be read.

    What is called a notebook is looked at first; everything else, and what is in archives, if there is no work in that.
    """
    visible = [one for one in hand_ins if not is_hidden(one.file.path)]
    search = _Search(notebook, notebooks, released, budget)
    search.look_at(list(filter(_is_named, visible)))
    if search.best is None or not search.best[0].work:
        others = [one for one in visible if not _is_named(one)][:MOST_LOOKED_AT]
        search.look_at(_inner(others, budget))
    if search.best is None and search.problem:
        raise search.problem
    if search.best is None:
        raise NoNotebook(_described([one.file.path for one in visible or hand_ins]))
    candidate, blob = search.best
    held = _described([one.file.path for one in visible]) if candidate.cells is None else ""
    return Chosen(candidate, blob, [one for one in search.found if one is not candidate], held)


def _is_named(one: HandIn) -> bool:
    return looks_like_a_notebook(one.file.path)


@dataclass
class _Search:
    """What a student's files were found to be, as far as they were looked at."""

    notebook: Assignment
    notebooks: Notebooks
    released: Released
    budget: Budget
    best: tuple[Candidate, bytes] | None = None
    found: list[Candidate] = field(default_factory=list)  # the bytes of which are not kept
    problem: Unreadable | None = None  # of the first that could not be read

    def look_at(self, hand_ins: Sequence[HandIn]) -> None:
        for one in hand_ins[:MOST_LOOKED_AT]:
            try:
                blob = self.budget.read(one.file)
            except Unreadable as error:
                self.problem = self.problem or error
                continue
            candidate = self._candidate(one, blob)
            if self.notebook.part and not candidate.called.notebook:
                continue  # it may be any notebook of the assignment
            named = one.file.path.lower().endswith(".ipynb")  # grading says what it is
            if candidate.cells is not None or named:
                self.found.append(candidate)
                if self.best is None or candidate.order > self.best[0].order:
                    self.best = candidate, blob

    def _candidate(self, one: HandIn, blob: bytes) -> Candidate:
        called = self.notebooks.called(one.owner)
        called = called if called.notebook == self.notebook else NotebookMatch()
        try:
            cells = parse_cells(blob).cells
        except Unreadable as error:
            return Candidate(one.file, one.owner, called, None, 0, str(error))
        return Candidate(one.file, one.owner, called, len(cells), self.released.work(cells))


def _inner(others: Iterable[HandIn], budget: Budget) -> list[HandIn]:
    """The files that may be a notebook by what they begin with, and the notebooks in the student's own archives."""
    found, archives = [], 0
    for one in others:
        try:
            begins = one.file.read(64, beginning=True)
            if begins.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
                found.append(one)
            elif begins.startswith(b"PK\x03\x04") and archives < MOST_ARCHIVES:
                archives += 1
                files = filter(_may_be_inside, inside(budget.read(one.file), one.file.path))
                found += [
                    HandIn(file, replace(one.owner, file=file.path.rpartition("/")[2])) for file in files
                ]
        except Unreadable:
            continue
    return found


def _may_be_inside(file: File) -> bool:
    return looks_like_a_notebook(file.path) and not is_hidden(file.path)


def _described(paths: Sequence[str]) -> str:
    names = [path.rpartition("/")[2] for path in paths]
    shown = ", ".join(name if name.isprintable() else ascii(name) for name in names[:SHOWN])
    return shown + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
