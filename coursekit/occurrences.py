"""Ambiguous words where they occur: the words of a sentence by their characters, and what is measured over their occurrences."""

import re
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit.intervals import Interval, bootstrap

if TYPE_CHECKING:  # transformers takes half a second, and whoever has a tokenizer has imported it
    from transformers import PreTrainedTokenizerBase

SENSE_PAIRS = {
    "match": ("game", "fire", "agree"),
    "current": ("electricity", "water", "present"),
    "light": ("brightness", "weight"),
}
"""Words with a pair of senses that differ in part of speech; two of them also have a pair that does not."""


def spans_of_words(text: str) -> Int[Tensor, "W 2"]:
    """Start and end of each word of a text; punctuation belongs to no word."""
    return torch.tensor([match.span() for match in re.finditer(r"\w+(?:'\w+)?", text)])


def number_of_word(text: str, start: int) -> int:
    """The number of the word that begins at character `start`."""
    return spans_of_words(text)[:, 0].tolist().index(start)


def wrong_words(
    senses: pd.DataFrame,
    tokenizer: "PreTrainedTokenizerBase",
    words_by_hash: Callable[[list[str]], list[int]],
    mended_words: Callable[[Tensor, Tensor], Tensor],
) -> dict[str, int]:
    """In how many sentences each of two ways of numbering words gives the ambiguous word another number."""
    wrong = {"by ##": 0, "by characters": 0}
    for text, start in zip(senses.sentence, senses.start, strict=True):
        given = tokenizer(text, return_offsets_mapping=True)
        offsets = torch.tensor(given["offset_mapping"])
        here, i = offsets[:, 0].tolist().index(start, 1), number_of_word(text, start)
        counted = [-1, *words_by_hash(given.tokens()[1:-1]), -1]
        wrong["by ##"] += counted[here] != i
        wrong["by characters"] += mended_words(offsets, spans_of_words(text))[here].item() != i
    return wrong


def gaps_between_senses(
    vectors: Float[Tensor, "n D"], senses: pd.DataFrame
) -> dict[str, dict[tuple[str, str], float]]:
    """For pairs of senses of three words, the mean cosine within each of the two minus the mean cosine between them."""

    def gap(word: str, *pair: str) -> float:
        rows = [
            torch.tensor(((senses.word == word) & (senses.sense == sense)).to_numpy().copy())
            for sense in pair
        ]
        one, two = (torch.nn.functional.normalize(vectors[mask], dim=-1) for mask in rows)
        same = [(x.sum(dim=0).square().sum() - len(x)) / (len(x) * (len(x) - 1)) for x in (one, two)]
        return (sum(same) / 2 - (one @ two.T).mean()).item()

    return {
        word: {pair: gap(word, *pair) for pair in combinations(among, 2)}
        for word, among in SENSE_PAIRS.items()
    }


def right_by_nearest(
    table: pd.DataFrame, vectors: Float[Tensor, "n D"], within_train: bool = False
) -> Bool[np.ndarray, " n"]:
    """Whether each test sentence gets its sense from the most similar training sentence of its word, by cosine.

    With `within_train`, each training sentence gets it from the others. The rest is False.
    """
    right, unit = np.zeros(len(table), dtype=bool), torch.nn.functional.normalize(vectors.float(), dim=1)
    train, sense = (table.split == "train").to_numpy(), table.sense.to_numpy()
    for rows in table.groupby("word").indices.values():
        labelled = rows[train[rows]]
        asked = labelled if within_train else rows[~train[rows]]
        similarity = unit[asked] @ unit[labelled].T
        if within_train:
            similarity.fill_diagonal_(-2.0)
        right[asked] = sense[labelled[similarity.argmax(dim=1).numpy()]] == sense[asked]
    return right


def accuracy_over_words(
    correct: Bool[np.ndarray, " n"] | Float[np.ndarray, " n"], words: Sequence[str], seed: int = 0
) -> Interval:
    """Mean and 95 % interval; whole words are resampled, because sentences with the same word are similar."""
    counted = pd.Series(correct.astype(float)).groupby(np.asarray(words)).agg(["sum", "count"])
    interval = bootstrap(counted.to_numpy(), lambda one: one[:, 0].sum() / one[:, 1].sum(), seed=seed)
    return (float(correct.mean()), *interval)
