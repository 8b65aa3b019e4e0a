"""Exact distributions of a mixture of templates with independent slots, by filtering.

With z the template, x the words and s(z, t) the slot that template z has at position t,

    p(x) = sum_z p(z) prod_t p(x_t | s(z, t)),        p(x_t | x_<t) = sum_z p(z | x_<t) p(x_t | s(z, t)).

The posterior p(z | x_<t) is updated and normalised at every word, so nothing underflows. The same filter is
used for the other direction, on reversed templates and sentences. Read from the right, a sentence must not
reveal how many words are still to come, so templates are aligned at their ends.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from coursekit.language.tables import PAD

# The number of sentences in a chunk: in a larger chunk more sentences begin alike, but their beliefs take more memory.
CHUNK = 512


@dataclass(frozen=True, eq=False)
class Mixture:
    """Templates with their probabilities, which determine every distribution."""

    prior: Float[np.ndarray, " templates"]
    slot_of: Int[np.ndarray, "tokens templates"]
    probability: Float[np.ndarray, "slots vocabulary"]

    def reversed(self) -> "Mixture":
        """The same sentences read from right to left: [EOS], last word, ..., [BOS], padding."""
        return Mixture(self.prior, from_the_right(self.slot_of.T).T, self.probability)


def from_the_right(ids: Int[np.ndarray, "rows tokens"]) -> Int[np.ndarray, "rows tokens"]:
    """Every row reversed, except for its padding, which stays on the right."""
    lengths = (ids != PAD).sum(axis=1, keepdims=True)
    places = np.arange(ids.shape[1])
    return np.take_along_axis(ids, np.where(places < lengths, lengths - 1 - places, places), axis=1)


@dataclass(frozen=True, eq=False)
class Belief:
    """p(z | visible words) of a few sentences. Sentences with the same visible words so far share a node.

    An entry consists of a node, a template and its weight, if this weight is not 0; entries are in the order of the nodes.
    After two or three words, fewer than one template in a hundred is left.
    """

    node_of: Int[np.ndarray, " sentences"]
    node: Int[np.ndarray, " entries"]
    template: Int[np.ndarray, " entries"]
    weight: Float[np.ndarray, " entries"]

    @classmethod
    def prior(cls, mixture: Mixture, sentences: int) -> "Belief":
        """The belief before any word."""
        templates = np.arange(len(mixture.prior))
        return cls(np.zeros(sentences, dtype=np.int64), np.zeros_like(templates), templates, mixture.prior)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return int(self.node_of.max(initial=-1)) + 1

    def total(self) -> Float[np.ndarray, " sentences"]:
        """The sum of each sentence's weights: 1, or 0 where no template is left."""
        return np.bincount(self.node, self.weight, self.nodes)[self.node_of]

    def best(self) -> Int[np.ndarray, " sentences"]:
        """The most probable template of each sentence, the first one in case of ties. Every sentence must have a template."""
        order = np.lexsort((-self.template, self.weight, self.node))
        last = np.searchsorted(self.node[order], np.arange(self.nodes), side="right") - 1
        return self.template[order][last][self.node_of]

    def split(self, child: Int[np.ndarray, " children"], node_of: Int[np.ndarray, " sentences"]) -> "Belief":
        """The belief with new nodes, each with the entries of the node that `child` states; `node_of` refers to the new nodes."""
        starts = np.searchsorted(self.node, np.arange(self.nodes + 1))
        counts = np.diff(starts)[child]
        ends = np.cumsum(counts)
        entries = np.arange(counts.sum()) + np.repeat(starts[child] - ends + counts, counts)
        node = np.repeat(np.arange(len(child)), counts)
        return Belief(node_of, node, self.template[entries], self.weight[entries])

    def by_sentence(self) -> "Belief":
        """The same belief with a separate node for each sentence."""
        return self.split(self.node_of, np.arange(len(self.node_of)))


@dataclass(frozen=True, eq=False)
class Step:
    """One position of the filter, for a chunk of sentences.

    `before` and `after` are p(z | visible words) without and with the word at the position. `evidence` is
    p(x_t | the visible words before x_t), and 1 where x_t is not visible.
    """

    position: int
    rows: slice
    before: Belief
    evidence: Float[np.ndarray, " sentences"]
    after: Belief


def walk(
    mixture: Mixture, ids: Int[np.ndarray, "sentences tokens"], visible: Bool[np.ndarray, "sentences tokens"]
) -> Iterator[Step]:
    """Filter chunk by chunk, word by word. A word that is not `visible` does not change the belief.

    After a word of probability 0 no template is left, so the evidence of all later visible words is 0.
    """
    for start in range(0, len(ids), CHUNK):
        rows = slice(start, start + CHUNK)
        words = np.where(visible[rows], ids[rows], HIDDEN).T
        belief = Belief.prior(mixture, words.shape[1])
        for t in range(len(words)):
            after, evidence = observe(mixture, t, belief, words[t])
            yield Step(t, rows, belief, evidence, after)
            belief = after


HIDDEN = -1


def observe(
    mixture: Mixture, position: int, belief: Belief, words: Int[np.ndarray, " sentences"]
) -> tuple[Belief, Float[np.ndarray, " sentences"]]:
    """The belief after the word at a position, and the probability of this word under the belief before it."""
    # a node and a word as one number: np.unique is several times slower on pairs
    choices = 1 + mixture.probability.shape[1]  # every word, and HIDDEN
    pairs, node_of = np.unique(belief.node_of * choices + (words - HIDDEN), return_inverse=True)
    parent, word = pairs // choices, pairs % choices + HIDDEN
    wider = belief.split(parent, node_of)
    slots = mixture.slot_of[position][wider.template]
    seen = word[wider.node]
    likelihood = np.where(seen == HIDDEN, 1.0, mixture.probability[slots, seen])
    joint = wider.weight * likelihood
    evidence = np.bincount(wider.node, joint, len(word))
    weight = joint / np.where(evidence > 0, evidence, 1.0)[wider.node]
    left = weight > 0
    after = Belief(wider.node_of, wider.node[left], wider.template[left], weight[left])
    return after, np.where(word == HIDDEN, 1.0, evidence)[wider.node_of]


def posteriors(
    mixture: Mixture, ids: Int[np.ndarray, "sentences tokens"], visible: Bool[np.ndarray, "sentences tokens"]
) -> Iterator[tuple[slice, Belief]]:
    """For each chunk: its rows, and p(z | all visible words)."""
    for step in walk(mixture, ids, visible):
        if step.position == ids.shape[1] - 1:
            yield step.rows, step.after


def probability_of(
    mixture: Mixture, position: int, belief: Belief, words: Int[np.ndarray, " sentences"]
) -> Float[np.ndarray, " sentences"]:
    """sum_z w(z) p(word of the sentence | s(z, position))."""
    each = belief.by_sentence()
    likelihood = mixture.probability[mixture.slot_of[position][each.template], words[each.node]]
    return np.bincount(each.node, each.weight * likelihood, len(words))


def predictive(mixture: Mixture, position: int, belief: Belief) -> Float[np.ndarray, "sentences vocabulary"]:
    """The distribution of the word at a position: sum_z w(z) p(v | s(z, position))."""
    slots, place = np.unique(mixture.slot_of[position][belief.template], return_inverse=True)
    shape = belief.nodes, len(slots)
    by_slot = np.bincount(np.ravel_multi_index((belief.node, place), shape), belief.weight, np.prod(shape))
    return (by_slot.reshape(shape) @ mixture.probability[slots])[belief.node_of]
