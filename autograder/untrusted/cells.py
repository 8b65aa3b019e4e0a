"""The cells of a notebook's file, of any size, odd or broken off: the same rules for all.

The file is not parsed as a whole. A scanner that steps over brackets and strings finds the cells, and of each the five
members that are read; everything else, outputs above all, is passed over and may hold what JSON does not allow (NaN, half a
character). A comma too many or too few does no harm. Where a cell cannot be read, the next one is looked for.
"""

import base64
import codecs
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from autograder.untrusted.budgets import MOST_VALUES, is_small

# docs/students.md tells these. The first is for the texts of the cells: outputs do not count, and pictures are read as far
# as there is room.
MAX_NOTEBOOK_BYTES = 20 << 20
MAX_CELLS = 2000
MOST_SIGNS, MOST_KEYS = 4_000_000, 200_000
"""Two seconds' work: values of a file that hold others, where a list of texts or numbers is one; keys that are looked at."""

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""What a browser draws and runs nothing of. An SVG may hold links and scripts; few browsers know HEIC."""
KINDS = ("code", "markdown", "raw")
READ = ("cell_type", "source", "metadata", "id", "attachments")
LONGEST_KIND = 40  # characters of a picture's kind
MOST_SEARCHED = 400 << 20  # bytes that are looked through for the next cell that can be read
MOST_SHOWN = 5  # places of damage that are named


class Unreadable(ValueError):
    """The file is no notebook we can read; the message says why, for the student and the instructor."""


@dataclass(frozen=True)
class Cell:
    """What is taken from a submitted cell: nothing but its text, its kind, its name and its pictures.

    A picture of a kind that is not shown is kept by its kind alone, with no data.
    """

    kind: str
    source: str
    name: str  # its grade id, else its own id
    attachments: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Cells:
    """The cells of a file, and a sentence for the student if some are missing because the file is damaged."""

    cells: list[Cell]
    note: str = ""


def parse_cells(blob: bytes) -> Cells:
    """The cells of a notebook file. Raises Unreadable with a sentence for anything else."""
    blob = _as_utf8(blob)
    if what := _what_it_is(blob):
        raise Unreadable(f"The file {what}.")
    scanner = _Scanner(blob)
    try:
        members = list(scanner.cells())
    except _NoNotebook as error:
        raise Unreadable(_why_none(blob, str(error))) from None
    if scanner.is_damaged and not members:
        whole = blob.rstrip().endswith(b"}")
        damage = (
            "it is damaged, and no cell of it can be read" if whole else "it breaks off before its first cell"
        )
        raise Unreadable(_why_none(blob, damage))
    room = MAX_NOTEBOOK_BYTES - sum(
        len(part) for found in members for name, part in found.items() if name != "attachments"
    )
    if room < 0:
        limit = MAX_NOTEBOOK_BYTES >> 20
        raise Unreadable(
            f"The texts of the notebook's cells have more than {limit} MB, without outputs and pictures; at most "
            f"{limit} MB are read."
        )
    cells = []
    for found in members:
        pictures = found.pop("attachments", b"")
        if len(pictures) <= room:
            room -= len(pictures)
            found["attachments"] = pictures
        source = _source(found.pop("source", b"")) or ""
        cells.append(_read_cell(source, {name: _loads(part) for name, part in found.items()}))
    return Cells(cells, _note(scanner, len(cells)))


def _note(scanner: "_Scanner", count: int) -> str:
    """What is missing, and what to do about it; "" where nothing is."""
    again = "Hand it in again, if you can."
    if scanner.lost_after:
        places = [
            f"behind the cell {n}" if n else "ahead of the first cell"
            for n in [*dict.fromkeys(scanner.lost_after)]
        ]
        first = f"The file is damaged; of the cells that were read, something is lost {', '.join(places[:MOST_SHOWN])}."
        return f"{first} It also breaks off at its end. {again}" if scanner.breaks_off else f"{first} {again}"
    if scanner.breaks_off:
        return (
            f"The file breaks off, or is damaged, after its cell {count}: the cells up to there were read, and what "
            "follows is lost. Hand it in again, if you can."
        )
    return ""


def _as_utf8(blob: bytes) -> bytes:
    """Without a byte order mark; what Windows calls Unicode is turned into UTF-8."""
    if blob.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return blob.decode("utf-16", "replace").encode("utf-8", "replace")
    return blob.removeprefix(codecs.BOM_UTF8)


def _what_it_is(blob: bytes) -> str:
    """In words, of a file that is something else than a notebook by its first bytes or by a conflict's marks; else ""."""
    if not blob.strip(b"\0 \t\r\n"):
        return (
            "is empty" if not blob.strip() else "holds nothing but zeros: its upload or its disk has failed"
        )
    head = blob[:2000].lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html")):
        where = " from GitHub" if b"github" in blob[:100_000].lower() or b"at main" in head else ""
        return (
            f"is a web page{where}, not the notebook: download the notebook itself (on GitHub, the button "
            "“Download raw file”)"
        )
    for start, kind in STARTS.items():
        if blob.startswith(start):
            return f"is {kind} with the name of a notebook"
    if b"<<<<<<< " in blob and re.search(rb"^<{7} ", blob, re.MULTILINE):
        return (
            "holds a merge conflict of git (lines that begin with “<<<<<<<”): settle it, open the notebook in "
            "JupyterLab and save it"
        )
    return ""


