"""Sentences with ambiguous English words, read by the novels' ELMo and by skip-gram: nearest words, and senses found.

`encode` is always a function from sentences, each a list of words, to their representations [BOS] to [EOS] at all layers
(L+1, B, T, E) and the lengths of the sentences, including [BOS] and [EOS].
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit.datasets import read_table
from coursekit.intervals import Interval
from coursekit.novels.shipped import load_skipgram
from coursekit.novels.spelling import LiterarySpelling
from coursekit.occurrences import accuracy_over_words, right_by_nearest
from coursekit.small.elmo import ELMo

Encode = Callable[[list[list[str]]], tuple[Float[Tensor, "L+1 B T E"], Int[Tensor, " B"]]]
IN_THE_NOVELS = (
    "bank", "court", "fair", "fast", "kind", "left", "light", "present", "rose", "sound", "spring", "state",
)  # fmt: skip
"""The ambiguous words whose senses occur in the novels."""
ROWS = 100
"""Sentences that are read at a time."""


@torch.no_grad()
def difference_from(
    model: ELMo, spelling: LiterarySpelling, encode: Encode, sentences: Sequence[str]
) -> float:
    """The largest difference between the representations of `encode` and the model's own."""
    rows = [spelling.split(sentence) for sentence in sentences]
    theirs, lengths = encode(rows)
    real = torch.arange(int(lengths.max())) < lengths[:, None]
    characters = torch.zeros(*real.shape, spelling.LONGEST, dtype=torch.long)
    characters[real] = spelling.of_words([word for row in rows for word in ("[BOS]", *row, "[EOS]")])
    return (theirs - model.encode(model.token(characters), real))[:, real].abs().max().item()


def ambiguous_sentences() -> pd.DataFrame:
    """The sentences of data/senses, the shortest first: with `row`, their words, and `at`, the position of the ambiguous word."""
    table = pd.concat([read_table("senses/senses.csv"), read_table("senses/novels.csv")])
    split = LiterarySpelling.split
    table["row"] = table.sentence.map(split)
    table["at"] = [len(split(line.sentence[: line.start])) for line in table.itertuples()]
    return table.sort_values("row", key=lambda rows: rows.str.len(), ignore_index=True)


def in_the_novels(table: pd.DataFrame) -> pd.DataFrame:
    """The sentences with a word whose senses occur in the novels."""
    return table[table.word.isin(IN_THE_NOVELS)]


def of_each(rows: list[list[str]], encode: Encode) -> Iterator[Float[Tensor, "L+1 T E"]]:
    """The representations of the words of each sentence, computed in batches."""
    for start in range(0, len(rows), ROWS):
        states, lengths = encode(rows[start : start + ROWS])
        yield from (states[:, i, 1 : length - 1] for i, length in enumerate(lengths.tolist()))


# --- the nearest words ---


@dataclass(frozen=True)
class Occurrences:
    """All words of some sentences.

    table       the sentences, as in `ambiguous_sentences`
    words       the spelling of each word, one sentence after the other
    sentence    the row of its sentence in the table
    position    its position in this sentence
    vectors     its representations (L+1, words, E)
    """

    table: pd.DataFrame
    words: np.ndarray
    sentence: Int[np.ndarray, " words"]
    position: Int[np.ndarray, " words"]
    vectors: Float[Tensor, "L+1 words E"]

    def sense_at(self, number: int) -> str:
        """The sense of an occurrence, or nothing if it is not the ambiguous word of its sentence."""
        line = self.table.iloc[self.sentence[number]]
        return line.sense if self.position[number] == line["at"] else ""


def occurrences(table: pd.DataFrame, encode: Encode) -> Occurrences:
    """All words of the sentences of a table, with their representations."""
    table = table.reset_index(drop=True)
    exploded = table.row.explode()
    return Occurrences(
        table,
        exploded.to_numpy(),
        exploded.index.to_numpy(),
        np.concatenate([np.arange(len(row)) for row in table.row]),
        torch.cat(list(of_each(list(table.row), encode)), dim=1),
    )


def nearest_words(word: str, target: Float[Tensor, "L+1 E"], pool: Occurrences, count: int = 4) -> list[str]:
    """The nearest words with a different spelling at each layer, with the cosine of their nearest occurrence."""
    lines = []
    for layer, vector in zip(pool.vectors, target, strict=True):
        cosines, found = torch.cosine_similarity(layer, vector, dim=-1), {}
        for i in cosines.argsort(descending=True).tolist():
            other = pool.words[i]
            if other != word and other.isalpha() and len(found) < count:
                found.setdefault(other, f"{other} {cosines[i]:.2f}")
        lines.append(", ".join(found.values()))
    return lines


