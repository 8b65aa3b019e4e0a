"""own_text(): a text file of the student's as passages, or a sentence that says why it cannot be used.

    text = own_text("diary.txt")                      # a file next to the notebook, or one of PACKAGED
    text = own_text("diary.txt", personal="replace")  # without e-mail addresses, telephone numbers, addresses

Everything happens on this machine: the file is read, and nothing is written or sent.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from coursekit.project import personal
from coursekit.project.packaged_texts import PACKAGED

LEAST, MOST = 200_000, 5_000_000
"""Bytes of a text. Below, a GPT has too little to learn from; above, ten minutes are too short to read it once."""
HUGE = 100_000_000
"""Bytes of a file that is not opened at all."""
LONGEST = 1_200
"""Characters of a passage; a longer paragraph is split at the ends of sentences."""
FEW = 100
"""Of passages between empty lines: with fewer, the file has a line for each paragraph."""
SAMPLE = 200_000
"""Characters that are looked at to see what kind of text it is."""
FILES = {
    b"%PDF": "a PDF file: open it, select all text, and paste it into a plain text file",
    b"PK\x03\x04": "a Word, OpenOffice or EPUB document or another zip archive: save it as plain text (.txt)",
    b"\xd0\xcf\x11\xe0": "an old Word document: save it as plain text (.txt)",
    b"{\\rtf": "an RTF document: save it as plain text (.txt)",
    b"\x89PNG": "a picture: text in pictures has to be typed out or extracted with OCR first",
    b"\xff\xd8\xff": "a picture: text in pictures has to be typed out or extracted with OCR first",
    b"GIF8": "a picture: text in pictures has to be typed out or extracted with OCR first",
    b"\x1f\x8b": "a compressed file: unpack it first",
}
"""How files of other kinds begin, and what to do with them."""
WITHOUT_SPACES = "CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"


class TextUnusable(ValueError):
    """The text cannot be used. The message is a sentence that says why, and what to do."""


@dataclass(frozen=True)
class Text:
    """A text as passages in their order; `notes` are sentences on what to keep in mind."""

    name: str
    passages: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def megabytes(self) -> float:
        """Of the passages, in UTF-8."""
        return sum(len(passage.encode()) for passage in self.passages) / 1e6

    def __str__(self) -> str:
        words = sum(len(passage.split()) for passage in self.passages)
        first = f"{self.name}: {self.megabytes:.2f} MB, {len(self.passages):,} passages, {words:,} words."
        return "\n".join([first, *self.notes])


def own_text(where: str | Path, personal: str = "ask", encoding: str = "utf-8", cut: bool = False) -> Text:
    """A text of 0.2 to 5 MB as passages: a plain text file, or a packaged text by its name.

    personal    what happens to e-mail addresses, telephone numbers and addresses: "ask" raises if there are any, "replace"
                puts a placeholder in place of each, "keep" leaves them.
    encoding    of the file, such as "latin-1".
    cut         whether to use the first 5 MB of a longer file.

    Raises TextUnusable, with a sentence, for a file that is missing, no text, too short, too long, not in the encoding, in a
    script without spaces between words, or that contains personal data nobody has decided about.
    """
    if personal not in ("ask", "replace", "keep"):
        raise TextUnusable(f"personal={personal!r} is not known: choose 'ask', 'replace' or 'keep'.")
    if str(where) in PACKAGED:
        packaged = PACKAGED[str(where)]
        return Text(str(where), passages_of(packaged.read()), (packaged.about,))
    path = Path(where).expanduser()
    text = _decoded(path, _content(path), encoding)
    text, shortened = _in_bounds(path.name, text, cut)
    return Text(path.name, *_examined(path.name, text, personal, shortened))


def passages_of(text: str) -> tuple[str, ...]:
    """The paragraphs of a text, each on one line; long ones are split, and lines without words are left out.

    Empty lines separate paragraphs. If there are hardly any, each line is a paragraph.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = re.split(r"\n\s*\n", text)
    if len(found) < FEW:
        found = text.split("\n")
    lines = (" ".join(one.split()) for one in found)
    pieces = [piece for line in lines for piece in _pieces(line)]
    return tuple(piece for piece in pieces if re.search(r"\w", piece))


