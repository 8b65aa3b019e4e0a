"""What was recorded for notebook 08 on sentences that other people wrote: by word and layer, parts of speech in Brown and senses in WordNet."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from coursekit.datasets import read_table
from coursekit.intervals import Interval, bootstrap


class Recorded(NamedTuple):
    """Tables with a row for each word and a column for each layer ("layer 0", …) and baseline."""

    brown: pd.DataFrame
    """The proportion of test occurrences that get the correct part of speech; index: "same words" or "unseen words" (in training), word."""
    wordnet: pd.DataFrame
    """How often two examples of one sense are closer than two of different senses (AUC); index: which different senses ("all", "other field" or "same field"), part of speech, word."""


def recorded() -> Recorded:
    """What `python -m experiments inside_corpora` measured."""
    wordnet = read_table("results/inside_wordnet.csv").set_index(["kind", "part", "word"]).sort_index()
    brown = read_table("results/inside_brown.csv").set_index(["setting", "word"])
    return Recorded(brown, wordnet[wordnet["layer 0"].notna()])


def by_layer(table: pd.DataFrame) -> list[Interval]:
    """The mean over words in each layer, with its interval."""
    return [over_words(table[name].to_numpy()) for name in table if str(name).startswith("layer ")]


def over_words(values: Float[np.ndarray, " words"]) -> Interval:
    """The mean over words with its 95 % interval; whole words are resampled."""
    return float(values.mean()), *bootstrap(values)


def auc(above: Float[np.ndarray, " n"], below: Float[np.ndarray, " m"]) -> float:
    """The proportion of comparisons in which a value of the first list is larger, ties counted as half; NaN if there are none."""
    if not len(above) or not len(below):
        return float("nan")
    return float((above[:, None] > below).mean() + (above[:, None] == below).mean() / 2)


def aucs_by_word(vectors: Float[Tensor, "n L+1 D"], rows: pd.DataFrame) -> pd.DataFrame:
    """The same AUC for sentences whose vectors are known, for each word of `rows` (columns word and sense) and at every layer."""
    found = {}
    for word, places in rows.groupby("word").indices.items():
        unit = normalize(vectors[torch.tensor(places)], dim=-1)
        cosines = torch.einsum("ild,jld->lij", unit, unit).numpy()
        one, other = np.triu_indices(len(places), 1)
        sense = rows.sense.to_numpy()[places]
        same = sense[one] == sense[other]
        found[word] = [auc(layer[one, other][same], layer[one, other][~same]) for layer in cosines]
    return pd.DataFrame(found, index=[f"layer {layer}" for layer in range(vectors.shape[1])]).T
