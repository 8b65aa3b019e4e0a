"""The title of a manually graded cell: the heading that the student sees in it or above it.

A heading is a line of Markdown (`## Why attention?`), underlined or in HTML, or the bold words with which a paragraph begins
(`**Question 1 · Why attention.** …`). If several cells share a heading, their grade ids are added.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

LONGEST = 120  # characters of a heading
FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINE = re.compile(
    r"^ {0,3}#{1,6}[ \t]+(?P<marked>.+?)[ \t]*#*[ \t]*$"
    r"|<h[1-6]\b[^>]*>(?P<html>.*?)</h[1-6]>"
    r"|^(?P<underlined>(?! {0,3}[-=#>|])[^\n]*\S[^\n]*)\n {0,3}(?:={2,}|-{2,})[ \t]*$"
    r"|(?:\A|(?<=\n)[ \t]*\n)[ \t]*(?P<sign>\*{2,3}|__)(?=\S)(?P<bold>[^\n]+?)(?P=sign)(?=\s|$)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
NUMBERED = re.compile(
    r"(?P<word>[^\W\d]+\.?\s*)?\d+(?:[.\-]\d+)*[a-z]?(?:\)|\s*[.:·–—(\[-]|$)", re.IGNORECASE
)
"""How bold words begin that number a question: "Question 1 · Why", "Q2:", "3b)", and not "2 points"."""
STUB = re.compile(r"\W*(?:(?:my|your|the) )?(?:answer|solution|response)s?\b(?! \d)", re.IGNORECASE)
"""How the words begin that only say where to write."""

EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*])", re.DOTALL)
UNDERSCORES = re.compile(r"(?<![\w_])(_{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w_])", re.DOTALL)
LINK = re.compile(r"!?\[([^\]\n]*)\]\([^()\n]*\)")
TAG = re.compile(r"</?[A-Za-z][^<>\n]*>")
LISTED = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s", re.MULTILINE)
MARKERS = re.compile(r"^\s*#+\s*", re.MULTILINE)


def headings(cells: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """{grade id: heading} for the manually graded cells of a release; a cell without a heading is called by its grade id."""
    inside = {
        place: heading_in(cell["source"]) if cell["cell_type"] == "markdown" else ""
        for place, cell in enumerate(cells)
        if _is_read(cell)
    }
    times = Counter(inside.values())
    found = {}
    for place, own in inside.items():
        usable = own if own and times[own] == 1 and not STUB.match(own) else ""
        found[_about(cells[place])["grade_id"]] = usable or _above(cells, place)
    times = Counter(found.values())
    return {
        name: heading if heading and times[heading] == 1 else f"{heading} ({name})" if heading else name
        for name, heading in found.items()
    }


def heading_in(markdown: str) -> str:
    """The last heading of a text, as plain words; "" where there is none.

    Bold words count if they number the question; else only at the beginning of a text that has no other heading.
    """
    text = COMMENT.sub("", FENCED.sub("", markdown)).replace("\r\n", "\n").strip()
    best = ""
    for match in LINE.finditer(text):
        if bold := match["bold"]:
            number = NUMBERED.match(plain(bold))
            if not number and (best or match.start()):
                continue
            words = plain(bold).rstrip(" .:–—")
            best = f"Question {words}" if number and not number["word"] and words.isalnum() else words
        else:
            best = plain(match["marked"] or match["html"] or match["underlined"])
    return best if len(best) <= LONGEST else f"{best[:LONGEST].rstrip()} …"


def plain(markdown: str) -> str:
    """One line of a text without the signs of Markdown and HTML."""
    return " ".join(without_markup(TAG.sub("", markdown)).replace("`", "").split())


def without_markup(markdown: str) -> str:
    """Prose without the signs of emphasis, links and headings, with its paragraphs kept and its lines joined."""
    paragraphs = re.split(r"\n\s*\n", MARKERS.sub("", markdown).strip())
    joined = (part if LISTED.search(part) else " ".join(part.split()) for part in paragraphs)
    return "\n\n".join(UNDERSCORES.sub(r"\2", EMPHASIS.sub(r"\2", LINK.sub(r"\1", part))) for part in joined)


def _above(cells: Sequence[Mapping[str, Any]], place: int) -> str:
    """The nearest heading in the texts directly above a cell. One of the first rank, further above, is the notebook's."""
    texts = takewhile(
        lambda cell: cell["cell_type"] == "markdown" and not _is_read(cell), reversed(cells[:place])
    )
    for distance, cell in enumerate(texts):
        if distance and re.match(r"\s*#[ \t]", cell["source"]):
            return ""
        if heading := heading_in(cell["source"]):
            return heading
    return ""


def _is_read(cell: Mapping[str, Any]) -> bool:
    """Whether a person grades the cell."""
    about = _about(cell)
    written = about.get("grade") and about.get("solution")
    return bool(about.get("grade_id") and (written or about.get("task")))


def _about(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    return cell["metadata"].get("nbgrader", {})