def _pieces(paragraph: str) -> list[str]:
    """A long paragraph in pieces of whole sentences, of whole words where a sentence is long itself, or of what is left."""
    found, now = [], ""
    parts = re.split(r"(?<=[.!?])\s+", paragraph) if len(paragraph) > LONGEST else [paragraph]
    words = (word for part in parts for word in (part.split(" ") if len(part) > LONGEST else [part]))
    short = (word[start : start + LONGEST] for word in words for start in range(0, len(word), LONGEST))
    for part in short:
        if now and len(now) + len(part) >= LONGEST:
            found.append(now)
            now = ""
        now = f"{now} {part}".strip()
    return [*found, now]


def _content(path: Path) -> bytes:
    if "\0" in str(path):
        raise TextUnusable(f"{str(path)!r} is not the name of a file.")
    try:
        if path.exists() and not path.is_dir():
            _openable(path)
        return path.read_bytes()
    except FileNotFoundError:
        beside = sorted(one.name for one in path.parent.glob("*.txt")) if path.parent.is_dir() else []
        there = (
            f"This folder contains {', '.join(beside[:5])}."
            if beside
            else "There is no .txt file in that folder."
        )
        packaged = ", ".join(f'"{name}"' for name in PACKAGED)
        raise TextUnusable(
            f"There is no file {str(path)!r}. {there} The packaged texts are {packaged}."
        ) from None
    except IsADirectoryError:
        raise TextUnusable(f"{str(path)!r} is a folder: give the name of one file in it.") from None
    except OSError as error:
        raise TextUnusable(f"{str(path)!r} cannot be read: {error.strerror}.") from None


def _openable(path: Path) -> None:
    """Raises TextUnusable for a device or a file so large that reading it would fill the memory."""
    if not path.is_file():
        raise TextUnusable(f"{str(path)!r} is a device, not a text file.")
    size = path.stat().st_size
    if size > HUGE:
        raise TextUnusable(
            f"{path.name} has {size / 1e6:,.0f} MB; the project accepts at most {MOST / 1e6:.0f} MB. Save a part of the text as a separate file."
        )


def _decoded(path: Path, content: bytes, encoding: str) -> str:
    if not content.strip():
        raise TextUnusable(f"{path.name} is empty.")
    for start, what in FILES.items():
        if content.startswith(start):
            raise TextUnusable(f"{path.name} is not plain text but {what}.")
    encoding = _wide(content) or encoding
    wide = encoding.lower().startswith(("utf-16", "utf-32", "utf16", "utf32"))
    if not wide and b"\0" in content:
        raise TextUnusable(
            f"{path.name} is not plain text: it contains zero bytes, as programs and pictures do. If it is a text in UTF-16, save it as UTF-8."
        )
    if not wide and len(re.findall(rb"[\x01-\x08\x0e-\x1f]", content[:SAMPLE])) > len(content[:SAMPLE]) / 100:
        raise TextUnusable(
            f"{path.name} is not plain text: it contains control characters, as programs and pictures do."
        )
    try:
        text = content.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except LookupError:
        raise TextUnusable(
            f"Python has no encoding named {encoding!r}. Examples of encodings are 'utf-8' and 'latin-1'."
        ) from None
    except UnicodeError as error:
        where = f": byte {error.start:,} is {content[error.start]:#04x}" if hasattr(error, "start") else ""
        raise TextUnusable(
            f'{path.name} is not in {encoding.upper()}{where}. Save it as UTF-8, or try own_text(…, encoding="cp1252") for a text from an '
            'older Windows ("latin-1" for one from an older Unix), and check whether its accents are right.'
        ) from None
    return unicodedata.normalize("NFC", text)  # an accent is part of its letter, and words are whole


def _wide(content: bytes) -> str:
    """UTF-16 or UTF-32 by the mark at the beginning, or by zeros in every second byte, as in most European texts; or ""."""
    if content.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    even, odd = (content[start:SAMPLE:2].count(0) / max(1, len(content[start:SAMPLE:2])) for start in (0, 1))
    if max(even, odd) > 0.5 and min(even, odd) < 0.01:
        return "utf-16-be" if even > odd else "utf-16-le"
    return ""


