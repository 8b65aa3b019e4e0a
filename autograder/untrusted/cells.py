"""The cells of a notebook's file, of any size, odd or broken off: the same rules for all.

The file is not parsed as a whole. A scanner that steps over brackets and strings finds the cells, and of each the five
members that are read; everything else, outputs above all, is passed over and may hold what JSON does not allow (NaN, half a
character). A comma too many or too few does no harm. Where a cell cannot be read, the next one is looked for.
"""

import base64
import codecs
import re
from dataclasses import dataclass, field
from typing import Any

from autograder.untrusted.scanning import (
    MAX_NOTEBOOK_BYTES,
    NoNotebook,
    Scanner,
    Unreadable,
    loads,
    source_of,
)

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""What a browser draws and runs nothing of. An SVG may hold links and scripts; few browsers know HEIC."""
KINDS = ("code", "markdown", "raw")
LONGEST_KIND = 40  # characters of a picture's kind
MOST_SHOWN = 5  # places of damage that are named


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
    scanner = Scanner(blob)
    try:
        members = list(scanner.cells())
    except NoNotebook as error:
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
        source = source_of(found.pop("source", b"")) or ""
        cells.append(_read_cell(source, {name: loads(part) for name, part in found.items()}))
    return Cells(cells, _note(scanner, len(cells)))


def _note(scanner: Scanner, count: int) -> str:
    """What is missing, and what to do about it; "" where nothing is."""
    again = "Submit the file again, if you can."
    if scanner.lost_after:
        places = [
            f"after cell {n}" if n else "before the first cell" for n in [*dict.fromkeys(scanner.lost_after)]
        ]
        first = f"The file is damaged: something is missing {', '.join(places[:MOST_SHOWN])}."
        return f"{first} It is also cut off at the end. {again}" if scanner.breaks_off else f"{first} {again}"
    if scanner.breaks_off:
        return (
            f"The file breaks off, or is damaged, after cell {count}: the cells up to this point were read, and "
            "the rest is lost. Submit the file again, if you can."
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
            "is empty"
            if not blob.strip()
            else "contains nothing but zeros: the upload or the disk has failed"
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
            "contains a git merge conflict (lines that begin with “<<<<<<<”): resolve it, open the notebook in "
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
        return "The file is not UTF-8 text, so it is not a notebook."
    head = blob[:200_000]
    if old := re.search(rb'"worksheets"\s*:', head) and re.search(rb'"nbformat"\s*:\s*([1-3])\b', blob):
        return f"The file is a notebook of format {old[1].decode()}: open and save it in JupyterLab, which converts it to format 4."
    if blob.lstrip().startswith(b"{") and b'"doc_id"' in head:
        return "The file is a link to Google Drive, not the notebook: download it (File → Download → .ipynb)."
    if re.search(rb"^(?:import|from) \w|^# %%|^def \w", head, re.MULTILINE):
        return "The file is a Python script, not a notebook."
    return f"The file is not a notebook: {reason}."


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
