"""Groups of answers to begin with, by what they say. A person opens, splits and joins them; nothing here gives points."""

from collections.abc import Sequence

import numpy as np

from autograder.errors import can_compare_texts
from autograder.written.text_similarity import (
    Encoder,
    same_words,
    similarity_in_letters,
    similarity_in_meaning,
    similarity_in_words,
)

NEAR_COPY = 0.6  # in letters: the same sentences with a few words changed
# Of the similarity below, between any two of a group; docs/written.md measures the first.
ALIKE, ALIKE_IN_WORDS = 0.55, 0.2
LETTERS = 0.5  # what they count beside meaning, which counts 1
MOST_COMPARED = 3000  # different texts; the rest are grouped as exact copies only

Groups = list[list[int]]
"""The places of the texts that belong together."""


def propose(texts: Sequence[str], encoder: Encoder | None) -> Groups:
    """Groups of texts: the largest first, then single ones, those that are nearest to none last.

    Within a group the text that is most like all answers comes first, and exact copies stand together. Without the extra
    `similarity` there are no groups but those of exact copies.
    """
    copies: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        copies.setdefault(same_words(text), []).append(place)
    bundles = list(copies.values())
    if not can_compare_texts():
        return sorted(bundles, key=len, reverse=True)
    firsts = [texts[bundle[0]] for bundle in bundles]
    compared, rest = firsts[:MOST_COMPARED], bundles[MOST_COMPARED:]
    similarity = similarities(compared, encoder)
    labels = alike_together(similarity, ALIKE if encoder else ALIKE_IN_WORDS)
    nearest = _nearest(similarity)
    groups = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        central = similarity[np.ix_(members, members)] @ [len(bundles[place]) for place in members]
        group = [text for place in members[np.argsort(-central, kind="stable")] for text in bundles[place]]
        groups.append((group, nearest[members].max()))
    groups.sort(key=lambda pair: (-len(pair[0]), -pair[1]))
    return [group for group, _ in groups] + sorted(rest, key=len, reverse=True)


def similarities(texts: Sequence[str], encoder: Encoder | None) -> np.ndarray:
    """How alike each two texts are, at most 1: in meaning and letters, or without an encoder in words and letters.

    Near copies count as alike whatever the rest says.
    """
    if len(texts) < 2:
        return np.eye(len(texts), dtype=np.float32)
    letters = similarity_in_letters(texts)
    other = similarity_in_meaning(texts, encoder) if encoder else similarity_in_words(texts)
    similarity = (other + LETTERS * letters) / (1 + LETTERS)
    return np.where(letters >= NEAR_COPY, np.maximum(similarity, letters), similarity)


def alike_together(similarity: np.ndarray, alike: float) -> np.ndarray:
    """A label for each text; any two of one label are at least so alike (complete linkage)."""
    if len(similarity) < 2:
        return np.arange(len(similarity))
    from scipy.cluster.hierarchy import fcluster, linkage  # optional: the extra `similarity`
    from scipy.spatial.distance import squareform  # optional: the extra `similarity`

    distances = squareform(np.clip(1 - similarity, 0, None), checks=False)
    return fcluster(linkage(distances, "complete"), 1 - alike, "distance")


def _nearest(similarity: np.ndarray) -> np.ndarray:
    """Of each text the similarity to the one that is nearest to it."""
    others = np.array(similarity, copy=True)
    np.fill_diagonal(others, -1)
    return others.max(axis=1, initial=-1)
