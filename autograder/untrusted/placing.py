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
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile

from nbformat import NotebookNode

from autograder.source import grade_id, is_grade, is_locked, is_solution
from autograder.untrusted.cells import Cell
from autograder.untrusted.definitions import Reader, bare
from autograder.untrusted.notebooks import as_handed_in, restored_cell
from autograder.untrusted.words import BUILT_IN, is_prose, own_lines, said, without_badges

ELSEWHERE = "*(The cell of this answer is as it was released. This stands elsewhere in the notebook:)*"
BREAKS_OFF = "The file breaks off before this cell."
TURNED = "The code of this answer stood in a cell of text, and not all of that is code."
UNREAD = "This cell of the file cannot be read."
DAMAGED = "The file is damaged, and what was lost of it may belong to this answer."
MOST_ELSEWHERE = 20_000  # characters of such texts
LONG = 20  # characters of a line that is nobody else's
NUMBERED = re.compile(r"\b([A-Z][a-z]{2,12}) (\d{1,3})\b")
WORD = re.compile(r"\w+")
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


def restore(handed: list[Cell], release: NotebookNode, damaged: bool = False) -> Restored:
    """A notebook with the student's texts and everything else from the release. Of a `damaged` file cells are lost."""
    return _Placing(handed, release, damaged).restored()


