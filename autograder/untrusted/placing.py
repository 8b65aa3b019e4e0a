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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from nbformat import NotebookNode

from autograder.source import grade_id, is_grade, is_locked, is_solution
from autograder.untrusted.cells import Cell
from autograder.untrusted.definitions import Reader, bare, is_prose, own_lines
from autograder.untrusted.notebooks import as_handed_in, restored_cell

ELSEWHERE = "*(The cell of this answer is as it was released. This stands elsewhere in the notebook:)*"
MOST_ELSEWHERE = 20_000  # characters of such texts
CHECKS = re.compile(r"""^[ \t]*check\(\s*["']([\w.]+)["']""", re.MULTILINE)


@dataclass(frozen=True)
class Restored:
    """The notebook to be graded.

    notes     what was put right, in sentences for the student and the instructor
    doubtful  {grade id of an unanswered cell of code: the first line of a cell that may hold the answer}
    """

    notebook: NotebookNode
    notes: tuple[str, ...] = ()
    doubtful: Mapping[str, str] = field(default_factory=dict)


@dataclass(eq=False)
class _Entry:
    """A cell of the notebook on its way: the student's, unless it comes back from the release.

    place is that in the release of the cell that it is; near that of a released cell without a grade id that the student has
    changed. They are −1 for a cell of the student's own.
    """

    cell: Cell | None
    place: int = -1
    near: int = -1
    answers: int = -1  # it is a second copy of this answer

    @property
    def anchor(self) -> int:
        return max(self.place, self.near)


def restore(handed: list[Cell], release: NotebookNode) -> Restored:
    """A notebook with the student's texts and everything else from the release."""
    return _Placing(handed, release).restored()