def same_word(word: str, target: Float[Tensor, "L+1 E"], pool: Occurrences) -> list[tuple[int, int, float]]:
    """From layer 1 on: the layer, the nearest occurrence of the same word, and its cosine; empty if the word does not occur."""
    same = np.flatnonzero(pool.words == word)
    found = []
    for layer in range(1, len(target)) if len(same) else ():
        cosines = torch.cosine_similarity(pool.vectors[layer, same], target[layer], dim=-1)
        found.append((layer, int(same[int(cosines.argmax())]), cosines.max().item()))
    return found


# --- senses ---


def at_the_word(table: pd.DataFrame, encode: Encode) -> Float[Tensor, "L+1 sentences E"]:
    """The vector of the ambiguous word in each sentence, at every layer."""
    each = zip(of_each(list(table.row), encode), table["at"], strict=True)
    return torch.stack([states[:, at].clone() for states, at in each], dim=1)


def all_vectors(
    table: pd.DataFrame, model: ELMo, encode: Callable[[ELMo, list[list[str]]], tuple[Tensor, Tensor]]
) -> dict[str, Float[Tensor, "sentences E"]]:
    """The vectors of the ambiguous word: ELMo at each layer, an untrained ELMo at layer 2, and the baselines from skip-gram."""
    torch.manual_seed(0)
    untrained = at_the_word(table, partial(encode, ELMo(model.config).eval()))
    trained = at_the_word(table, partial(encode, model))
    by_layer = {f"ELMo, layer {layer}": rows for layer, rows in enumerate(trained)}
    return by_layer | {"untrained ELMo, layer 2": untrained[2]} | from_skip_gram(table)


def from_skip_gram(table: pd.DataFrame) -> dict[str, Float[Tensor, "sentences E"]]:
    """Two vectors of the context of each ambiguous word: the sum of the skip-gram vectors of all other words, and those of
    the two words on either side."""
    vector_of = dict(zip(*load_skipgram(), strict=True))
    nothing = torch.zeros(100)

    def others(row: list[str], at: int) -> Float[Tensor, "100"]:
        return sum((vector_of.get(word, nothing) for i, word in enumerate(row) if i != at), nothing)

    def around(row: list[str], at: int) -> Float[Tensor, "400"]:
        padded = ["", "", *row, "", ""]
        near = (*padded[at : at + 2], *padded[at + 3 : at + 5])
        return torch.cat([vector_of.get(word, nothing) for word in near])

    places = list(zip(table.row, table["at"], strict=True))
    return {
        "bag of words": torch.stack([others(*place) for place in places]),
        "two words on either side": torch.stack([around(*place) for place in places]),
    }


def senses_found(
    table: pd.DataFrame, vectors: Float[Tensor, "sentences E"]
) -> Float[np.ndarray, " sentences"]:
    """For each test sentence, whether the nearest labelled sentence with the same word has the same sense (nan for the others)."""
    return np.where(table.split == "test", right_by_nearest(table, vectors), np.nan)


def kinds_of_words(table: pd.DataFrame) -> dict[str, Bool[np.ndarray, " sentences"]]:
    """The test sentences of two kinds of words: all senses are nouns, or they are different parts of speech."""
    tested, same_part = (table.split == "test").to_numpy(), (table.parts_of_speech == "same").to_numpy()
    return {
        "all senses are nouns": tested & same_part & (table.word != "fast").to_numpy(),
        "different parts of speech": tested & ~same_part,
    }


def accuracies(
    table: pd.DataFrame, vectors: Mapping[str, Float[Tensor, "sentences E"]]
) -> dict[str, dict[str, Interval]]:
    """For each kind of words and each reader, the accuracy on the test sentences with its 95 % interval."""
    right = {reader: senses_found(table, of_reader) for reader, of_reader in vectors.items()}
    return {
        kind: {
            reader: accuracy_over_words(found[which], table.word[which]) for reader, found in right.items()
        }
        for kind, which in kinds_of_words(table).items()
    }


def random_choice(table: pd.DataFrame, which: Bool[np.ndarray, " sentences"]) -> float:
    """The expected accuracy of a sense that is chosen at random."""
    return float((1 / table[which].groupby("word").sense.transform("nunique")).mean())
