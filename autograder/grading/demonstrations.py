"""Cells that only show something: they train models and draw pictures, and no check needs them."""

import builtins
import re
from collections.abc import Iterable, Mapping, Set
from itertools import dropwhile

from nbformat import NotebookNode

from autograder.checks.status import Problem
from autograder.source import grade_id, is_demo
from autograder.untrusted import calls
from autograder.untrusted.frames import Frame

_NAME_ERROR = re.compile(r"NameError: name '(\w{1,100})' is not defined")


class Demonstrations:
    """Those of a release. A submission's copy of one is not run when grading, unless the student has changed it."""

    def __init__(self, release: NotebookNode):
        sources = {cell.source.strip() for cell in release.cells if is_demo(cell)}
        self._names = {source: names_in(source) for source in sources}

    def unchanged(self, cell: NotebookNode) -> bool:
        """Whether an ungraded cell has the source of one of the release's demonstrations, up to outer whitespace."""
        return not grade_id(cell) and cell["source"].strip() in self._names

    def that_define(self, names: Iterable[str], notebook: NotebookNode) -> list[int]:
        """Places of the unchanged ones that define one of `names`, or a name that these need in turn."""
        cells = enumerate(notebook.cells)
        unchanged = {place: self._names[cell.source.strip()] for place, cell in cells if self.unchanged(cell)}
        return sorted(that_bind(names, unchanged))


def names_in(source: str) -> tuple[Set[str], Set[str]]:
    """The names that a cell of ours binds, and those that it reads."""
    return calls.names_used([source]).keys(), calls.names_in(source) - set(dir(builtins))


def that_bind(names: Iterable[str], cells: Mapping[int, tuple[Set[str], Set[str]]]) -> set[int]:
    """Places of the cells that bind one of `names`, or a name that these need in turn.

    `cells` are the `names_in` each, by place.
    """
    wanted, chosen = set(names), set[int]()
    while new := {place for place in cells.keys() - chosen if cells[place][0] & wanted}:
        chosen |= new
        for place in new:
            wanted |= cells[place][1]
    return chosen


def missing_names(frames: Iterable[Frame]) -> set[str]:
    """Names that some cell or answer asked for in vain. A student can forge that, and then runs some cells twice, once."""
    return {
        name
        for frame in frames
        for text in _errors(frame)
        if (match := _NAME_ERROR.match(text))
        for name in match.groups()
    }


def lacks_a_name(frame: Frame) -> bool:
    """Whether an answer of this cell is a NameError."""
    return any(_NAME_ERROR.match(text) for text in _answer_errors(frame))


def _errors(frame: Frame) -> list[str]:
    of_cell = [f"{o['ename']}: {o['evalue']}" for o in frame.outputs if o["output_type"] == "error"]
    return [*_answer_errors(frame), *of_cell]


def _answer_errors(frame: Frame) -> list[str]:
    messages = (answer.message for answer in frame.answers.values() if answer.problem == Problem.EXCEPTION)
    return [_without_frames(message) for message in messages]


def _without_frames(message: str) -> str:
    """An error as `autograder.checks.asking` describes it: after lines for its frames, its type and what it says."""
    return "\n".join(dropwhile(lambda line: line.startswith("  in "), message.split("\n")))
