"""The cells of a hand-in on their way to the notebook that is graded, and what is known of each."""

from dataclasses import dataclass, replace

from nbformat import NotebookNode

from autograder.source import defined_in, former_ids, grade_id, is_grade, is_locked, is_solution
from autograder.untrusted.cells import Cell
from autograder.untrusted.definitions import Reader, bare


@dataclass(eq=False)
class Entry:
    """A cell of the notebook on its way: the student's, unless it comes back from the release.

    place is that in the release of the cell that it is; near that of a released cell without a grade id that the student has
    changed. They are −1 for a cell of the student's own.
    """

    cell: Cell
    place: int = -1
    near: int = -1
    answers: int = -1  # it is a second copy of this answer

    @property
    def anchor(self) -> int:
        """The place in the release that it stands for, be its text changed; −1 for none."""
        return max(self.place, self.near)


class Entries:
    """The hand-in beside its release. A place is an index into the released cells."""

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
        former = former_ids(release)
        self._entries = [Entry(replace(cell, name=former.get(cell.name, cell.name))) for cell in handed]
        self._lost: set[int] = set()
        self._turned: list[str] = []
        self._doubtful: dict[str, str] = {}
        self._unsure: dict[int, str] = {}
        self._functions = {
            place: names
            for place in self._places(is_solution)
            if self._is_code(place) and (names := defined_in(self._released[place]["source"]))
        }

    def _places(self, kind) -> list[int]:
        return [place for place, cell in enumerate(self._released) if self._names[place] and kind(cell)]

    def _is_code(self, place: int) -> bool:
        return self._released[place]["cell_type"] == "code"

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

    def _seen(self) -> dict[int, Entry]:
        """The entries that are cells of the release, by place."""
        return {entry.place: entry for entry in self._entries if entry.place >= 0}

    def _bare(self, entry: Entry) -> str:
        text = entry.cell.source
        if text not in self._bares:
            self._bares[text] = bare(text)
        return self._bares[text]

    def _is_answered(self, place: int, entry: Entry | None) -> bool:
        """Whether anything of the student's is in it. Several stubs in one cell are none."""
        text, stub = self._bare(entry) if entry else "", self._texts[place]
        if not text or text == stub:
            return False
        if not self._is_code(place):
            return True
        return stub not in text or any(line.strip() not in self._stub_lines for line in text.splitlines())

    def _is_own(self, entry: Entry) -> bool:
        """Whether the text is the student's, and no released cell in any place."""
        return entry.place < 0 and bool(text := self._bare(entry)) and text not in self._known

    def _is_changed(self, entry: Entry) -> bool:
        """Whether it is a cell with a grade id whose text is not the released one."""
        named = entry.place >= 0 and bool(self._names[entry.place])
        return named and self._bare(entry) != self._texts[entry.place]

    def _between(self, place: int) -> list[Entry]:
        """The entries between the nearest released cells before and after a place in the release."""
        at = {entry.anchor: number for number, entry in enumerate(self._entries) if entry.anchor >= 0}
        start = next((at[p] for p in range(place - 1, -1, -1) if p in at), -1)
        end = next((at[p] for p in range(place + 1, len(self._released)) if p in at), len(self._entries))
        return self._entries[max(start, 0) : end + 1]

    def _around(self, place: int) -> list[Entry]:
        """The entries between the answers before and after an answer."""
        answers = self._places(is_solution)
        at = {entry.place: number for number, entry in enumerate(self._entries) if entry.place in answers}
        start = next((at[p] for p in reversed(answers) if p < place and p in at), -1)
        end = next((at[p] for p in answers if p > place and p in at), len(self._entries))
        return self._entries[start + 1 : end]

    def _beside(self, place: int) -> list[Entry]:
        """The entries directly above an answer, and those below it up to the next one."""
        around, between = self._around(place), {*self._between(place)}
        below = {*self._entries[self._entries.index(self._seen()[place]) + 1 :]}
        return [entry for entry in around if entry in between or entry in below]

    def _may_answer(self, cell: Cell, names: frozenset[str]) -> bool:
        """Whether a cell may be an answer: where a function is asked for it must define something."""
        if not names:
            return cell.kind == "code"
        code = replace(cell, kind="code")
        return self._reader.holds_definition(cell) or self._reader.binds(code, names)

    def _insert(self, entry: Entry) -> None:
        """Behind the cells that precede it in the release; a stub also ahead of what the student binds to its name."""
        before = [i for i, other in enumerate(self._entries) if 0 <= other.place < entry.place]
        at = before[-1] + 1 if before else 0
        names = self._functions.get(entry.place, frozenset())
        if names:
            binding = (
                i
                for i, other in enumerate(self._entries[:at])
                if (self._is_own(other) or self._is_changed(other)) and self._reader.binds(other.cell, names)
            )
            at = next(binding, at)
        self._entries.insert(at, entry)
