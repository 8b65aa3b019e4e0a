"""Which cell of a hand-in is which cell of the release: the notebook that is graded has the student's texts and all else
from the release.

Editors lose grade ids and cell ids, merge and split cells, and turn code into Markdown. So a cell is recognised by its id,
else by its text, else by the function that it defines, else by its neighbours. A text of the student's for which no place
is found goes to the unanswered question that it may answer, or is named to the person who grades.

What is decided here can earn nobody a point: a check asks whatever function is there on inputs of its own. Only released cells
are moved (a stub ahead of what overwrites it, a check behind its answer); the student's own run in the order in which they stand.
"""

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from nbformat import NotebookNode

from autograder.checks.headings import headings
from autograder.source import is_locked, is_solution
from autograder.untrusted.cells import Cell
from autograder.untrusted.doubts import GOES_ON, TURNED, Doubts
from autograder.untrusted.entries import Entry
from autograder.untrusted.notebooks import as_handed_in, restored_cell
from autograder.untrusted.words import is_prose
from autograder.untrusted.written_answers import WrittenAnswers

LEADS = re.compile(r"^[ \t]*(\*{2,3}|__)(?=\S).+?\1[ \t]*", re.MULTILINE)
"""Bold words with which lines begin, as in "**Question 1.** Why?": another release may call the question otherwise."""

CHECKS = re.compile(r"""^[ \t]*check\(\s*["']([\w.]+)["']""", re.MULTILINE)


@dataclass(frozen=True)
class Restored:
    """The notebook to be graded.

    notes     what was put right, in sentences for the student and the instructor
    doubtful  {grade id of an unanswered cell of code: the first line of a cell that may hold the answer}
    unsure    {grade id of an answer or a test: why a person must look at it before it is worth nothing}
    """

    notebook: NotebookNode
    notes: tuple[str, ...] = ()
    doubtful: Mapping[str, str] = field(default_factory=dict)
    unsure: Mapping[str, str] = field(default_factory=dict)


def restore(handed: list[Cell], release: NotebookNode, damaged: bool = False) -> Restored:
    """A notebook with the student's texts and everything else from the release. Of a `damaged` file cells are lost."""
    return _Placing(handed, release, damaged).restored()


