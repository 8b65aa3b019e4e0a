"""Steps through the bytes of a notebook's file and finds its cells, in whatever state it is."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from autograder.untrusted.budgets import MOST_VALUES, is_small

# docs/students.md tells these. The first is for the texts of the cells: outputs do not count, and pictures are read as far
# as there is room.
MAX_NOTEBOOK_BYTES = 20 << 20
MAX_CELLS = 2000
MOST_SIGNS, MOST_KEYS = 4_000_000, 200_000
"""Two seconds' work: values of a file that hold others, where a list of texts or numbers is one; keys that are looked at."""
MOST_SEARCHED = 400 << 20  # bytes that are looked through for the next cell that can be read
READ = ("cell_type", "source", "metadata", "id", "attachments")


class Unreadable(ValueError):
    """The file is no notebook we can read; the message says why, for the student and the instructor."""


class NoNotebook(ValueError):
    """There is no list of cells; the message says why."""


class Broken(ValueError):
    """Here the file ends, or is no JSON."""


_SPACE = re.compile(rb"[ \t\r\n]*+")
_COMMAS = re.compile(rb"[ \t\r\n,]*+")
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRINGS = re.compile(_STRING, re.DOTALL)
# A list or an object that holds no other is one sign. So is a quote that no other one ends: the rest is not searched again
# from each quote in it.
_FLAT = rb'[\[{][^"\[\]{}]*+(?:' + _STRING + rb'[^"\[\]{}]*+)*+[\]}]'
_SIGNS = re.compile(_FLAT + rb"|" + _STRING + rb'|["\[\]{}]', re.DOTALL)
_SCALAR = re.compile(rb'[^\s,\[\]{}":]++')
_CELL = re.compile(rb'\{\s*+"(?:attachments|cell_type|execution_count|id|metadata|outputs|source)"\s*+:')
_ANOTHER = re.compile(rb'\{\s*+"cell_type"\s*+:')
_AFTER_CELLS = re.compile(rb'[\s,]*+(?:["}]|\Z)')  # behind the last cell


