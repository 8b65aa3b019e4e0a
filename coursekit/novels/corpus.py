"""The novels as numbers: cleaned, split by book, as subwords of our own vocabulary and as whole words.

corpus = prepare(folder_of_texts, folder_of_numbers)     # minutes the first time, then read from disk
corpus.rows("train")                                     # subwords of consecutive whole sentences, as ids
corpus.word_rows("train")                                # the same sentences as numbers of words

A row contains at most ROW subwords of consecutive sentences of one book. Splits are by book: no author of `validation` or
`test` occurs in `train`.
"""

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Int
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tqdm import tqdm

from autograder.checks.storing import write_aside
from coursekit.novels.cleaning import paragraphs, sentences

SPECIAL = ("[PAD]", "[BOS]", "[EOS]", "[MASK]", "[UNK]", "[CLS]", "[SEP]")
"""As in coursekit.small.bert."""
PIECES, WORDS, ROW = 8192, 16_384, 126
"""Numbers of subwords in the vocabulary, of words that ELMo and skip-gram can predict, and of subwords in a row (which leaves
room for two special tokens)."""
HELD_OUT = {
    "validation": ("George Gissing", "Frances Hodgson Burnett"),
    "test": ("Wilkie Collins", "John Galsworthy"),
}
"""Authors whose books are not used in training."""


@dataclass(frozen=True)
class Book:
    """One novel: its file, author, year and split, and the SHA-256 and number of words of its cleaned text."""

    file: str
    author: str
    published: int
    split: str
    words: int
    sha256: str


@dataclass(frozen=True)
class Corpus:
    """The files that `prepare` has written into a folder."""

    folder: Path

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The subword tokeniser that was trained on these texts."""
        return Tokenizer.from_file(str(self.folder / "tokenizer.json"))

    @cached_property
    def words(self) -> list[str]:
        """Every word of the text: those in SPECIAL, then the others by frequency in `train`. The first WORDS can be predicted."""
        return (self.folder / "words.txt").read_text(encoding="utf-8").split("\n")

    def rows(self, split: str) -> "Ragged":
        """The subwords of each row, without special tokens at the ends."""
        return self._ragged(f"{split}_pieces")

    def word_rows(self, split: str) -> "Ragged":
        """The same rows as indices of words."""
        return self._ragged(f"{split}_words")

    def characters(self, split: str) -> Int[np.ndarray, " rows"]:
        """The number of characters of each row in lower case with single spaces, for nats per character."""
        return np.load(self.folder / f"{split}_characters.npy")

    def _ragged(self, name: str) -> "Ragged":
        values = np.load(self.folder / f"{name}.npy", mmap_mode="r")
        return Ragged(values, np.load(self.folder / f"{name}_ends.npy"))


@dataclass(frozen=True)
class Ragged:
    """Rows of unequal length, one after the other in `values`; row i ends at `ends[i]`."""

    values: Int[np.ndarray, " numbers"]
    ends: Int[np.ndarray, " rows"]

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, row: int) -> Int[np.ndarray, " T"]:
        start = self.ends[row - 1] if row else 0
        return self.values[start : self.ends[row]]

    @cached_property
    def lengths(self) -> Int[np.ndarray, " rows"]:
        """The number of tokens in each row."""
        return np.diff(self.ends, prepend=0)

    def padded(
        self, rows: Sequence[int], first: int | None = None, last: int | None = None
    ) -> Int[np.ndarray, "B T"]:
        """Some rows, padded with 0, each between `first` and `last`."""
        found = [
            np.concatenate([[] if first is None else [first], self[row], [] if last is None else [last]])
            for row in rows
        ]
        whole = np.zeros((len(found), max(map(len, found))), dtype=np.int64)
        for place, row in enumerate(found):
            whole[place, : len(row)] = row
        return whole


def in_pieces(rows: Ragged, spelt: list[list[int]]) -> Ragged:
    """Rows of words as rows of at most ROW subwords; `spelt[word]` contains the subwords of a word."""
    lengths = np.array([len(pieces) for pieces in spelt])
    flat, ends = np.concatenate([np.array(pieces, np.int32) for pieces in spelt]), np.cumsum(lengths)
    words = np.asarray(rows.values)
    of_word = lengths[words]
    inside = np.arange(of_word.sum()) - np.repeat(
        np.cumsum(of_word) - of_word, of_word
    )  # which piece of its word
    values = flat[np.repeat((ends - lengths)[words], of_word) + inside]
    piece_ends = np.cumsum(of_word)[rows.ends - 1]
    starts = np.append(0, piece_ends[:-1])
    taken = np.arange(len(values)) - np.repeat(starts, piece_ends - starts) < ROW
    return Ragged(values[taken], np.cumsum(taken)[piece_ends - 1])


def read_books(folder: Path) -> list[dict[str, str]]:
    """The rows of the `books.csv` next to the folder of texts."""
    with (folder / "books.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def split_of(author: str) -> str:
    """The split to which an author's books belong."""
    return next((split for split, authors in HELD_OUT.items() if author in authors), "train")


