"""Texts of the student's and the written questions that they answer: the grader sees each of them, in its place or not."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import takewhile

from autograder.source import defined_in, is_solution
from autograder.untrusted.cells import Cell
from autograder.untrusted.definitions import bare
from autograder.untrusted.entries import Entries, Entry
from autograder.untrusted.words import BUILT_IN, is_prose, own_lines, said, without_badges

ELSEWHERE = "*(The cell for this answer is unchanged. This text is elsewhere in the notebook:)*"
MOST_ELSEWHERE = 20_000  # characters of such texts
LONG = 20  # characters of a line that is nobody else's
PARAGRAPHS = re.compile(r"\n\s*\n")
NUMBERED = re.compile(r"\b([A-Z][a-z]{2,12}) (\d{1,3})\b")


class WrittenAnswers(Entries):
    """Gives the questions that a person grades the texts that answer them, or may answer them."""

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
            self._take(place, [entry for entry in self._entries if entry.answers == place], loose)
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

    def _going_on(self, place: int, loose: Mapping[Entry, str]) -> list[Entry]:
        """The student's texts directly below an answer, as they are when its cell was split."""
        below = self._entries[self._entries.index(self._seen()[place]) + 1 :]
        return [*takewhile(lambda entry: entry in loose and entry.anchor < 0, below)]

    def _take(self, place: int, found: list[Entry], loose: dict[Entry, str]) -> None:
        if taken := {entry: loose.pop(entry) for entry in found if entry in loose}:
            self._answer(place, taken)

    def _has_words(self, place: int) -> bool:
        """Whether the cell of a written answer holds words that are neither a stub's nor cut from a released cell."""
        entry = self._seen().get(place)
        if entry is None:
            return False
        return bool(own_lines(entry.cell.source, self._lines, self._text_stubs))

    def _show(self, place: int, found: Mapping[Entry, str]) -> None:
        """Let the grader see what may be the answer, and what was lost."""
        ours = [f"*({self._unsure[place]})*"] if place in self._unsure else []
        if found:
            ours.append(ELSEWHERE)
        parts = [(text, Cell("markdown", text, "")) for text in ours]
        parts += [(text, shown.cell) for shown, text in found.items()]
        if not parts:
            return
        most = MOST_ELSEWHERE
        entry = self._seen().get(place)
        if entry and self._is_answered(place, entry):
            parts.insert(0, (entry.cell.source, entry.cell))
            most += len(entry.cell.source)
        source, pictures = _joined(parts)
        if len(source) > most:
            source = f"{source[:most]}\n\n… *(This is cut off; the notebook contains all of it.)*"
        cell = Cell("markdown", source, self._names[place], pictures)
        if entry:
            entry.cell = cell
        else:
            self._insert(Entry(cell, place))

    def _beside_it(self, place: int, questions: list[int], is_missing: bool) -> dict[Entry, str]:
        """The texts in the cells of other answers that may answer this question, too.

        Such a text holds the question, or its number; or it has several paragraphs and stands in the cell of a neighbour; or this
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
            text = entry.cell.source
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            is_near = other in neighbours and not any(
                self._is_code(p) for p in range(*sorted((place, other)))
            )
            parts = (own_lines(part, self._lines, self._text_stubs) for part in PARAGRAPHS.split(text))
            several = len([*filter(None, parts)]) > 1
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

    def _shown(self, entry: Entry, text: str) -> str:
        """A text for the eyes of a person: a merged cell with the questions in it, code as code."""
        cell = entry.cell
        if cell.kind == "code":
            return _fenced(cell.source)
        return without_badges(cell.source).strip("\n") if entry.near >= 0 else text

    def _remarks(self, entry: Entry) -> str:
        """What a cell of code that is no prose says in words beyond the release's; "" where there is nothing."""
        cell = entry.cell
        if cell.kind != "code":
            return ""
        if entry.anchor < 0:
            said_here = said(cell.source, self._reader, self._known_names) if self._is_own(entry) else {}
            return _fenced(cell.source) if said_here else ""
        original, source = self._released[entry.anchor], cell.source
        if bare(source) == self._texts[entry.anchor]:
            return ""
        left = defined_in(original["source"]) and "raise NotImplementedError" in source
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
        bound = self._reader.names_bound(entry.cell for entry in self._entries)
        return BUILT_IN.union(words, bound)

    def _loose(self, entry: Entry) -> str:
        """The student's own words in a cell that is not the cell of an answer; "" where there are none."""
        cell = entry.cell
        if entry.place >= 0 and is_solution(self._released[entry.place]):
            return ""
        if entry.place >= 0 and (self._is_code(entry.place) or not self._is_changed(entry)):
            return ""
        if not is_prose(cell, self._reader) or (entry.place < 0 and not self._is_own(entry)):
            return ""
        return own_lines(cell.source, self._lines, self._text_stubs)

    def _answer(self, place: int, found: Mapping[Entry, str]) -> None:
        """Give an answer texts that stand in other cells. Cells that hold nothing else go."""
        target = self._seen().get(place)
        parts = [(text, entry.cell) for entry, text in found.items()]
        if target is not None and self._is_answered(place, target):  # keep what is there
            parts.insert(0, (target.cell.source, target.cell))
        source, pictures = _joined(parts)
        answer = Cell("markdown", source, self._names[place], pictures)
        whole = [e for e in found if e.anchor < 0 and e.cell.kind != "code"]
        if target is None:
            target = Entry(answer, place)
            self._entries.insert(self._entries.index(next(iter(found))), target)
            self._lost.add(place)
        target.cell = answer
        self._entries = [entry for entry in self._entries if entry not in whole]


def _fenced(code: str) -> str:
    """Code as Markdown shows it, whatever is in it."""
    fence = "```"
    while fence in code and len(fence) < LONG:
        fence += "`"
    return f"{fence}python\n{code.strip(chr(10))}\n{fence}"


def _joined(parts: Iterable[tuple[str, Cell]]) -> tuple[str, dict[str, dict[str, str]]]:
    """Texts of several cells as one, with their pictures: two of one name get different ones."""
    pictures: dict[str, dict[str, str]] = {}
    sources = []
    for number, (text, cell) in enumerate(parts):
        for name, picture in cell.attachments.items():
            new = name if pictures.get(name, picture) == picture else f"{number}-{name}"
            pictures[new] = picture
            text = text.replace(f"attachment:{name}", f"attachment:{new}")
        sources.append(text.strip("\n"))
    return "\n\n".join(sources), pictures