STARTS = {
    b"PK\x03\x04": "a ZIP archive or an office document",
    b"%PDF": "a PDF",
    b"\x1f\x8b": "a compressed archive",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"{\\rtf": "an RTF document",
}


def _why_none(blob: bytes, reason: str) -> str:
    """A sentence about a file without cells."""
    try:
        blob.decode("utf-8")
    except UnicodeDecodeError:
        return "The file is not UTF-8 text, and no notebook."
    head = blob[:200_000]
    if old := re.search(rb'"worksheets"\s*:', head) and re.search(rb'"nbformat"\s*:\s*([1-3])\b', blob):
        return f"The file is a notebook of format {old[1].decode()}: open and save it in JupyterLab, which turns it into format 4."
    if blob.lstrip().startswith(b"{") and b'"doc_id"' in head:
        return "The file is a link to Google Drive, not the notebook: download it (File → Download → .ipynb)."
    if re.search(rb"^(?:import|from) \w|^# %%|^def \w", head, re.MULTILINE):
        return "The file is a Python script, not a notebook."
    return f"The file is not a notebook: {reason}."


class _NoNotebook(ValueError):
    """There is no list of cells; the message says why."""


class _Broken(ValueError):
    """Here the file ends, or is no JSON."""


_SPACE = re.compile(rb"[ \t\r\n]*+")
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


class _Scanner:
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
        return self.breaks_off or bool(self.lost_after)

    def cells(self) -> Iterator[dict[str, bytes]]:
        """Of each cell the members that are read, as the bytes that are there; of one that is no object nothing."""
        if self._next() != b"{":
            raise _NoNotebook("it does not begin as JSON does")
        try:
            for key in self._keys():
                if key == b'"cells"':
                    if self._next() != b"[":
                        raise _NoNotebook("its “cells” are no list of cells")
                    self._at += 1
                    yield from self._items()
                    return  # what follows says nothing about the cells
                self._skip()
        except _Broken:
            if self._find_next(self._at):
                yield from self._items()
            return
        raise _NoNotebook("it holds no list of cells")

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
            while self._next() == b",":
                self._at += 1
        except _Broken:
            self.breaks_off = True
            return True
        if self._next() != b"]":
            return False
        return bool(_AFTER_CELLS.match(self._blob, self._at + 1)) or not self._find_next(self._at + 1)

    def _readable(self) -> dict[str, bytes] | None:
        """The members of the cell that begins here; None if it cannot be read, or has others in it that are cells."""
        begin = self._at
        try:
            found = self._members()
        except _Broken:
            return None
        source = found.get("source")
        if source is not None and len(source) <= MAX_NOTEBOOK_BYTES and _source(source) is None:
            return None
        if _ANOTHER.search(self._blob, begin + 1, self._at):
            whole = self._blob[begin : self._at]
            if is_small(whole, MAX_NOTEBOOK_BYTES) and _loads(whole) is None:
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
        """The keys of the object that begins here; whoever takes one steps over its value."""
        self._at += 1
        while (sign := self._next()) != b"}":
            if sign == b",":
                self._at += 1
                continue
            key = self._string()
            self._next()
            self._expect(b":")
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
                raise _Broken
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
        raise _Broken

    def _string(self) -> bytes:
        self._count()
        match = _STRINGS.match(self._blob, self._at)
        if not match:
            raise _Broken
        self._at = match.end()
        return match[0]

    def _next(self) -> bytes:
        """The next sign that is no space, which is not stepped over. Raises _Broken at the end of the file."""
        space = _SPACE.match(self._blob, self._at)
        if space:
            self._at = space.end()
        sign = self._blob[self._at : self._at + 1]
        if not sign:
            raise _Broken
        return sign

    def _expect(self, sign: bytes) -> None:
        if self._next() != sign:
            raise _Broken
        self._at += 1

    def _count(self) -> None:
        self._signs += 1
        if self._signs > MOST_SIGNS:
            raise _too_many()


