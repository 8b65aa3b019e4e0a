"""Ambiguous nouns in the models of the novels, layer by layer: their vectors, the senses found from these, and baselines without layers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit.datasets import read_table
from coursekit.intervals import Interval
from coursekit.novels.shipped import load_bert, load_elmo, load_gpt, load_skipgram
from coursekit.occurrences import accuracy_over_words, number_of_word, spans_of_words
from coursekit.sense_readers import right_by_window
from coursekit.small.bert import BOS, CLS, SEP

OF_NOVELS = "ELMo", "BERT", "GPT"
YOUNGER = {"mouse computer", "jam traffic", "cell phone"}
"""Senses that arose after the novels."""

CUE_LATER = "every cue comes after the word: − chance"
PRECEDING = "preceding words, no model"


class NovelModels:
    """The three models of the novels, which return the vectors of a word. The student's functions find it among the tokens."""

    def __init__(
        self,
        mended_words: Callable[[Tensor, Tensor], Tensor],
        word_vectors: Callable[[Tensor, Tensor, int], Tensor],
    ):
        self.mended_words, self.word_vectors = mended_words, word_vectors
        self.elmo, self.spelling = load_elmo()
        self.bert, self.pieces = load_bert()
        self.gpt, _ = load_gpt()  # the same subwords

    def read(self, name: str, text: str, start: int) -> tuple[Tensor, Int[Tensor, " T"], int]:
        """A model's input for a text, the word number of each token, and the number of the word that begins at `start`."""
        if name == "ELMo":  # a token is a word
            there, before = self.spelling.split(text), self.spelling.split(text[:start])
            numbers = torch.arange(-1, len(there) + 1)
            return self.spelling.of_words(["[BOS]", *there, "[EOS]"]), numbers, len(before)
        encoded = self.pieces.encode(text, add_special_tokens=False)
        ids, spans = [CLS if name == "BERT" else BOS, *encoded.ids], [(0, 0), *encoded.offsets]
        if name == "BERT":
            ids, spans = [*ids, SEP], [*spans, (0, 0)]
        word_ids = self.mended_words(torch.tensor(spans), spans_of_words(text))
        return torch.tensor(ids), word_ids, number_of_word(text, start)

    def all_layers(self, name: str, read: Int[Tensor, "B T ..."]) -> Float[Tensor, "L+1 B T D"]:
        """The hidden states of texts with the same number of tokens, so that no padding is needed."""
        everywhere = torch.ones(read.shape[:2], dtype=torch.bool)
        if name == "ELMo":
            return self.elmo.encode(self.elmo.token(read), everywhere)
        if name == "BERT":
            return self.bert.encode(self.bert.embeddings(read, torch.zeros_like(read)), everywhere)
        return self.gpt.encode(self.gpt.embed(read))

    @torch.no_grad()
    def vectors(self, name: str, texts: Sequence[str], starts: Sequence[int]) -> Float[Tensor, "n L+1 D"]:
        """The vector of the word that begins at character `starts[n]` of text n, at every layer."""
        read = [self.read(name, *which) for which in zip(texts, starts, strict=True)]
        lengths = np.array([len(tokens) for tokens, _, _ in read])
        made: list[Tensor] = [torch.empty(0)] * len(read)
        for length in np.unique(lengths):
            of_length = np.flatnonzero(lengths == length)
            for batch in np.array_split(of_length, len(of_length) // 64 + 1):
                states = self.all_layers(name, torch.stack([read[n][0] for n in batch]))
                for at, n in enumerate(batch):
                    made[n] = self.word_vectors(states[:, at], *read[n][1:])
        return torch.stack(made)


@dataclass(frozen=True, eq=False)
class AmbiguousNouns:
    """Sentences with a noun that has several senses in the novels."""

    table: pd.DataFrame
    rows_of_senses: list[int]
    """The rows of `data/senses/senses.csv` with which the table begins; those of `novels.csv` follow."""

    @classmethod
    def known_to(cls, spelling_words: Sequence[str], senses: pd.DataFrame) -> "AmbiguousNouns":
        """The nouns of `senses` that are among the novels' frequent words, without younger senses, and *state*."""
        known = senses[
            (senses.parts_of_speech == "same")
            & senses.word.isin(spelling_words)
            & ~(senses.word + " " + senses.sense).isin(YOUNGER)
        ]
        known = known[known.groupby("word").sense.transform("nunique") > 1]
        of_state = read_table("senses/novels.csv").query("word == 'state'")
        return cls(pd.concat([known, of_state], ignore_index=True), known.index.tolist())

    @cached_property
    def words(self) -> Int[Tensor, " n"]:
        """The number of each sentence's word."""
        return torch.tensor(pd.factorize(self.table.word)[0])

    @cached_property
    def senses(self) -> Int[Tensor, " n"]:
        """The number of each sentence's sense, different for every word."""
        return torch.tensor(pd.factorize(self.table.word + " " + self.table.sense)[0])

    @cached_property
    def train(self) -> Bool[Tensor, " n"]:
        """Which sentences are labelled."""
        return torch.tensor((self.table.split == "train").to_numpy().copy())

    @cached_property
    def asked(self) -> pd.DataFrame:
        """The m test sentences."""
        return self.table[~self.train.numpy()].reset_index(drop=True)


@dataclass(frozen=True, eq=False)
class SensesByLayer:
    """Which senses each model finds at each layer, which ones are found without a model, and their comparisons."""

    asked: pd.DataFrame
    correct: dict[str, Float[np.ndarray, "L+1 m"]]
    best: dict[str, int]
    """The layer from 1 upwards that is best on the training sentences."""
    without_layers: dict[str, Float[np.ndarray, " m"]]
    words_before: Float[np.ndarray, " m"]
    """Found from the preceding words alone (skip-gram)."""

    @cached_property
    def cue_later(self) -> Bool[np.ndarray, " m"]:
        """In which test sentences every cue comes after the word."""
        return (self.asked.kind == "right").to_numpy()

    @property
    def parts(self) -> dict[str, Bool[np.ndarray, " m"]]:
        """Test sentences by where their cues are."""
        return {"other sentences": ~self.cue_later, "every cue comes after the word": self.cue_later}

    @property
    def chosen(self) -> dict[str, Float[np.ndarray, " m"]]:
        """What each model finds at its chosen layer."""
        return {name: rows[self.best[name]] for name, rows in self.correct.items()}

    def mean(self, values: np.ndarray, those: np.ndarray | None = None) -> Interval:
        """The mean of an accuracy or a difference over (some of) the test sentences, with its interval over words."""
        those = np.full(len(self.asked), True) if those is None else those
        return accuracy_over_words(values[those], self.asked.word[those])

    @cached_property
    def above_others(self) -> dict[str, dict[str, Interval]]:
        """The differences between the chosen layer and layer 1 or the baselines, by model; and one without a model."""
        chance = self.without_layers["majority"]
        return {
            name: {
                "− layer 1": self.mean(found - self.correct[name][1]),
                "− bag of words": self.mean(found - self.without_layers["bag"]),
                "− near words": self.mean(found - self.without_layers["near words"]),
                "− window of two": self.mean(found - self.without_layers["window of two"]),
                CUE_LATER: self.mean(found - chance, self.cue_later),
            }
            for name, found in self.chosen.items()
        } | {PRECEDING: {CUE_LATER: self.mean(self.words_before - chance, self.cue_later)}}


def senses_by_layer(
    nouns: AmbiguousNouns,
    vectors: Mapping[str, Float[Tensor, "n L+1 D"]],
    words_of: Callable[[str], list[str]],
    disambiguate: Callable[..., Tensor],
) -> SensesByLayer:
    """What the student's function finds in each model's vectors, and what is found without a model. `words_of` splits a sentence."""
    number = torch.tensor(nouns.table.groupby(["word", "split"]).cumcount().to_numpy().copy())
    train = nouns.train

    def found(vectors: Tensor, labelled: Tensor, those: Tensor) -> Float[np.ndarray, " m"]:
        guess = disambiguate(
            vectors[labelled], nouns.words[labelled], nouns.senses[labelled], vectors[those], nouns.words[those]
        )  # fmt: skip
        return (guess == nouns.senses[those]).float().numpy()

    def best_within_train(vectors: Float[Tensor, "n L+1 D"]) -> int:
        each = range(int(number[train].max()) + 1)
        shares = [
            np.concatenate(
                [found(vectors[:, layer], train & (number != n), train & (number == n)) for n in each]
            ).mean()
            for layer in range(1, vectors.shape[1])
        ]
        return 1 + int(np.argmax(shares))

    skip_gram = dict(zip(*load_skipgram(), strict=True))
    around = [
        _other_words(sentence, start, words_of)
        for sentence, start in zip(nouns.table.sentence, nouns.table.start, strict=True)
    ]
    windows = [{f"{far} {word}": 1 for far, word in others if abs(far) <= 2} for others in around]

    def by_skip_gram(weight_of: Callable[[int], float]) -> Float[np.ndarray, " m"]:
        sums = [
            sum((weight_of(far) * skip_gram[word] for far, word in others if word in skip_gram), torch.zeros(100))
            for others in around
        ]  # fmt: skip
        return found(torch.stack(sums), train, ~train)

    return SensesByLayer(
        nouns.asked,
        {
            name: np.stack([found(one[:, layer], train, ~train) for layer in range(one.shape[1])])
            for name, one in vectors.items()
        },
        {name: best_within_train(one) for name, one in vectors.items()},
        {
            "window of two": right_by_window(nouns.table, windows)[~train.numpy()].astype(float),
            "near words": by_skip_gram(lambda far: 1 / abs(far)),
            "bag": by_skip_gram(lambda far: 1),
            "majority": 1 / nouns.asked.groupby("word").sense.transform("nunique").to_numpy(),
        },
        by_skip_gram(lambda far: (far < 0) / abs(far)),
    )


def _other_words(text: str, start: int, words_of: Callable[[str], list[str]]) -> list[tuple[int, str]]:
    """The other words of a sentence, each with its distance from the ambiguous word (negative if it comes before)."""
    place = len(words_of(text[:start]))
    return [(at - place, word) for at, word in enumerate(words_of(text)) if at != place]
