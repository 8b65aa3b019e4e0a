"""Sentences in which the senses of ambiguous words have names or other frequencies, for notebook 01."""

import numpy as np
from jaxtyping import Int

from coursekit.language.model import Language
from coursekit.language.sentences import Sentences


def with_senses_named(
    sentences: Sentences, first_id: int
) -> tuple[Int[np.ndarray, "n T"], dict[tuple[int, int], int]]:
    """The token ids, with a separate id for each sense of an ambiguous word, and a dictionary {(word, sense): id}.

    The new ids begin at `first_id`.
    """
    ids, rows = sentences.ids.copy(), np.flatnonzero(sentences.position >= 0)
    where = rows, sentences.position[rows]
    found, which = np.unique(np.stack([ids[where], sentences.sense[rows]], 1), axis=0, return_inverse=True)
    ids[where] = first_id + which
    return ids, {(word, sense): first_id + i for i, (word, sense) in enumerate(found.tolist())}


def with_rarer_senses(language: Language, sentences: Sentences, rng: np.random.Generator) -> Sentences:
    """The sentences, after removing 5 to 90 % of those in which an ambiguous word has its first sense; the share depends on the word."""
    kept_share = np.ones(len(language.senses))
    first = [language.senses.index(senses[0]) for senses in language.ambiguous.values()]
    kept_share[first] = rng.permutation(np.linspace(0.1, 0.95, len(first)))
    return sentences[(sentences.sense < 0) | (rng.random(len(sentences)) < kept_share[sentences.sense])]
