"""The results of sampling: sentences with their annotations, and pairs of sentences."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

import numpy as np
from jaxtyping import Bool, Int

from coursekit.language.tables import BOS, EOS, PAD


@dataclass(frozen=True, eq=False)
class Sentences:
    """A batch of sentences: [BOS] words [EOS] [PAD] ... Slices, index arrays and masks give a smaller batch.

    `senses` contains the index of the sense in `Language.senses` at the ambiguous word, and -1 elsewhere; `parts_of_speech` contains
    indices into `Language.parts_of_speech`, and -1 at special tokens. `cue` says what determines the sense: "left" (words before the ambiguous word, and perhaps also after it), "right" (only words
    after it), "order1" and "order2" (only the order of words, in one clause or in two), "both" (order and a word), or "none" (no
    ambiguous word).
    """

    ids: Int[np.ndarray, "sentences tokens"]
    senses: Int[np.ndarray, "sentences tokens"]
    parts_of_speech: Int[np.ndarray, "sentences tokens"]
    topic: Int[np.ndarray, " sentences"]
    cue: np.ndarray
    template: Int[np.ndarray, " sentences"]
    vocabulary: tuple[str, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int | slice | np.ndarray) -> "Sentences":
        index = np.atleast_1d(index) if not isinstance(index, slice) else index
        arrays = [getattr(self, f.name)[index] for f in fields(self)[:-1]]
        return Sentences(*arrays, self.vocabulary)

    def __iter__(self) -> Iterator["Sentences"]:
        return (self[i] for i in range(len(self)))

    @property
    def lengths(self) -> Int[np.ndarray, " sentences"]:
        """The number of tokens without padding, including [BOS] and [EOS]."""
        return (self.ids != PAD).sum(axis=1)

    @property
    def position(self) -> Int[np.ndarray, " sentences"]:
        """The position of the ambiguous word; -1 in a sentence without one."""
        return np.where((self.senses >= 0).any(axis=1), (self.senses >= 0).argmax(axis=1), -1)

    @property
    def sense(self) -> Int[np.ndarray, " sentences"]:
        """The sense of the ambiguous word; -1 in a sentence without one."""
        return self.senses.max(axis=1)

    def words(self, i: int) -> list[str]:
        """The words of sentence i, without special tokens."""
        return [self.vocabulary[word] for word in self.ids[i] if word not in (PAD, BOS, EOS)]


@dataclass(frozen=True, eq=False)
class Passages:
    """Pairs of sentences. Where `continues` is True, the second sentence has the topic of the first; otherwise it is drawn independently.

    An independently drawn sentence sometimes has the topic of the first by chance, as in a real corpus.
    """

    first: Sentences
    second: Sentences
    continues: Bool[np.ndarray, " passages"]

    def __len__(self) -> int:
        return len(self.continues)

    def __getitem__(self, index: int | slice | np.ndarray) -> "Passages":
        index = np.atleast_1d(index) if not isinstance(index, slice) else index
        return Passages(self.first[index], self.second[index], self.continues[index])
