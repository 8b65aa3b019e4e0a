"""Paragraphs and sentences from a text file of the kind that archives offer.

paragraphs(text)      # running prose alone: no title page, no list of contents, no chapter headings
sentences(paragraph)
"""

import re
import unicodedata

WRAPPED = 120
"""A text counts as wrapped by hand if most of it is in lines of at most this many characters."""
QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "`": "'", "´": "'", "…": "..."})
HEADING = re.compile(
    r"(the\s+)?(\w+\s+)?(chapter|book|part|volume|vol|canto|letter|epilogue|prologue|preface|introduction|contents|finis|the end)\b"
    r"[\s.:,;]*([ivxlcdm]+|\d+|the\s+\w+|\w+)?\b.{0,60}",
    re.IGNORECASE,
)
NUMERAL = re.compile(r"[\W_]*([ivxlcdm]+|\d+)[\W_]*", re.IGNORECASE)
ABBREVIATIONS = (
    "mr",
    "mrs",
    "ms",
    "dr",
    "st",
    "messrs",
    "esq",
    "hon",
    "rev",
    "capt",
    "col",
    "lieut",
    "gen",
    "sergt",
    "prof",
    "no",
    "vol",
)
END = re.compile(r"([.!?]+[\"')\]]*)\s+(?=[\"'(\[]*[A-Z])")
FULL_STOPS = (".", "!", "?", '"', "'", ")")
SHORTEST = 40
"""The minimum number of characters of a paragraph; a shorter one is kept only if it ends like a sentence."""


def paragraphs(text: str) -> list[str]:
    """The paragraphs of running prose of a novel, in ASCII as far as possible.

    Lines that were wrapped by hand are joined, including words hyphenated at the end of a line. Headings, page numbers, rows
    of asterisks and everything before the first long paragraph (title, dedication, contents) are left out.
    """
    lines = [normalised(line) for line in text.splitlines()]
    long = sum(len(line) for line in lines if len(line) > WRAPPED)
    whole = lines if long > sum(map(len, lines)) / 2 else joined(lines)
    found = [paragraph for paragraph in mended(whole) if is_prose(paragraph)]
    first = next((place for place, paragraph in enumerate(found) if len(paragraph) >= 300), 0)
    return found[first:]


def normalised(line: str) -> str:
    """Straight quotes, plain dashes, no accents (é becomes e), single spaces."""
    line = unicodedata.normalize("NFKD", line.translate(QUOTES).replace("æ", "ae").replace("œ", "oe"))
    line = re.sub(r"\s*(?:—|–|-{2,}|\s-\s)\s*", " -- ", line)
    line = re.sub(r"[_*=|~#^<>{}\\]+|\[(?:illustration|footnote|pg)[^\]]*\]?", " ", line, flags=re.IGNORECASE)
    line = "".join(letter for letter in line if not unicodedata.combining(letter) and letter.isascii())
    return re.sub(r"\s+(?=[ ,;:.?!])", "", line).strip()


def joined(lines: list[str]) -> list[str]:
    """Paragraphs from lines that were wrapped by hand: empty lines separate them or, if there are hardly any, short lines
    at which a sentence ends."""
    empty = sum(not line for line in lines)
    filled = sorted(len(line) for line in lines if line)
    full = 0.75 * filled[int(0.9 * len(filled))] if filled else 0
    by_length = empty < len(lines) / 50
    found, now = [], ""
    for line in lines:
        now = (
            f"{now[:-1]}{line}" if re.search(r"\w-$", now) and line[:1].islower() else f"{now} {line}".strip()
        )
        if not line or (by_length and len(line) < full and now.endswith(FULL_STOPS)):
            found.append(now)
            now = ""
    return [paragraph for paragraph in [*found, now] if paragraph]


def mended(lines: list[str]) -> list[str]:
    """Join each line that begins in lower case to the line before it, if no sentence ends there."""
    found: list[str] = []
    for line in filter(None, lines):
        if found and line[0].islower() and found[-1][-1] not in ".!?:\"')":
            found[-1] = f"{found[-1]} {line}"
        else:
            found.append(line)
    return found


def is_prose(paragraph: str) -> bool:
    """Whether a paragraph consists of sentences, rather than a heading, a number or a line of capitals."""
    letters = [letter for letter in paragraph if letter.isalpha()]
    if len(letters) < 3 or NUMERAL.fullmatch(paragraph):
        return False
    if sum(letter.isupper() for letter in letters) > 0.4 * len(letters):
        return False
    if HEADING.fullmatch(paragraph) and len(paragraph) < 90:
        return False
    return len(paragraph) >= SHORTEST or paragraph.rstrip("\"')").endswith(
        (".", "!", "?", ":", ";", ",", "--")
    )


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph. "Mr.", "St." and single capitals with a full stop do not end a sentence."""
    found, start = [], 0
    for end in END.finditer(paragraph):
        before = re.search(r"([A-Za-z]+)\.$", paragraph[start : end.start() + 1])
        if before and (before[1].lower() in ABBREVIATIONS or (len(before[1]) == 1 and before[1] != "I")):
            continue
        found.append(paragraph[start : end.end(1)].strip())
        start = end.end()
    return [sentence for sentence in [*found, paragraph[start:].strip()] if sentence]
