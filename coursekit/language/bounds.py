"""The best possible results, estimated on sentences by the exact model, with standard errors.

A bound on held-out sentences is the loss of the true language on those very sentences, so a trained model's
loss on them can be compared with it directly, sentence by sentence. `Language.split_gain` gives the further gain of a model that knew which combinations are held out.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from coursekit.language.model import Language
from coursekit.language.sentences import Sentences
from coursekit.language.tables import BOS, EOS, PAD


@dataclass(frozen=True)
class Estimate:
    """A mean over sentences and its standard error."""

    mean: float
    standard_error: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.standard_error:.3f}"


def ratio(totals: Float[np.ndarray, " sentences"], counts: Int[np.ndarray, " sentences"]) -> Estimate:
    """sum(totals) / sum(counts), with sentences as the independent draws (delta method)."""
    mean = totals.sum() / counts.sum()
    spread = np.sqrt(((totals - mean * counts) ** 2).sum()) / counts.sum()
    return Estimate(float(mean), float(spread))


def next_word_bound(language: Language, sentences: Sentences) -> Estimate:
    """Nats per token of the best left-to-right model; words and [EOS] are predicted, and [BOS] is given."""
    return ratio(language.log_loss_next(sentences.ids).sum(axis=1), sentences.lengths - 1)


def previous_word_bound(language: Language, sentences: Sentences) -> Estimate:
    """Nats per token of the best right-to-left model; words and [BOS] are predicted, and [EOS] is given."""
    return ratio(language.log_loss_previous(sentences.ids).sum(axis=1), sentences.lengths - 1)


def choose_masked(
    ids: Int[np.ndarray, "sentences tokens"], rng: np.random.Generator, share: float = 0.15
) -> Bool[np.ndarray, "sentences tokens"]:
    """Words chosen to be masked, each with probability `share`; special tokens never are."""
    return (rng.random(ids.shape) < share) & ~np.isin(ids, (PAD, BOS, EOS))


def masked_word_bound(
    language: Language, sentences: Sentences, masked: Bool[np.ndarray, "sentences tokens"]
) -> Estimate:
    """Nats per masked word of the best bidirectional model, where all chosen words are [MASK]."""
    return ratio(language.log_loss_masked(sentences.ids, masked).sum(axis=1), masked.sum(axis=1))


def sense_bound(
    language: Language, sentences: Sentences, context: Literal["left", "right", "both"]
) -> Estimate:
    """Fraction of ambiguous words whose sense is predicted correctly from this context.

    This is the mean of the highest posterior probability, which varies less than a count of correct predictions and does not
    depend on how ties are broken. Sentences without an ambiguous word are left out.
    """
    chosen = sentences[sentences.position >= 0]
    best = language.sense_posterior(chosen.ids, chosen.position, context).max(axis=1)
    return ratio(best, np.ones(len(chosen)))