def _too_many() -> Unreadable:
    return Unreadable(
        "The file has millions of lists and objects in it. Clear all outputs of the notebook and save it."
    )


def _loads(part: bytes) -> Any:
    """The value, or None for what is no JSON or nested too deeply."""
    if not part:
        return None
    if not is_small(part, MAX_NOTEBOOK_BYTES):
        raise Unreadable(f"A cell has more than {MOST_VALUES} values in it, which are not read.")
    with suppress(ValueError, RecursionError):
        return json.loads(part.decode("utf-8", "replace"), strict=False)
    return None


_LIST_OF_STRINGS = re.compile(rb"\[(?:[\s,]*+" + _STRING + rb")*+[\s,]*+\]", re.DOTALL)


def _source(part: bytes) -> str | None:
    """The text of a cell; None if it cannot be read. Of lists and objects it is the texts in them, in their order."""
    value = _loads(part)
    if value is None and _LIST_OF_STRINGS.fullmatch(part):  # a comma is missing, or one is too many
        value = [_loads(match[0]) for match in _STRINGS.finditer(part)]
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


def _read_cell(source: str, found: dict[str, Any]) -> Cell:
    """A cell of another kind counts as raw, and one without a text as empty: nothing else is lost by it."""
    kind = found.get("cell_type")
    metadata = found.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    if not isinstance(name, str):
        name = found.get("id")  # the release's ids are its grade ids: they survive lost metadata
    return Cell(
        kind if kind in KINDS else "raw",
        _text(source),
        _text(name) if isinstance(name, str) else "",
        _pictures(found.get("attachments")),
    )


def _text(source: str) -> str:
    if not source.isascii():
        # A lone surrogate is legal in JSON but cannot be written to a file again.
        source = source.encode("utf-8", "replace").decode("utf-8")
    return source.replace("\r\n", "\n").replace("\r", "\n")  # as the release has them


def _pictures(attachments: Any) -> dict[str, dict[str, str]]:
    if not isinstance(attachments, dict):
        return {}
    pictures = {}
    for name, bundle in attachments.items():
        if (
            isinstance(bundle, dict) and name.isprintable()
        ):  # which half a character, that no file can hold, is not
            images = {kind: data for kind, data in bundle.items() if kind in PICTURES and _is_base64(data)}
            if images or (images := {kind: "" for kind in bundle if _is_kind(kind)}):
                pictures[name] = images
    return pictures


def _is_kind(kind: str) -> bool:
    return len(kind) <= LONGEST_KIND and re.fullmatch(r"\w+/[\w.+-]+", kind, re.ASCII) is not None


def _is_base64(data: Any) -> bool:
    try:
        return isinstance(data, str) and bool(base64.b64decode("".join(data.split()), validate=True))
    except ValueError:
        return False