def _in_bounds(name: str, text: str, cut: bool) -> tuple[str, tuple[str, ...]]:
    size = len(text.encode(errors="replace"))
    if size < LEAST:
        raise TextUnusable(
            f"{name} has {size / 1000:,.0f} kB; the project needs at least {LEAST / 1000:.0f} kB (about 35,000 words of English), because a model "
            "learns too little from a shorter text. Add more text of the same kind, or use a packaged text."
        )
    if size <= MOST:
        return text, ()
    if not cut:
        raise TextUnusable(
            f"{name} has {size / 1e6:,.1f} MB; the project accepts at most {MOST / 1e6:.0f} MB. own_text(…, cut=True) uses the first {MOST / 1e6:.0f} MB."
        )
    return text.encode()[:MOST].decode(errors="ignore"), (f"Only the first {MOST / 1e6:.0f} MB are used.",)


def _examined(
    name: str, text: str, decision: str, notes: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The passages and notes of a text that is running prose. Raises TextUnusable."""
    notes = (*notes, *_kind(name, text))
    found = personal.found(text)
    if found and decision == "ask":
        raise TextUnusable(
            f'{name} seems to contain personal data: {personal.counted(found)}. Remove them, or let own_text(…, personal="replace") put '
            'placeholders in their place. If they belong to no living person, as in a novel, use personal="keep".'
        )
    if found and decision == "replace":
        text = personal.replaced(text)
        notes = (*notes, f"Replaced by placeholders: {personal.counted(found)}.")
    passages = passages_of(text)
    different = len(set(passages)) / len(passages)
    if different < 0.5:
        raise TextUnusable(
            f"{name} consists largely of repetitions: only {different:.0%} of its passages are different. A model would only have to copy them."
        )
    return passages, notes


def _kind(name: str, text: str) -> tuple[str, ...]:
    """Notes on the script. Raises TextUnusable for what is not running text."""
    middle = len(text) // 2
    sample = text if len(text) < SAMPLE else text[: SAMPLE // 2] + text[middle : middle + SAMPLE // 2]
    letters = [letter for letter in sample if letter.isalpha()]
    # The vowel signs of Hindi and the tone marks of Thai are no letters to Unicode.
    signs = sum(unicodedata.category(sign).startswith("M") for sign in sample)
    tags = len(re.findall(r"</?\w[^<>]*>", sample))
    if tags > len(sample) / 400:
        raise TextUnusable(f"{name} contains {tags:,} HTML or XML tags: save the text without them.")
    if not letters or len(letters) + signs < 0.6 * len(re.sub(r"\s", "", sample)):
        raise TextUnusable(
            f"{name} is not running text: only {len(letters) / max(1, len(sample)):.0%} of its characters are letters. Tables, numbers and "
            "program output have no sentences to learn from."
        )
    scripts = Counter(unicodedata.name(letter, "UNKNOWN").split()[0] for letter in letters[:20_000])
    script, count = scripts.most_common(1)[0]
    if script in WITHOUT_SPACES:
        raise TextUnusable(
            f"{name} is written in {script.title() if script != 'CJK' else 'Chinese or Japanese'} script, which has no spaces between words. The tokeniser and the GPT would work, but "
            "word neighbours, senses and search need words: use another text."
        )
    words = sample.split()
    if sum(map(len, words)) > 20 * len(words):
        raise TextUnusable(f"{name} is not running text: its words have more than 20 letters on average.")
    if script == "LATIN":
        return ()
    notes = [
        f"{count / sum(scripts.values()):.0%} of its letters are {script.title()}. The tokeniser, the skip-gram vectors and the GPT learn from your text alone and work as usual. "
        "The encoder for senses and search was trained on English, so expect little of this encoder, and say so on your page."
    ]
    if signs > 0.1 * len(letters):
        notes.append(
            "Many of its vowels are signs that Python does not count as letters. Expect parts of words where the notebook shows words."
        )
    return tuple(notes)
