"""Cells of the release that later ones build on, and that a notebook has lost: they run in it once more, from the release.

A student types something that stops into the first cell, empties it, deletes it or turns it into raw text: then every name that it
should bind is missing, and no answer could be right. Only where a name is asked for in vain, so that an untouched notebook
is run once, and what a student has changed on purpose counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nbformat import NotebookNode

from autograder.grading.demonstrations import names_in, that_bind
from autograder.grading.verdicts import last_error, readable
from autograder.source import code_cells, grade_id
from autograder.untrusted.definitions import bare

LONGEST_LINE = 80  # characters of a cell's first line


class SetupCells:
    """The code cells of a release without a grade id."""

    def __init__(self, release: NotebookNode):
        self._places: dict[str, int] = {}  # of the cells with a grade id, and of the texts of all others
        for place, cell in enumerate(release.cells):
            self._places.setdefault(grade_id(cell) or bare(cell["source"]), place)
        sources = [cell["source"] for cell in code_cells(release) if not grade_id(cell)]
        self._cells = {self._places[bare(source)]: source for source in sources}
        self._names = {place: names_in(source) for place, source in self._cells.items()}

    def lacking(self, names: Iterable[str], notebook: NotebookNode) -> dict[int, list[str]]:
        """What is not in the notebook as released and binds one of `names`, or a name that this needs in turn.

        As {place in the notebook: cells to run ahead of the cell there}.
        """
        absent = {place: of for place, of in self._names.items() if not self._is_there(place, notebook)}
        found: dict[int, list[str]] = {}
        for place in sorted(that_bind(names, absent)):
            found.setdefault(self._ahead_of(place, notebook), []).append(self._cells[place])
        return found

    def _is_there(self, place: int, notebook: NotebookNode) -> bool:
        """Whether it stands in the notebook ahead of the first cell with a grade id that follows it in the release."""
        text = bare(self._cells[place])
        for cell in notebook.cells:
            if cell["cell_type"] == "code" and bare(cell["source"]) == text:
                return True
            if grade_id(cell) and self._places[grade_id(cell)] > place:
                return False
        return False

    def _ahead_of(self, place: int, notebook: NotebookNode) -> int:
        """Behind the cells that precede it in the release, and ahead of those that follow it."""
        places = [self._places.get(grade_id(cell) or bare(cell["source"]), place) for cell in notebook.cells]
        following = next((number for number, other in enumerate(places) if other > place), len(places))
        before = [number for number, other in enumerate(places[:following]) if other < place]
        return before[-1] + 1 if before else 0

    def why(
        self,
        lacking: Mapping[int, list[str]],
        notebook: NotebookNode,
        outputs: Mapping[int, Sequence[Mapping[str, Any]]],
    ) -> str:
        """A sentence about cells that were run from the release. `outputs` are those of the notebook's cells, by place."""
        own = [
            place
            for place in sorted(outputs)
            if place >= min(lacking)
            and last_error(outputs[place])
            and not grade_id(notebook.cells[place])
            and bare(notebook.cells[place]["source"]) not in self._places
        ]
        cause = ""
        if own:
            begins = _first_line(notebook.cells[own[0]]["source"])
            cause = f"The cell that begins with `{begins}` stopped with {last_error(outputs[own[0]])}. "
        lost = " and ".join(f"`{_first_line(cell)}`" for cells in lacking.values() for cell in cells)
        return readable(
            f"{cause}The released code of the cell that begins with {lost} was missing, moved or changed in this notebook, so the "
            "course's own cell was run in its place."
        )


def _first_line(source: str) -> str:
    line = next((line.strip() for line in source.splitlines() if line.strip()), "")
    return line.replace("`", "'")[:LONGEST_LINE]
