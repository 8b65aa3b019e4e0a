"""Exact distributions of a mixture of templates with independent slots, by filtering.

With z the template, x the words and s(z, t) the slot that template z has at position t,

    p(x) = sum_z p(z) prod_t p(x_t | s(z, t)),        p(x_t | x_<t) = sum_z p(z | x_<t) p(x_t | s(z, t)).

The posterior p(z | x_<t) is carried along and normalised at every word, so nothing underflows. The same
filter serves the other direction on reversed templates and sentences: read from the right, a sentence must
not know how many words are still to come, so templates are aligned at their ends.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from coursekit.language.tables import PAD

# Sentences at a time: a posterior of a few thousand templates for each stays in the processor's cache.
CHUNK = 128


@dataclass(frozen=True, eq=False)
class Mixture:
    """Templates with their probabilities: all that a distribution depends on."""

    prior: Float[np.ndarray, " templates"]
    slot_of: Int[np.ndarray, "tokens templates"]
    probability: Float[np.ndarray, "slots vocabulary"]

    def reversed(self) -> "Mixture":
        """The same sentences read from right to left: [EOS], last word, ..., [BOS], padding."""
        return Mixture(self.prior, reverse_padded(self.slot_of.T).T, self.probability)


def reverse_padded(ids: Int[np.ndarray, "rows tokens"]) -> Int[np.ndarray, "rows tokens"]:
    """Every row reversed up to its padding, which stays on the right."""
    lengths = (ids != PAD).sum(axis=1, keepdims=True)
    places = np.arange(ids.shape[1])
    return np.take_along_axis(ids, np.where(places < lengths, lengths - 1 - places, places), axis=1)


@dataclass(frozen=True, eq=False)
class Step:
    """One position of the filter, for a chunk of sentences.

    `before` and `after` are p(z | visible words) without and with the word at the position, `likelihood` is
    p(x_t | s(z, t)) and `evidence` p(x_t | visible words before it).
    """

    position: int
    rows: slice
    before: Float[np.ndarray, "templates sentences"]
    likelihood: Float[np.ndarray, "templates sentences"]
    evidence: Float[np.ndarray, " sentences"]
    after: Float[np.ndarray, "templates sentences"]


def walk(
    mixture: Mixture, ids: Int[np.ndarray, "sentences tokens"], visible: Bool[np.ndarray, "sentences tokens"]
) -> Iterator[Step]:
    """Filter chunk by chunk, word by word. A word that is not `visible` leaves the posterior as it was.

    After a word of probability 0 the posterior is 0 everywhere, and so is the evidence of all that follows.
    """
    for start in range(0, len(ids), CHUNK):
        rows = slice(start, start + CHUNK)
        words, seen = ids[rows].T, visible[rows].T
        posterior = np.repeat(mixture.prior[:, None], words.shape[1], axis=1)
        for t in range(len(words)):
            likelihood = mixture.probability[:, words[t]][mixture.slot_of[t]]
            after = posterior * likelihood
            evidence = after.sum(axis=0)
            after /= np.where(evidence > 0, evidence, 1.0)
            after = after if seen[t].all() else np.where(seen[t], after, posterior)
            yield Step(t, rows, posterior, likelihood, evidence, after)
            posterior = after


def posteriors(
    mixture: Mixture, ids: Int[np.ndarray, "sentences tokens"], visible: Bool[np.ndarray, "sentences tokens"]
) -> Iterator[tuple[slice, Float[np.ndarray, "templates sentences"]]]:
    """For each chunk its rows, and p(z | all visible words)."""
    for step in walk(mixture, ids, visible):
        if step.position == ids.shape[1] - 1:
            yield step.rows, step.after


def slot_weights(
    slots: Int[np.ndarray, " templates"], weights: Float[np.ndarray, "templates sentences"]
) -> tuple[Int[np.ndarray, " slots"], Float[np.ndarray, "slots sentences"]]:
    """The slots that occur, and the weight of the templates that have each: sum_z w(z) [s(z) = slot]."""
    order = np.argsort(slots, kind="stable")
    occurring, starts = np.unique(slots[order], return_index=True)
    return occurring, np.add.reduceat(weights[order], starts, axis=0)


def predictive(
    mixture: Mixture, position: int, weights: Float[np.ndarray, "templates sentences"]
) -> Float[np.ndarray, "sentences vocabulary"]:
    """The distribution of the word at a position: sum_z w(z) p(v | s(z, position))."""
    slots, by_slot = slot_weights(mixture.slot_of[position], weights)
    return by_slot.T @ mixture.probability[slots]