class _Placing(WrittenAnswers, Doubts):
    def restored(self) -> Restored:
        self._by_name()
        self._by_text()
        self._join_halves()
        self._by_definition()
        self._by_order()
        self._look_for_losses()
        self._place_prose()
        self._put_back()
        self._move_tests()
        self._look_for_doubts()
        cells = []
        for position, entry in enumerate(self._entries):
            original = self._released[entry.place] if entry.place >= 0 else None
            if original is not None and self._names[entry.place]:
                cells.append(restored_cell(entry.cell, self._names[entry.place], original))
            else:
                cells.append(as_handed_in(entry.cell, original, position))
        metadata = copy.deepcopy(self._release.metadata)
        notebook = NotebookNode(nbformat=4, nbformat_minor=5, metadata=metadata, cells=cells)
        return Restored(notebook, tuple(self._all_notes()), self._doubtful, self._unsure_names())

    # ------------------------------------------------------------------------------------------ by its id

    def _by_name(self) -> None:
        of_name: dict[str, list[Entry]] = {}
        for entry in self._entries:
            if entry.cell.name:
                of_name.setdefault(entry.cell.name, []).append(entry)
        for place, cell in enumerate(self._released):
            name = self._names[place]
            if not name:
                for entry in of_name.get(str(cell.get("id", "")), []):
                    unchanged = self._bare(entry) == self._texts[place]
                    entry.place, entry.near = (place, -1) if unchanged else (-1, place)
                continue
            if entries := of_name.get(name):
                self._take_first(place, entries)

    def _take_first(self, place: int, entries: list[Entry]) -> None:
        """Of a doubled id the first counts, of an answer the first that is one. Of a written answer none is lost."""
        first = entries[0]
        if is_solution(self._released[place]):
            first = next((entry for entry in entries if self._is_answered(place, entry)), first)
        first.place = place
        if first.cell.kind != self._released[place]["cell_type"] and self._is_answered(place, first):
            self._turned.append(self._names[place])
        if self._is_code(place) and first.cell.kind != "code":
            code = self._reader.code_in(first.cell)
            if self._is_answered(place, first) and not (
                code == first.cell.source and self._reader.is_code(code)
            ):
                self._unsure[place] = TURNED
            first.cell = replace(first.cell, source=code)
        for other in entries:
            if other is not first and not self._is_code(place) and self._is_answered(place, other):
                other.answers = place

    # ----------------------------------------------------------------------------------------- by its text

    def _by_text(self) -> None:
        places: dict[str, list[int]] = {}
        for place, text in enumerate(self._texts):
            if text:
                places.setdefault(text, []).append(place)
            if not self._names[place] and not self._is_code(place) and (text := _without_leads(text)):
                places.setdefault(text, []).append(place)
        checks = {
            match[1]: place
            for place, cell in enumerate(self._released)
            if self._names[place] and is_locked(cell) and (match := CHECKS.search(cell["source"]))
        }
        seen = set(self._seen())
        last = -1
        for entry in self._entries:
            if entry.anchor >= 0:
                last = entry.anchor
                continue
            equal = places.get(self._bare(entry)) or self._called_otherwise(entry, places)
            free = [place for place in equal if place not in seen]
            place = next((place for place in free if place > last), next(iter(free), -1))
            if place < 0 and not equal and (match := CHECKS.search(entry.cell.source)):
                place = checks.get(match[1], -1)
                alone = len(entry.cell.source.strip().splitlines()) == 1
                place = place if alone and place not in seen else -1
            if place >= 0:
                seen.add(place)
                entry.place = last = place
                if self._names[place]:
                    self._lost.add(place)
            elif equal and not self._names[equal[0]]:
                entry.place = equal[0]  # a copy, which only looks like it

    def _called_otherwise(self, entry: Entry, places: Mapping[str, list[int]]) -> list[int]:
        """The places of released texts that differ from this one only in the bold words with which lines begin."""
        if entry.cell.kind != "markdown":
            return []
        equal = places.get(_without_leads(self._bare(entry)), [])
        return [place for place in equal if not self._names[place]]

    # -------------------------------------------------------------------------------------- halves of answers

    def _join_halves(self) -> None:
        """Put together the halves of a function whose cell was split; where they do not fit, a person decides."""
        for place in self._functions:
            entry = self._seen().get(place)
            while entry is not None and (half := self._half_below(place, entry)):
                whole = self._reader.can_be_joined(entry.cell.source, half.cell.source)
                if not whole:
                    self._unsure[place] = GOES_ON
                    break
                entry.cell = replace(entry.cell, source=whole)
                self._entries.remove(half)
                self._lost.add(place)

    def _half_below(self, place: int, entry: Entry) -> Entry | None:
        """The cell below, if it may be the second half of this answer."""
        below = self._entries[self._entries.index(entry) + 1 :][:1]
        if not below or not self._bare(entry) or self._bare(entry) == self._texts[place]:
            return None
        half = below[0]
        if half.near >= 0 or half.cell.kind != "code" or not self._is_own(half):
            return None
        first, second = entry.cell.source, half.cell.source
        fits = not self._reader.is_code(first) and bool(self._reader.can_be_joined(first, second))
        return half if fits or self._reader.is_rest(second) else None

    # ----------------------------------------------------------------------- by the function that it defines

    def _by_definition(self) -> None:
        seen = self._seen()
        open_ones = [place for place in self._functions if not self._is_answered(place, seen.get(place))]
        holders: dict[Entry, list[int]] = {}
        for place in open_ones:
            entry = self._definer(place, seen)
            if entry is not None:
                holders.setdefault(entry, []).append(place)
        cut = {entry: parts for entry, places in holders.items() if (parts := self._parts(entry, places))}
        found = {entry: {part.place for part in parts} & {*holders[entry]} for entry, parts in cut.items()}
        elsewhere = set[int]().union(*found.values())
        self._lost |= elsewhere
        for entry, places in found.items():
            if entry.cell.kind != "code":
                self._unsure.update(dict.fromkeys(places, TURNED))
        # All at once: the stub of one answer may hold another.
        self._entries = [
            part
            for entry in self._entries
            for part in cut.get(entry, [entry])
            if part.place in found.get(entry, ()) or part.place not in elsewhere
        ]

    def _definer(self, place: int, seen: Mapping[int, Entry]) -> Entry | None:
        """The last cell of the student's before its test, else the last of all, that defines an unanswered function."""
        defining = []
        for number, entry in enumerate(self._entries):
            mine = self._is_own(entry) or (entry.place != place and self._is_changed(entry))
            if mine and self._reader.defines(entry.cell, self._functions[place]):
                defining.append((number, entry))
        tests = [self._entries.index(seen[test]) for test in self._tests_of(place) if test in seen]
        before = [entry for number, entry in defining if not tests or number < min(tests)]
        found = before or [entry for _, entry in defining]
        return found[-1] if found else None

    def _parts(self, entry: Entry, places: list[int]) -> list[Entry]:
        """What comes in the place of a cell that defines these functions: a cell for each answer in it. None if it cannot be cut."""
        cell = entry.cell
        code = replace(cell, kind="code", source=self._reader.code_in(cell), attachments={})
        holder = entry.place if entry.place in self._functions else -1
        wanted = {place: self._functions[place] for place in ([holder] if holder >= 0 else []) + places}
        kept = [entry] if cell.kind != "code" and code.source != cell.source else []
        if entry.place >= 0 and holder < 0:  # a locked cell, which comes back as it was
            kept = [entry]
        if len(wanted) == 1:
            answer = Entry(code, places[0])
            return [answer, *kept] if entry.place >= 0 else [*kept, answer]
        pieces = self._reader.cut(code.source, wanted)
        if pieces is None:
            return []
        parts = [Entry(replace(code, source=source), place) for place, source in pieces]
        return [*parts, *kept] if entry.place >= 0 else [*kept, *parts]

    # ---------------------------------------------------------------------------------------- by its neighbours

    def _by_order(self) -> None:
        for place in self._places(is_solution):
            if not self._is_code(place) or place in self._seen():
                continue
            between = [entry for entry in self._between(place) if self._may_be_code(entry, place)]
            if between:
                between[0].place = place
                self._lost.add(place)

    def _may_be_code(self, entry: Entry, place: int) -> bool:
        cell = entry.cell
        if cell.kind != "code" or not self._is_own(entry):
            return False
        if is_prose(cell, self._reader) and not self._reader.names_bound([cell]):
            return False
        return self._may_answer(cell, self._functions.get(place, frozenset()))

    # ----------------------------------------------------------------------------- what comes from the release

    def _put_back(self) -> None:
        seen = self._seen()
        for place, name in enumerate(self._names):
            if name and place not in seen:
                original = self._released[place]
                self._insert(Entry(Cell(original["cell_type"], original["source"], name), place))

    def _move_tests(self) -> None:
        """No test runs ahead of the answer that it follows in the release."""
        for place in self._places(is_solution):
            answer = self._seen()[place]
            for test in reversed(self._tests_of(place)):
                entry = self._seen()[test]
                if self._entries.index(entry) < self._entries.index(answer):
                    self._entries.remove(entry)
                    self._entries.insert(self._entries.index(answer) + 1, entry)

    def _all_notes(self) -> Iterator[str]:
        if count := len(self._lost):
            cells = "One cell of this notebook" if count == 1 else f"{count} cells of this notebook"
            yield (
                f"{cells} had to be found again by text, function and order: an id was lost, or a cell was moved or merged, as "
                "happens in some editors."
            )
        if self._turned:
            titles = headings(self._released)
            names = ", ".join(titles.get(name, f"`{name}`") for name in self._turned)
            yield f"The type of these cells (code, Markdown or raw) was changed, but their text is still graded: {names}."


def _without_leads(text: str) -> str:
    """A text in Markdown without the bold words of its lines; "" where it has none, or nothing else."""
    rest = LEADS.sub("", text).strip()
    return rest if rest != text.strip() else ""