class _Placing:
    def __init__(self, handed: list[Cell], release: NotebookNode, damaged: bool):
        self._release, self._damaged = release, damaged
        self._released = release["cells"]
        self._names = [grade_id(cell) for cell in self._released]
        self._texts = [bare(cell["source"]) for cell in self._released]
        self._known = set(self._texts)
        self._bares: dict[str, str] = {}
        self._lines: set[str] = set()  # of released cells that are not in the hand-in as they were
        self._reader = Reader()
        stubs = [self._released[place]["source"] for place in self._places(is_solution)]
        self._stub_lines = {line.strip() for stub in stubs for line in ["", *stub.splitlines()]}
        self._text_stubs = {
            line.strip()
            for place in self._places(is_solution)
            if not self._is_code(place)
            for line in self._texts[place].splitlines()
        }
        self._entries = [_Entry(cell) for cell in handed]
        self._lost: set[int] = set()
        self._turned: list[str] = []
        self._doubtful: dict[str, str] = {}
        self._unsure: dict[int, str] = {}
        self._functions = {
            place: names
            for place in self._places(is_solution)
            if self._is_code(place) and (names := self._reader.of_release(self._released[place]["source"]))
        }

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
            elif entry.cell is not None:
                cells.append(as_handed_in(entry.cell, original, position))
        metadata = copy.deepcopy(self._release.metadata)
        notebook = NotebookNode(nbformat=4, nbformat_minor=5, metadata=metadata, cells=cells)
        return Restored(notebook, tuple(self._all_notes()), self._doubtful, self._unsure_names())

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
            return True
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

    # -------------------------------------------------------------------------------------- halves of answers

    def _join_halves(self) -> None:
        """Put together the halves of a function whose cell was split; where they do not fit, a person decides."""
        for place in self._functions:
            entry = self._seen().get(place)
            while entry is not None and entry.cell and (half := self._half_below(place, entry)):
                assert half.cell
                whole = self._reader.can_be_joined(entry.cell.source, half.cell.source)
                if not whole:
                    self._unsure[place] = "The code of this answer seems to go on in the cell below."
                    break
                entry.cell = replace(entry.cell, source=whole)
                self._entries.remove(half)
                self._lost.add(place)

    def _half_below(self, place: int, entry: _Entry) -> _Entry | None:
        """The cell below, if it may be the second half of this answer."""
        below = self._entries[self._index(entry) + 1 :][:1]
        if not below or not entry.cell or not self._bare(entry) or self._bare(entry) == self._texts[place]:
            return None
        half = below[0]
        if half.near >= 0 or not half.cell or half.cell.kind != "code" or not self._is_half(half):
            return None
        first, second = entry.cell.source, half.cell.source
        fits = not self._reader.is_code(first) and bool(self._reader.can_be_joined(first, second))
        return half if fits or self._reader.is_rest(second) else None

    def _is_half(self, entry: _Entry) -> bool:
        """Whether it is no cell of the release, or the end of a stub that was cut off."""
        return entry.place < 0 and bool(self._bare(entry)) and self._bare(entry) not in self._known

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
                if entry.cell and entry.cell.kind != "code":
                    self._unsure.update(dict.fromkeys(found, TURNED))

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
        if cell is None or cell.kind != "code" or not self._is_own(entry):
            return False
        if is_prose(cell, self._reader) and not self._reader.names_bound([cell]):
            return False
        return self._may_answer(cell, self._functions.get(place, frozenset()))

    def _may_answer(self, cell: Cell, names: frozenset[str]) -> bool:
        """Whether a cell may be an answer: where a function is asked for it must define something."""
        if not names:
            return cell.kind == "code"
        code = replace(cell, kind="code")
        return self._reader.holds_definition(cell) or self._reader.binds(code, names)

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
        seen = self._seen()
        missing = [place for place in questions if place not in seen]
        unchanged = {place for place, entry in seen.items() if self._bare(entry) == self._texts[place]}
        for place, cell in enumerate(self._released):
            if place not in unchanged:
                self._lines |= {line.strip() for line in cell["source"].splitlines()}
        loose = {entry: text for entry in self._entries if (text := self._loose(entry))}
        for place in questions:
            self._take(place, self._copies(place), loose)
        is_open = not all(map(self._has_words, questions))
        for place in filter(self._has_words, questions):
            self._take(place, self._going_on(place, loose), dict(loose) if is_open else loose)
        for where in (self._between, self._around):
            found = {place: [entry for entry in where(place) if entry in loose] for place in questions}
            found = {place: entries for place, entries in found.items() if not self._has_words(place)}
            claims = Counter(entry for entries in found.values() for entry in entries)
            for place, entries in found.items():
                if all(claims[entry] == 1 for entry in entries):  # what may answer several is shown with each
                    self._take(place, entries, loose)
        shown = {entry: self._shown(entry, text) for entry, text in loose.items()}
        shown |= {
            entry: text for entry in self._entries if entry not in shown and (text := self._remarks(entry))
        }
        open_ones = [place for place in questions if not self._has_words(place)]
        for place, beside in [(p, self._beside_it(p, questions, p in missing)) for p in open_ones]:
            self._show(place, {**beside, **shown})

    def _going_on(self, place: int, loose: Mapping[_Entry, str]) -> list[_Entry]:
        """The student's texts directly below an answer, as they are when its cell was split."""
        below = self._entries[self._index(self._seen()[place]) + 1 :]
        return [*takewhile(lambda entry: entry in loose and entry.anchor < 0, below)]

    def _take(self, place: int, found: list[_Entry], loose: dict[_Entry, str]) -> None:
        if found := [entry for entry in found if entry in loose]:
            self._answer(place, found, [loose.pop(entry) for entry in found])

    def _has_words(self, place: int) -> bool:
        """Whether the cell of a written answer holds words that are neither a stub's nor cut from a released cell."""
        entry = self._seen().get(place)
        if entry is None or entry.cell is None:
            return False
        return bool(own_lines(entry.cell.source, self._lines, self._text_stubs))

    def _show(self, place: int, found: Mapping[_Entry, str]) -> None:
        """Let whoever grades see what may be the answer, and what was lost."""
        lost = self._unsure.get(place, "")
        texts = [
            text for text in [lost and f"*({lost})*", ELSEWHERE if found else "", *found.values()] if text
        ]
        entry = self._seen().get(place)
        kept = self._text(entry) if entry and self._is_answered(place, entry) else ""
        if not texts:
            return
        old = [Cell("markdown", kept, "", entry.cell.attachments)] if kept and entry and entry.cell else []
        cells = [*old, *(Cell("markdown", "", "") for _ in range(len(texts) - len(found)))]
        cells += [shown.cell for shown in found if shown.cell]
        source, pictures = _joined([*([kept] if old else []), *texts], cells)
        if len(source) > len(kept) + MOST_ELSEWHERE:
            source = f"{source[: len(kept) + MOST_ELSEWHERE]}\n\n… *(This is cut off; the notebook holds all of it.)*"
        cell = Cell("markdown", source, self._names[place], pictures)
        if entry:
            entry.cell = cell
        else:
            self._insert(_Entry(cell, place))

    def _beside_it(self, place: int, questions: list[int], is_missing: bool) -> dict[_Entry, str]:
        """The texts in the cells of other answers that may answer this question, too.

        Such a text holds the question, or its number; or it has several lines and stands in the cell of a neighbour; or this
        question's cell is missing, as it is after a merge.
        """
        number = questions.index(place)
        neighbours = {*questions[max(number - 1, 0) : number], *questions[number + 1 : number + 2]}
        asked, pattern = self._question(place)
        seen = self._seen()
        found = {}
        for other in questions:
            entry = seen.get(other)
            if other == place or entry is None or not self._has_words(other):
                continue
            text = self._text(entry)
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            is_near = other in neighbours and not any(
                self._is_code(p) for p in range(*sorted((place, other)))
            )
            several = len(own_lines(text, self._lines, self._text_stubs).split("\n")) > 1
            named = bool(pattern and pattern.search(text)) or not asked.isdisjoint(lines)
            if named or (is_near and several) or (is_near and is_missing and not self._damaged):
                found[entry] = text
        return found

    def _question(self, place: int) -> tuple[set[str], re.Pattern[str] | None]:
        """The longer lines of the question above a written answer, and what names it by its number."""
        asked: set[str] = set()
        pattern = None
        for above in range(place - 1, -1, -1):
            if self._is_code(above) or is_solution(self._released[above]):
                break
            text = self._released[above]["source"]
            asked |= {line.strip() for line in text.splitlines() if len(line.strip()) >= LONG}
            if pattern is None and (match := NUMBERED.search(text)):
                pattern = re.compile(
                    rf"(?im)\b(?:{match[1]}|question|answer|q|a|no|number)\W{{0,3}}{match[2]}\b|^\W{{0,6}}{match[2]}\s*[.:)]"
                )
            if pattern is not None:
                break
        return asked, pattern

    def _shown(self, entry: _Entry, text: str) -> str:
        """A text for the eyes of a person: a merged cell with the questions in it, code as code."""
        cell = entry.cell
        assert cell
        if cell.kind == "code":
            return _fenced(cell.source)
        return without_badges(cell.source).strip("\n") if entry.near >= 0 else text

    def _remarks(self, entry: _Entry) -> str:
        """What a cell of code that is no prose says in words beyond the release's; "" where there is nothing."""
        cell = entry.cell
        if cell is None or cell.kind != "code":
            return ""
        if entry.anchor < 0:
            said_here = said(cell.source, self._reader, self._known_names) if self._is_own(entry) else {}
            return _fenced(cell.source) if said_here else ""
        original, source = self._released[entry.anchor], cell.source
        if bare(source) == self._texts[entry.anchor]:
            return ""
        left = self._reader.of_release(original["source"]) and "raise NotImplementedError" in source
        deep = not is_solution(original) or bool(left)
        old = said(original["source"], self._reader, self._known_names)
        return "\n\n".join(
            _fenced(text) if text.startswith("#") else text
            for text in said(source, self._reader, self._known_names, deep)
            if text not in old and text.strip() not in original["source"]
        )

    @cached_property
    def _known_names(self) -> frozenset[str]:
        """The names that code of this notebook may use: built in, in the release, or bound in a cell."""
        code = [cell["source"] for cell in self._released if cell["cell_type"] == "code"]
        words = (word for source in code for word in re.findall(r"\w+", source))
        bound = self._reader.names_bound(entry.cell for entry in self._entries if entry.cell)
        return BUILT_IN.union(words, bound)

    def _copies(self, place: int) -> list[_Entry]:
        return [entry for entry in self._entries if entry.answers == place]

    def _loose(self, entry: _Entry) -> str:
        """The student's own words in a cell that is not the cell of an answer; "" where there are none."""
        cell = entry.cell
        if cell is None or (entry.place >= 0 and is_solution(self._released[entry.place])):
            return ""
        if entry.place >= 0 and (self._is_code(entry.place) or not self._is_changed(entry)):
            return ""
        if not is_prose(cell, self._reader) or (entry.place < 0 and not self._is_own(entry)):
            return ""
        return own_lines(cell.source, self._lines, self._text_stubs)

    def _answer(self, place: int, found: list[_Entry], texts: list[str]) -> None:
        """Give an answer texts that stand in other cells. Cells that hold nothing else go."""
        target = self._seen().get(place)
        cells = [entry.cell for entry in found if entry.cell]
        if target is not None and target.cell and self._is_answered(place, target):  # keep what is there
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
            found = [e for e in others if e.cell and self._may_define(e.cell, names)]
            if not answered:
                near = [e for e in self._beside(place) if e.near < 0 and self._is_own(e) and e.cell]
                found += [e for e in near if e.cell and self._may_be_part(e.cell, names)]
                found += self._strange if names else []
            if not found:
                continue
            begins = next(line for line in self._text(found[0]).splitlines() if line.strip()).strip()[:80]
            said_so = f"The cell that begins with `{begins.replace('`', chr(39))}` may hold the answer."
            if not answered:
                self._doubtful[self._names[place]] = begins
            self._unsure.setdefault(place, said_so)

    def _may_define(self, cell: Cell, names: frozenset[str]) -> bool:
        return self._reader.names(cell, names) or self._reader.binds(cell, names)

    def _may_be_part(self, cell: Cell, names: frozenset[str]) -> bool:
        return self._may_answer(cell, names) or (cell.kind == "code" and self._reader.is_rest(cell.source))

    def _lacks(self, entry: _Entry, names: frozenset[str]) -> bool:
        """Whether a changed cell of an answer does not define what it should, or still stops where the stub does."""
        if not names or not entry.cell:
            return False
        return "raise NotImplementedError" in entry.cell.source or not self._may_define(entry.cell, names)

    @cached_property
    def _strange(self) -> list[_Entry]:
        """The student's own cells that define functions of other names, which no answer calls."""
        asked = frozenset().union(*self._functions.values())
        seen = self._seen()
        answers = [seen[place] for place in self._functions if self._is_answered(place, seen[place])]
        called = {word for entry in answers for word in WORD.findall(self._text(entry))}
        defining = {
            entry: defined
            for entry in self._entries
            if entry.near < 0 and entry.cell and self._is_own(entry)
            and (defined := self._reader.defined_in(entry.cell)) and defined.isdisjoint(asked)
        }  # fmt: skip
        while helpers := [entry for entry, defined in defining.items() if not defined.isdisjoint(called)]:
            for entry in helpers:
                del defining[entry]
                called.update(WORD.findall(self._text(entry)))
        return [*defining]

    def _unsure_names(self) -> dict[str, str]:
        """Why a person must look, for each such answer and the tests behind it."""
        return {
            self._names[one]: why
            for place, why in self._unsure.items()
            for one in (place, *self._tests_of(place))
        }

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


def _fenced(code: str) -> str:
    """Code as Markdown shows it, whatever is in it."""
    fence = "```"
    while fence in code and len(fence) < LONG:
        fence += "`"
    return f"{fence}python\n{code.strip(chr(10))}\n{fence}"


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
