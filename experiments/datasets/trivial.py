"""What can be measured of a text without understanding it: its length, its punctuation, its words without their order."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

MARKS = [",", ";", ":", "!", "?", "'", '"', "-", "(", "."]


def lengths(texts: Sequence[str]) -> Float[np.ndarray, "texts 3"]:
    """Words, characters, and characters per word, each scaled to about 1."""
    words = np.array([len(text.split()) for text in texts], dtype=float)
    characters = np.array([len(text) for text in texts], dtype=float)
    return np.stack([words / 10, characters / 50, characters / words / 5], axis=1)


def punctuation(texts: Sequence[str]) -> Float[np.ndarray, "texts marks"]:
    """How often each mark occurs, and how many words begin with a capital or contain a digit."""
    marks = [[text.count(mark) for mark in MARKS] for text in texts]
    words = [[len(re.findall(r"\b[A-Z]", text)), len(re.findall(r"\d+", text))] for text in texts]
    return np.hstack([marks, words]).astype(float)


def bags(texts: Sequence[str], learned_from: Bool[np.ndarray, " texts"]) -> csr_array:
    """Which words of the training texts each text contains, each row of length 1."""
    texts = np.asarray(texts, dtype=object)
    held = (
        CountVectorizer(binary=True, token_pattern=r"[a-z0-9]+(?:'[a-z]+)?")
        .fit(texts[learned_from])
        .transform(texts)
    )
    size = np.sqrt(np.maximum(np.asarray(held.sum(axis=1)).ravel(), 1))
    return csr_array(held.multiply(1 / size[:, None]))


def indicators(bags: pd.Series, train: pd.Series) -> Bool[np.ndarray, "texts words"]:
    """Which words of the training texts each text contains; a bag is a set of words."""
    vocabulary = sorted(set().union(*bags[train]))
    return np.array([[word in bag for word in vocabulary] for bag in bags])


def one_after_the_other(learned: pd.DataFrame, asked: pd.DataFrame) -> pd.DataFrame:
    """The train and validation rows of one table, then all of another as `test`: trained on one data set, tested on the other."""
    return pd.concat([learned[learned["split"] != "test"], asked.assign(split="test")], ignore_index=True)[
        ["text", "label", "split"]
    ]
