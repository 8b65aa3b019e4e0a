"""Pseudo-words: two words merged into one, so that the sense of an ambiguous word is known at each occurrence.

`door` and `river` are both replaced by `door|river`; its sense is the word that was there originally (Gale, Church and
Yarowsky, 1992; Schütze, 1992). `data/novels/pseudo_words.csv` contains pairs of nouns of about equal frequency, some
related, some not.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tokenizers import AddedToken, Tokenizer

from coursekit.datasets import read_table
from coursekit.novels.corpus import HELD_OUT, Corpus, Ragged, in_pieces


class Pair(NamedTuple):
    """Two words that are merged into one."""

    first: str
    second: str
    relation: str

    @property
    def merged(self) -> str:
        """The pseudo-word that replaces both words in the text, such as "first|second"."""
        return f"{self.first}|{self.second}"


def read_pairs() -> list[Pair]:
    """The pairs of the course."""
    columns = ["first", "second", "relation"]
    return [Pair(*row) for row in read_table("novels/pseudo_words.csv")[columns].itertuples(index=False)]


def merge(corpus: Corpus, pairs: Sequence[Pair], folder: Path) -> Corpus:
    """The corpus with merged words, written once into `folder`: a pseudo-word is one word and one subword.

    Word i of row j is the same position in both corpora, so the original corpus contains the sense of a merged word.
    Raises ValueError for a word that the corpus does not contain, or that occurs in two pairs.
    """
    new = Corpus(folder)
    if (folder / "books.json").exists():
        return new
    number = {word: place for place, word in enumerate(corpus.words)}
    both = [word for pair in pairs for word in pair[:2]]
    for word in both:
        if word not in number or both.count(word) > 1:
            raise ValueError(f"{word!r} is not a word of the corpus, or occurs in two pairs.")
    folder.mkdir(parents=True, exist_ok=True)
    words, becomes = list(corpus.words), np.arange(len(corpus.words))
    for pair in pairs:
        words[number[pair.first]] = pair.merged
        becomes[number[pair.second]] = number[pair.first]
    tokenizer = Tokenizer.from_file(str(corpus.folder / "tokenizer.json"))  # a new one: it gets more pieces
    tokenizer.add_tokens([AddedToken(pair.merged, normalized=False) for pair in pairs])
    tokenizer.save(str(folder / "tokenizer.json"))
    spelt = [tokenizer.encode(word, add_special_tokens=False).ids for word in words]
    for split in ("train", *HELD_OUT):
        old = corpus.word_rows(split)
        rows = Ragged(becomes[np.asarray(old.values)], old.ends)
        for kind, ragged, dtype in (
            ("words", rows, np.uint32),
            ("pieces", in_pieces(rows, spelt), np.uint16),
        ):
            np.save(folder / f"{split}_{kind}.npy", ragged.values.astype(dtype))
            np.save(folder / f"{split}_{kind}_ends.npy", ragged.ends)
        shutil.copy(corpus.folder / f"{split}_characters.npy", folder)
    (folder / "words.txt").write_text("\n".join(words), encoding="utf-8")
    shutil.copy(corpus.folder / "books.json", folder)  # the last: a folder that has it is whole
    return Corpus(folder)