class _Placing:
    def __init__(self, handed: list[Cell], release: NotebookNode):
        self._release = release
        self._released = release["cells"]
        self._names = [grade_id(cell) for cell in self._released]
        self._texts = [bare(cell["source"]) for cell in self._released]
        self._known = set(self._texts)
        self._bares: dict[str, str] = {}
        self._lines = {line.strip() for cell in self._released for line in cell["source"].splitlines()}
        self._reader = Reader()
        stubs = [self._released[place]["source"] for place in self._places(is_solution)]
        self._stub_lines = {line.strip() for stub in stubs for line in ["", *stub.splitlines()]}
        self._entries = [_Entry(cell) for cell in handed]
        self._lost: set[int] = set()
        self._turned: list[str] = []
        self._doubtful: dict[str, str] = {}
        self._functions = {
            place: names
            for place in self._places(is_solution)
            if self._is_code(place) and (names := self._reader.of_release(self._released[place]["source"]))
        }

    def restored(self) -> Restored:
        self._by_name()
        self._by_text()
        self._by_definition()
        self._by_order()
        self._place_prose()
        self._put_back()
        self._move_tests()
        self._look_for_doubts()
        cells = []
        for position, entry in enumerate(self._entries):
            original = self._released[entry.place] if entry.place >= 0 else None
            if original is not None and self._names[entry.place]:
                cells.append(restored_cell(entry.cell, self._names[entry.place], original))
            elif entry.cell is not None:
                cells.append(as_handed_in(entry.cell, original, position))
        metadata = copy.deepcopy(self._release.metadata)
        notebook = NotebookNode(nbformat=4, nbformat_minor=5, metadata=metadata, cells=cells)
        return Restored(notebook, tuple(self._all_notes()), self._doubtful)

    # ------------------------------------------------------------------------------------- of the release

    def _places(self, kind) -> list[int]:
        return [place for place, cell in enumerate(self._released) if self._names[place] and kind(cell)]

    def _is_code(self, place: int) -> bool:
        return self._released[place]["cell_type"] == "code"

    # ------------------------------------------------------------------------------------- of the hand-in

    def _seen(self) -> dict[int, _Entry]:
        """The entries that are cells of the release, by place."""
        return {entry.place: entry for entry in self._entries if entry.place >= 0}

    def _index(self, entry: _Entry) -> int:
        return next(number for number, other in enumerate(self._entries) if other is entry)

    def _text(self, entry: _Entry) -> str:
        return entry.cell.source if entry.cell else ""

    def _bare(self, entry: _Entry) -> str:
        text = self._text(entry)
        if text not in self._bares:
            self._bares[text] = bare(text)
        return self._bares[text]

    def _is_answered(self, place: int, entry: _Entry | None) -> bool:
        """Whether anything of the student's is in it. Several stubs in one cell are none."""
        text, stub = self._bare(entry) if entry else "", self._texts[place]
        if not text or text == stub:
            return False
        if not self._is_code(place):
            return bool(own_lines(text, self._lines))
        return stub not in text or any(line.strip() not in self._stub_lines for line in text.splitlines())

    def _is_own(self, entry: _Entry) -> bool:
        """Whether the text is the student's, and no released cell in any place."""
        return entry.place < 0 and bool(text := self._bare(entry)) and text not in self._known

    def _is_changed(self, entry: _Entry) -> bool:
        """Whether it is a cell with a grade id whose text is not the released one."""
        named = entry.place >= 0 and bool(self._names[entry.place]) and entry.cell is not None
        return named and self._bare(entry) != self._texts[entry.place]

    # ------------------------------------------------------------------------------------------ by its id

    def _by_name(self) -> None:
        of_name: dict[str, list[_Entry]] = {}
        for entry in self._entries:
            if entry.cell and entry.cell.name:
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

    def _take_first(self, place: int, entries: list[_Entry]) -> None:
        """Of a doubled id the first counts, of an answer the first that is one. Of a written answer none is lost."""
        first = entries[0]
        if is_solution(self._released[place]):
            first = next((entry for entry in entries if self._is_answered(place, entry)), first)
        first.place = place
        assert first.cell
        if first.cell.kind != self._released[place]["cell_type"] and self._is_answered(place, first):
            self._turned.append(self._names[place])
        if self._is_code(place) and first.cell.kind != "code":
            first.cell = replace(first.cell, source=self._reader.code_in(first.cell))
        for other in entries:
            if other is not first and not self._is_code(place) and self._is_answered(place, other):
                other.answers = place

    # ----------------------------------------------------------------------------------------- by its text

    def _by_text(self) -> None:
        places: dict[str, list[int]] = {}
        for place, text in enumerate(self._texts):
            if text:
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
            equal = places.get(self._bare(entry), [])
            free = [place for place in equal if place not in seen]
            place = next((place for place in free if place > last), next(iter(free), -1))
            if place < 0 and not equal and (match := CHECKS.search(self._text(entry))):
                place = checks.get(match[1], -1)
                alone = len(self._text(entry).strip().splitlines()) == 1
                place = place if alone and place not in seen else -1
            if place >= 0:
                seen.add(place)
                entry.place = last = place
                if self._names[place]:
                    self._lost.add(place)
            elif equal and not self._names[equal[0]]:
                entry.place = equal[0]  # a copy, which only looks like it

    # ----------------------------------------------------------------------- by the function that it defines

    def _by_definition(self) -> None:
        seen = self._seen()
        open_ones = [place for place in self._functions if not self._is_answered(place, seen.get(place))]
        holders: dict[_Entry, list[int]] = {}
        for place in open_ones:
            entry = self._definer(place, seen)
            if entry is not None:
                holders.setdefault(entry, []).append(place)
        for entry, places in holders.items():
            if parts := self._parts(entry, places):
                number = self._index(entry)
                self._entries[number : number + 1] = parts
                found = {part.place for part in parts} & {*places}
                self._entries = [e for e in self._entries if e in parts or e.place not in found]
                self._lost |= found

    def _definer(self, place: int, seen: Mapping[int, _Entry]) -> _Entry | None:
        """The last cell of the student's before its test, else the last of all, that defines an unanswered function."""
        defining = []
        for number, entry in enumerate(self._entries):
            mine = self._is_own(entry) or (entry.place != place and self._is_changed(entry))
            if mine and entry.cell and self._reader.defines(entry.cell, self._functions[place]):
                defining.append((number, entry))
        tests = [self._index(seen[test]) for test in self._tests_of(place) if test in seen]
        before = [entry for number, entry in defining if not tests or number < min(tests)]
        found = before or [entry for _, entry in defining]
        return found[-1] if found else None

    def _parts(self, entry: _Entry, places: list[int]) -> list[_Entry]:
        """What comes in the place of a cell that defines these functions: a cell for each answer in it. None if it cannot be cut."""
        cell = entry.cell
        assert cell
        code = replace(cell, kind="code", source=self._reader.code_in(cell), attachments={})
        holder = entry.place if entry.place in self._functions else -1
        wanted = {place: self._functions[place] for place in ([holder] if holder >= 0 else []) + places}
        kept = [entry] if cell.kind != "code" and code.source != cell.source else []
        if entry.place >= 0 and holder < 0:  # a locked cell, which comes back as it was
            kept = [entry]
        if len(wanted) == 1:
            answer = _Entry(code, places[0])
            return [answer, *kept] if entry.place >= 0 else [*kept, answer]
        pieces = self._reader.cut(code.source, wanted)
        if pieces is None:
            return []
        parts = [_Entry(replace(code, source=source), place) for place, source in pieces]
        return [*parts, *kept] if entry.place >= 0 else [*kept, *parts]

    def _tests_of(self, place: int) -> list[int]:
        """The places of the tests that follow an answer in the release, before the next answer."""
        tests = []
        for later in range(place + 1, len(self._released)):
            cell = self._released[later]
            if is_solution(cell):
                break
            if self._names[later] and is_grade(cell) and is_locked(cell):
                tests.append(later)
        return tests

    # ---------------------------------------------------------------------------------------- by its neighbours

    def _by_order(self) -> None:
        for place in self._places(is_solution):
            if not self._is_code(place) or place in self._seen():
                continue
            between = [entry for entry in self._between(place) if self._may_be_code(entry, place)]
            if between:
                between[0].place = place
                self._lost.add(place)

    def _may_be_code(self, entry: _Entry, place: int) -> bool:
        cell = entry.cell
        if cell is None or cell.kind != "code" or not self._is_own(entry) or is_prose(cell, self._reader):
            return False
        return self._may_answer(cell, self._functions.get(place, frozenset()))

    def _may_answer(self, cell: Cell, names: frozenset[str]) -> bool:
        """Whether a cell may be an answer: where a function is asked for it must define something."""
        return self._reader.holds_definition(cell) if names else cell.kind == "code"

    def _between(self, place: int) -> list[_Entry]:
        """The entries between the nearest released cells before and after a place in the release."""
        at = {entry.anchor: number for number, entry in enumerate(self._entries) if entry.anchor >= 0}
        start = next((at[p] for p in range(place - 1, -1, -1) if p in at), -1)
        end = next((at[p] for p in range(place + 1, len(self._released)) if p in at), len(self._entries))
        return self._entries[max(start, 0) : end + 1]

    def _around(self, place: int) -> list[_Entry]:
        """The entries between the answers before and after an answer."""
        answers = self._places(is_solution)
        at = {entry.place: number for number, entry in enumerate(self._entries) if entry.place in answers}
        start = next((at[p] for p in reversed(answers) if p < place and p in at), -1)
        end = next((at[p] for p in answers if p > place and p in at), len(self._entries))
        return self._entries[start + 1 : end]

    def _beside(self, place: int) -> list[_Entry]:
        """The entries directly above an answer, and those below it up to the next one."""
        around, between = self._around(place), {*self._between(place)}
        below = {*self._entries[self._index(self._seen()[place]) + 1 :]}
        return [entry for entry in around if entry in between or entry in below]

    # ------------------------------------------------------------------------------------- texts in prose

    def _place_prose(self) -> None:
        questions = [place for place in self._places(is_solution) if not self._is_code(place)]
        if not questions:
            return
        loose = {id(entry): text for entry in self._entries if (text := self._loose(entry))}
        for where in (self._copies, self._between, self._around):
            for place in questions:
                found = [entry for entry in where(place) if id(entry) in loose]
                answered = self._is_answered(place, self._seen().get(place))
                if found and (not answered or where == self._copies):
                    self._answer(place, found, [loose.pop(id(entry)) for entry in found])
        rest = "\n\n".join(loose.values())[:MOST_ELSEWHERE]
        for place in questions if rest else []:
            entry = self._seen().get(place)
            if not self._is_answered(place, entry):
                cell = Cell("markdown", f"{ELSEWHERE}\n\n{rest}", self._names[place])
                if entry:
                    entry.cell = cell
                else:
                    self._insert(_Entry(cell, place))

    def _copies(self, place: int) -> list[_Entry]:
        return [entry for entry in self._entries if entry.answers == place]

    def _loose(self, entry: _Entry) -> str:
        """The student's own words in a cell that is not the cell of an answer; "" where there are none."""
        cell = entry.cell
        if cell is None or (entry.place >= 0 and is_solution(self._released[entry.place])):
            return ""
        if entry.place >= 0 and (self._is_code(entry.place) or not self._is_changed(entry)):
            return ""
        return own_lines(cell.source, self._lines) if is_prose(cell, self._reader) else ""

    def _answer(self, place: int, found: list[_Entry], texts: list[str]) -> None:
        """Give an answer texts that stand in other cells. Cells that hold nothing else go."""
        target = self._seen().get(place)
        cells = [entry.cell for entry in found if entry.cell]
        if target is not None and target.cell and self._is_answered(place, target):
            texts, cells = [target.cell.source, *texts], [target.cell, *cells]
        source, pictures = _joined(texts, cells)
        answer = Cell("markdown", source, self._names[place], pictures)
        whole = [e for e in found if e.anchor < 0 and e.cell and e.cell.kind != "code"]
        if target is None:
            target = _Entry(answer, place)
            self._entries.insert(self._index(found[0]), target)
            self._lost.add(place)
        target.cell = answer
        self._entries = [entry for entry in self._entries if entry not in whole]

    # ----------------------------------------------------------------------------- what comes from the release

    def _put_back(self) -> None:
        seen = self._seen()
        for place, name in enumerate(self._names):
            if name and place not in seen:
                self._insert(_Entry(None, place))

    def _insert(self, entry: _Entry) -> None:
        """Behind the cells that precede it in the release; a stub also ahead of what the student binds to its name."""
        before = [i for i, other in enumerate(self._entries) if 0 <= other.place < entry.place]
        at = before[-1] + 1 if before else 0
        names = self._functions.get(entry.place, frozenset())
        if names and entry.cell is None:
            binding = (
                i
                for i, other in enumerate(self._entries[:at])
                if other.cell
                and (self._is_own(other) or self._is_changed(other))
                and self._reader.binds(other.cell, names)
            )
            at = next(binding, at)
        self._entries.insert(at, entry)

    def _move_tests(self) -> None:
        """No test runs ahead of the answer that it follows in the release."""
        for place in self._places(is_solution):
            answer = self._seen()[place]
            for test in reversed(self._tests_of(place)):
                entry = self._seen()[test]
                if self._index(entry) < self._index(answer):
                    self._entries.remove(entry)
                    self._entries.insert(self._index(answer) + 1, entry)

    def _look_for_doubts(self) -> None:
        """Unanswered cells of code beside which stands code that nobody could place."""
        for place in self._places(is_solution):
            if not self._is_code(place) or self._is_answered(place, self._seen().get(place)):
                continue
            names = self._functions.get(place, frozenset())
            near = [entry for entry in self._beside(place) if entry.near < 0 and self._is_own(entry)]
            near = [entry for entry in near if entry.cell and self._may_answer(entry.cell, names)]
            changed = [entry for entry in self._entries if self._is_own(entry) or self._is_changed(entry)]
            far = [entry for entry in changed if entry.cell and self._reader.names(entry.cell, names)]
            if first := next(iter([*far, *near]), None):
                line = next(line for line in self._text(first).splitlines() if line.strip())
                self._doubtful[self._names[place]] = line.strip()[:80]

    def _all_notes(self) -> Iterator[str]:
        if count := len(self._lost):
            cells = "One cell of this notebook" if count == 1 else f"{count} cells of this notebook"
            yield (
                f"{cells} had to be found again by text, function and order: a mark was lost, or a cell moved or merged, as "
                "happens in some editors."
            )
        if self._turned:
            names = ", ".join(f"`{name}`" for name in self._turned)
            yield f"The kind of these cells was changed (code, Markdown or raw); their texts count all the same: {names}."


def _joined(texts: Iterable[str], cells: Iterable[Cell]) -> tuple[str, dict[str, dict[str, str]]]:
    """Texts of several cells as one, with their pictures: two of one name get different ones."""
    pictures: dict[str, dict[str, str]] = {}
    sources = []
    for number, (text, cell) in enumerate(zip(texts, cells, strict=True)):
        for name, picture in cell.attachments.items():
            new = name if pictures.get(name, picture) == picture else f"{number}-{name}"
            pictures[new] = picture
            text = text.replace(f"attachment:{name}", f"attachment:{new}")
        sources.append(text.strip("\n"))
    return "\n\n".join(sources), pictures
