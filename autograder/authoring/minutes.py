"""How long a notebook takes a student, by its own text: reading, exercises, written answers.

The header of a notebook, the map and `autograder minutes` say what this says. What the cells' own runs take is left out:
it is a minute or two a notebook.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.checks.overview import FURTHER
from autograder.source import is_grade, is_solution

WORDS_PER_MINUTE = 150
PER_WRITTEN_ANSWER = 5.0
NOT_READ = ("References",)
STATED = re.compile(r"[●○]+, (\d+) minutes")
"""The line of a docstring that says how hard an exercise is, and how long it takes."""
NOT_WORDS = re.compile(r"```.*?```|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)|<[^>]+>|`[^`]*`", re.DOTALL)
"""Code, formulas, and the addresses of links: they are looked at, not read word by word."""
WORD = re.compile(r"[^\W\d_][\w’'-]*")


@dataclass(frozen=True)
class Section:
    """A part of a notebook under a heading of the second level; the part above the first one has no title."""

    title: str
    word_count: int
    exercises: float
    """Minutes, as the docstrings say."""
    written: int
    """Answers that a person reads."""

    @property
    def further(self) -> bool:
        """Whether it is outside the core path: its heading begins with "Extension" or "Further"."""
        return bool(FURTHER.match(self.title))

    @property
    def minutes(self) -> float:
        """Of reading, of exercises and of written answers together."""
        return self.word_count / WORDS_PER_MINUTE + self.exercises + PER_WRITTEN_ANSWER * self.written


def sections(notebook: NotebookNode) -> Iterator[Section]:
    """The parts of an instructor's source, in its order."""
    title = ""
    cells: list[NotebookNode] = []
    for cell in notebook.cells:
        heading = re.match(r"## (.+)", cell.source) if cell.cell_type == "markdown" else None
        if heading:
            yield _section(title, cells)
            title, cells = heading[1].strip(), []
        cells.append(cell)
    yield _section(title, cells)


def minutes(notebook: NotebookNode, further: bool = False) -> float:
    """Of the core path, or of what goes further."""
    return sum(section.minutes for section in sections(notebook) if section.further == further)


def _section(title: str, cells: Iterable[NotebookNode]) -> Section:
    word_count = written = 0
    exercises = 0.0
    for cell in cells:
        if cell.cell_type == "markdown":
            if is_grade(cell) and is_solution(cell):
                written += 1
            elif title not in NOT_READ:
                word_count += len(WORD.findall(NOT_WORDS.sub(" ", cell.source)))
        elif is_solution(cell) and (stated := STATED.search(cell.source)):
            exercises += float(stated[1])
    return Section(title, word_count, exercises, written)