def cleaned(folder: Path) -> Iterator[tuple[Book, list[str]]]:
    """Each book of a folder, with its paragraphs, in the order of `books.csv`."""
    for line in tqdm(read_books(folder), desc="cleaning", unit="book"):
        found = paragraphs((folder / "raw" / line["file"]).read_text(encoding="utf-8"))
        text = "\n".join(found)
        yield (
            Book(
                line["file"],
                line["author"],
                int(line["published"]),
                split_of(line["author"]),
                len(text.split()),
                hashlib.sha256(text.encode()).hexdigest(),
            ),
            found,
        )


def new_tokenizer() -> Tokenizer:
    """An empty WordPiece tokeniser like that of BERT: lower case, with every punctuation mark as a word of its own."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def learn_pieces(texts: Iterable[str], pieces: int = PIECES) -> Tokenizer:
    """A tokeniser with a vocabulary learned from texts. The trainer of `tokenizers` breaks ties arbitrarily: keep the file."""
    tokenizer = new_tokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=pieces, special_tokens=list(SPECIAL), show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def words_of(tokenizer: Tokenizer, sentence: str) -> list[str]:
    """The words and punctuation marks of a sentence in lower case, before they are split into subwords."""
    normal = tokenizer.normalizer.normalize_str(sentence)
    return [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal)]


def prepare(texts: Path, folder: Path, tokenizer_file: Path | None = None, pieces: int = PIECES) -> Corpus:
    """The corpus as numbers, written once into `folder`.

    `tokenizer_file` contains the shipped vocabulary; without this file, a vocabulary is learned. Raises FileNotFoundError,
    with a sentence, if `texts` has no books.csv.
    """
    corpus = Corpus(folder)
    if (folder / "books.json").exists():
        return corpus
    if not (texts / "books.csv").exists():
        raise FileNotFoundError(
            f"{texts} has no books.csv with the columns file, author and published, and no folder raw next to it."
        )
    folder.mkdir(parents=True, exist_ok=True)
    books = list(cleaned(texts))
    in_train = [paragraph for book, found in books if book.split == "train" for paragraph in found]
    tokenizer = Tokenizer.from_file(str(tokenizer_file)) if tokenizer_file else learn_pieces(in_train, pieces)
    tokenizer.save(str(folder / "tokenizer.json"))

    counts: Counter[str] = Counter()
    for paragraph in in_train:
        counts.update(words_of(tokenizer, paragraph))
    number = {word: place for place, word in enumerate(SPECIAL)}
    for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        number[word] = len(number)
    for split in ("train", *HELD_OUT):
        mine = [found for book, found in books if book.split == split]
        _write_rows(folder, split, tqdm(mine, desc=split, unit="book"), tokenizer, number)
    (folder / "words.txt").write_text("\n".join(number), encoding="utf-8")
    about = json.dumps([vars(book) for book, _ in books], indent=1)
    write_aside(folder / "books.json", about.encode())  # the last: a folder that has it is whole
    return corpus


def _write_rows(
    folder: Path, split: str, books: Iterable[list[str]], tokenizer: Tokenizer, number: dict[str, int]
) -> None:
    """Write the arrays of one split. New words get the next numbers."""
    rows = [row for book in books for row in rows_of(book, tokenizer, number)]
    pieces, words, characters = zip(*rows, strict=True)
    for kind, ragged, dtype in (("pieces", pieces, np.uint16), ("words", words, np.uint32)):
        np.save(folder / f"{split}_{kind}.npy", np.concatenate([np.array(row, dtype) for row in ragged]))
        np.save(folder / f"{split}_{kind}_ends.npy", np.cumsum([len(row) for row in ragged]))
    np.save(folder / f"{split}_characters.npy", np.array(characters))


def rows_of(
    book: list[str], tokenizer: Tokenizer, number: dict[str, int]
) -> Iterator[tuple[list[int], list[int], int]]:
    """The subwords, words and number of characters of each row of a book; a row has as many whole sentences as fit into ROW subwords."""
    pieces: list[int] = []
    words: list[int] = []
    characters = 0
    for sentence in (found for paragraph in book for found in sentences(paragraph)):
        ids = tokenizer.encode(sentence, add_special_tokens=False).ids[:ROW]
        if pieces and len(pieces) + len(ids) > ROW:
            yield pieces, words, characters
            pieces, words, characters = [], [], 0
        new = [number.setdefault(word, len(number)) for word in words_of(tokenizer, sentence)][:ROW]
        pieces, words, characters = pieces + ids, words + new, characters + len(sentence) + 1
    if pieces:
        yield pieces, words, characters