class Scanner:
    """Steps through a file once, and from each cell that cannot be read to the next one that can.

    breaks_off  whether the file ends, or is damaged to its end, behind the cells that were found
    lost_after  for each damaged place between cells how many were found before it
    """

    def __init__(self, blob: bytes):
        self._blob = blob
        self._at = 0
        self._signs = self._keys_seen = self._found = 0
        self._to_search = MOST_SEARCHED
        self.breaks_off = False
        self.lost_after: list[int] = []

    @property
    def is_damaged(self) -> bool:
        """Whether cells may be missing."""
        return self.breaks_off or bool(self.lost_after)

    def cells(self) -> Iterator[dict[str, bytes]]:
        """Of each cell the members that are read, as the bytes that are there; of one that is no object nothing."""
        if self._next() != b"{":
            raise NoNotebook("it does not begin like JSON")
        try:
            for key in self._keys():
                if key == b'"cells"':
                    if self._next() != b"[":
                        raise NoNotebook("its “cells” are not a list of cells")
                    self._at += 1
                    yield from self._items()
                    return  # what follows says nothing about the cells
                self._skip()
        except Broken:
            if self._find_next(self._at):
                yield from self._items()
            return
        raise NoNotebook("it contains no list of cells")

    def _items(self) -> Iterator[dict[str, bytes]]:
        while not self._is_over():
            begin = self._at
            found = self._readable()
            if found is not None:
                self._found += 1
                if self._found > MAX_CELLS:
                    raise Unreadable(
                        f"The notebook has more than {MAX_CELLS} cells; at most {MAX_CELLS} are read."
                    )
                yield found
            elif not self._find_next(begin + 1):
                return

    def _is_over(self) -> bool:
        """Whether no cell begins at the next sign that is no comma. A bracket that closes too early is damage."""
        try:
            sign = self._next_but_commas()
        except Broken:
            self.breaks_off = True
            return True
        if sign != b"]":
            return False
        return bool(_AFTER_CELLS.match(self._blob, self._at + 1)) or not self._find_next(self._at + 1)

    def _readable(self) -> dict[str, bytes] | None:
        """The members of the cell that begins here; None if it cannot be read, or has others in it that are cells."""
        begin = self._at
        try:
            found = self._members()
        except Broken:
            return None
        source = found.get("source")
        if source is not None and len(source) <= MAX_NOTEBOOK_BYTES and source_of(source) is None:
            return None
        if _ANOTHER.search(self._blob, begin + 1, self._at):
            whole = self._blob[begin : self._at]
            if is_small(whole, MAX_NOTEBOOK_BYTES) and loads(whole) is None:
                return None  # a quote too many or too few: what is between two texts was taken for a text
        return found

    def _find_next(self, start: int) -> bool:
        """Go to the next cell that can be read, from `start` on; False if there is none."""
        for match in _CELL.finditer(self._blob, start):
            self._to_search -= len(self._blob) - match.start()
            if self._to_search < 0:
                break
            self._at = match.start()
            found = self._readable()
            if found is not None and {"cell_type", "source"} <= found.keys():
                self._at = match.start()
                self.lost_after.append(self._found)
                return True
        self.breaks_off = True
        return False

    def _members(self) -> dict[str, bytes]:
        if self._next() != b"{":
            self._skip()
            return {}
        found: dict[str, bytes] = {}
        for key in self._keys():
            self._next()
            start = self._at
            self._skip()
            name = key[1:-1].decode("ascii", "replace")
            if name in READ:
                found[name] = self._blob[start : self._at]
        return found

    def _keys(self) -> Iterator[bytes]:
        """The keys of the object that begins here; the caller steps over the value of each."""
        self._at += 1
        while self._next_but_commas() != b"}":
            key = self._string()
            if self._next() != b":":
                raise Broken
            self._at += 1
            self._keys_seen += 1
            if self._keys_seen > MOST_KEYS:
                raise _too_many()
            yield key
        self._at += 1

    def _skip(self) -> None:
        """Step over a value, whatever is in it."""
        sign = self._next()
        if sign == b'"':
            self._string()
        elif sign in (b"[", b"{"):
            self._skip_nested()
        else:
            scalar = _SCALAR.match(self._blob, self._at)
            if not scalar:
                raise Broken
            self._at = scalar.end()

    def _skip_nested(self) -> None:
        depth = 0
        for match in _SIGNS.finditer(self._blob, self._at):
            self._count()
            sign = match[0]
            if sign == b"[" or sign == b"{":
                depth += 1
            elif sign == b"]" or sign == b"}":
                depth -= 1
            elif sign == b'"':
                break
            if depth == 0:  # a flat one is a whole value
                self._at = match.end()
                return
        raise Broken

    def _string(self) -> bytes:
        self._count()
        match = _STRINGS.match(self._blob, self._at)
        if not match:
            raise Broken
        self._at = match.end()
        return match[0]

    def _next(self) -> bytes:
        """The next sign that is no space, which is not stepped over. Raises Broken at the end of the file."""
        space = _SPACE.match(self._blob, self._at)
        if space:
            self._at = space.end()
        sign = self._blob[self._at : self._at + 1]
        if not sign:
            raise Broken
        return sign

    def _next_but_commas(self) -> bytes:
        """The next sign that is neither space nor comma, of which there may be too many or too few. Raises Broken."""
        self._at = _COMMAS.match(self._blob, self._at).end()  # type: ignore[union-attr] # it may match nothing
        return self._next()

    def _count(self) -> None:
        self._signs += 1
        if self._signs > MOST_SIGNS:
            raise _too_many()


def _too_many() -> Unreadable:
    return Unreadable(
        "The file contains millions of lists and objects. Clear all outputs of the notebook and save it."
    )


def loads(part: bytes) -> Any:
    """The value, or None for what is no JSON or nested too deeply."""
    if not part:
        return None
    if not is_small(part, MAX_NOTEBOOK_BYTES):
        raise Unreadable(f"A cell contains more than {MOST_VALUES} values, so it is not read.")
    with suppress(ValueError, RecursionError):
        return json.loads(part.decode("utf-8", "replace"), strict=False)
    return None


_LIST_OF_STRINGS = re.compile(rb"\[(?:[\s,]*+" + _STRING + rb")*+[\s,]*+\]", re.DOTALL)


def source_of(part: bytes) -> str | None:
    """The text of a cell; None if it cannot be read. Of lists and objects it is the texts in them, in their order."""
    value = loads(part)
    if value is None and _LIST_OF_STRINGS.fullmatch(part):  # a comma is missing, or one is too many
        value = [loads(match[0]) for match in _STRINGS.finditer(part)]
    if value is None:
        return "" if part.strip() in (b"null", b"") else None
    return "".join(_strings(value))


def _strings(value: Any) -> Iterator[str]:
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | dict):
            left += reversed([*value.values()] if isinstance(value, dict) else value)
