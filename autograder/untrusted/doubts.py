"""Answers that a person must look at before they are worth nothing."""

import re
from functools import cached_property

from autograder.source import is_solution
from autograder.untrusted.cells import Cell
from autograder.untrusted.entries import Entries, Entry

BREAKS_OFF = "The file breaks off before this cell."
TURNED = "The code for this answer was in a text cell, and not everything in that cell is code."
GOES_ON = "The code for this answer seems to continue in the cell below."
UNREAD = "This cell of the file cannot be read."
DAMAGED = "The file is damaged, and the part that was lost may belong to this answer."
WORD = re.compile(r"\w+")


class Doubts(Entries):
    """Finds what may be the answer of a cell of code, or what was lost of it."""

    def _look_for_losses(self) -> None:
        """Of a damaged file nothing is worth nothing before a person has looked."""
        seen = self._seen()
        last = max((entry.anchor for entry in self._entries), default=-1)
        for place in self._places(is_solution) if self._damaged else ():
            missing = BREAKS_OFF if place > last else UNREAD
            self._unsure[place] = DAMAGED if place in seen else missing

    def _look_for_doubts(self) -> None:
        """Unanswered cells of code, and answers without their function, where code that nobody could place stands."""
        for place in self._places(is_solution):
            if not self._is_code(place):
                continue
            entry = self._seen()[place]
            names = self._functions.get(place, frozenset())
            answered = self._is_answered(place, entry)
            if answered and not self._lacks(entry, names):
                continue
            others = [e for e in self._entries if e is not entry and (self._is_own(e) or self._is_changed(e))]
            found = [e for e in others if self._may_define(e.cell, names)]
            if not answered:
                near = [e for e in self._beside(place) if e.near < 0 and self._is_own(e)]
                found += [e for e in near if self._may_be_part(e.cell, names)]
                found += self._strange if names else []
            if not found:
                continue
            begins = next(line for line in found[0].cell.source.splitlines() if line.strip()).strip()[:80]
            said_so = f"The cell that begins with `{begins.replace('`', chr(39))}` may contain the answer."
            if not answered:
                self._doubtful[self._names[place]] = begins
            self._unsure.setdefault(place, said_so)

    def _may_define(self, cell: Cell, names: frozenset[str]) -> bool:
        return self._reader.names(cell, names) or self._reader.binds(cell, names)

    def _may_be_part(self, cell: Cell, names: frozenset[str]) -> bool:
        return self._may_answer(cell, names) or (cell.kind == "code" and self._reader.is_rest(cell.source))

    def _lacks(self, entry: Entry, names: frozenset[str]) -> bool:
        """Whether a changed cell of an answer does not define what it should, or still stops where the stub does."""
        if not names:
            return False
        return "raise NotImplementedError" in entry.cell.source or not self._may_define(entry.cell, names)

    @cached_property
    def _strange(self) -> list[Entry]:
        """The student's own cells that define functions of other names, which no answer calls."""
        asked = frozenset().union(*self._functions.values())
        seen = self._seen()
        answers = [seen[place] for place in self._functions if self._is_answered(place, seen[place])]
        called = {word for entry in answers for word in WORD.findall(entry.cell.source)}
        defining = {
            entry: defined
            for entry in self._entries
            if entry.near < 0 and self._is_own(entry)
            and (defined := self._reader.defined_in(entry.cell)) and defined.isdisjoint(asked)
        }  # fmt: skip
        while helpers := [entry for entry, defined in defining.items() if not defined.isdisjoint(called)]:
            for entry in helpers:
                del defining[entry]
                called.update(WORD.findall(entry.cell.source))
        return [*defining]

    def _unsure_names(self) -> dict[str, str]:
        """Why a person must look, for each such answer and the tests behind it."""
        return {
            self._names[one]: why
            for place, why in self._unsure.items()
            for one in (place, *self._tests_of(place))
        }
