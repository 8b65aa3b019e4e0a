"""The cells of a notebook's file, of any size, odd or broken off: the same rules for all.

The file is not parsed as a whole. A scanner that steps over brackets and strings finds the cells, and of each the five
members that are read; everything else, outputs above all, is passed over and may hold what JSON does not allow (NaN, half a
character). Where the file breaks off, the cells before that place are read.
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
    """The cells of a file, and a sentence for the student if some may be missing."""

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
    if scanner.broken_at is not None and not members:
        raise Unreadable(_why_none(blob, "it breaks off before its first cell"))
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
        cells.append(_read_cell({name: _loads(part) for name, part in found.items()}))
    note = ""
    if scanner.broken_at is not None:
        note = (
            f"The file breaks off, or is damaged, after its cell {len(cells)}: the cells up to there were read, and what "
            "follows is lost. Hand it in again, if you can."
        )
    return Cells(cells, note)


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


class _Scanner:
    """Steps through a file once. `broken_at` is the place where it breaks off; None if it does not."""

    def __init__(self, blob: bytes):
        self._blob = blob
        self._at = 0
        self._signs = self._keys_seen = 0
        self.broken_at: int | None = None

    def cells(self) -> Iterator[dict[str, bytes]]:
        """Of each cell the members that are read, as the bytes that are there; of one that is no object nothing."""
        if self._next() != b"{":
            raise _NoNotebook("it does not begin as JSON does")
        try:
            for key in self._keys():
                if key == b'"cells"':
                    if self._next() != b"[":
                        raise _NoNotebook("its “cells” are no list of cells")
                    yield from self._items()
                    return  # what follows says nothing about the cells
                self._skip()
        except _Broken:
            self.broken_at = self._at
            return
        raise _NoNotebook("it holds no list of cells")

    def _items(self) -> Iterator[dict[str, bytes]]:
        self._at += 1
        count = 0
        while self._next() != b"]":
            if count:
                self._expect(b",")
                self._next()
            count += 1
            if count > MAX_CELLS:
                raise Unreadable(
                    f"The notebook has more than {MAX_CELLS} cells; at most {MAX_CELLS} are read."
                )
            yield self._members()

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
        first = True
        while self._next() != b"}":
            if not first:
                self._expect(b",")
                self._next()
            first = False
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


def _read_cell(found: dict[str, Any]) -> Cell:
    """A cell of another kind counts as raw, and one without a readable text as empty: nothing else is lost by it."""
    kind = found.get("cell_type")
    source = found.get("source")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        source = ""
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
