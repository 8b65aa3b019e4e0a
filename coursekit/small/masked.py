"""Held-out sentences whose chosen words are all masked, for which the entropy is known exactly (notebook 06).

    bert, held_out = load("bert"), mask_held_out(language, corrupt)
    baselines(mlm_loss, bert, held_out, sentences)       # compared with held_out.entropy

`corrupt` is the student's masking: (ids, size of the vocabulary, generator) -> (corrupted ids, labels).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit.language import Language, Sentences
from coursekit.small.bert import BERT, MASK, PAD, SEP, UNCHOSEN, single

Corrupt = Callable[[Tensor, int, torch.Generator], tuple[Tensor, Tensor]]
MaskedLoss = Callable[[Float[Tensor, "B T V"], Int[Tensor, "B T"]], Tensor]
"""The mean loss in nats at the labels that are not UNCHOSEN, such as the student's `mlm_loss`."""


@dataclass(frozen=True)
class Corruption:
    """What was done to the words of some sentences.

    shares             proportions: which tokens, among which tokens, and the intended proportion
    special            the number of special tokens, and how many of them were chosen
    changed_per_100    how many of 100 words are different in the model's input
    """

    shares: dict[str, tuple[Bool[Tensor, "B T"], Bool[Tensor, "B T"], float]]
    special: tuple[int, int]
    changed_per_100: float


def measure_corruption(language: Language, sentences: Sentences, corrupt: Corrupt) -> Corruption:
    """Corrupt sentences and count what became of their words."""
    clean = single(torch.from_numpy(sentences.ids))
    corrupted, labels = corrupt(clean, len(language.vocabulary), torch.Generator().manual_seed(6))
    is_word, chosen, changed = clean > SEP, labels != UNCHOSEN, corrupted != clean
    shares = {
        "words that are chosen": (chosen, is_word, 0.15),
        "chosen words replaced by [MASK]": (corrupted == MASK, chosen, 0.8),
        "chosen words replaced by another word": (changed & (corrupted != MASK), chosen, 0.1),
        "chosen words left unchanged": (chosen & ~changed, chosen, 0.1),
    }
    special = int((~is_word).sum()), int((chosen & ~is_word).sum())
    return Corruption(shares, special, 100 * changed.sum().item() / is_word.sum().item())


@dataclass(frozen=True)
class MaskedSentences:
    """Sentences of the language as BERT reads them, with the labels of the chosen words."""

    language: Language
    ids: Int[np.ndarray, "sentences tokens"]
    clean: Int[Tensor, "sentences tokens"]
    labels: Int[Tensor, "sentences tokens"]

    @property
    def hidden(self) -> Bool[Tensor, "sentences tokens"]:
        """Where a word was chosen."""
        return self.labels != UNCHOSEN

    @property
    def masked(self) -> Int[Tensor, "sentences tokens"]:
        """The sentences with [MASK] in place of every chosen word."""
        return self.clean.masked_fill(self.hidden, MASK)

    @cached_property
    def entropy(self) -> float:
        """The lowest expected loss of a masked word, in nats."""
        hidden = self.hidden.numpy()
        return self.language.log_loss_masked(self.ids, hidden)[hidden].mean()

    @property
    def labels_per_100_words(self) -> float:
        """How many of 100 words were chosen."""
        return 100 * self.hidden.sum().item() / (self.clean > SEP).sum().item()


def mask_held_out(
    language: Language, corrupt: Corrupt, sentences: int = 1000, seed: int = 60
) -> MaskedSentences:
    """Held-out sentences, of which `corrupt` chooses the words."""
    ids = language.sample(sentences, np.random.default_rng(seed), split="held_out").ids
    clean = single(torch.from_numpy(ids))
    _, labels = corrupt(clean, len(language.vocabulary), torch.Generator().manual_seed(seed))
    return MaskedSentences(language, ids, clean, labels)


@torch.no_grad()
def baselines(
    loss: MaskedLoss, bert: BERT, held_out: MaskedSentences, sentences: Sentences
) -> dict[str, float]:
    """The losses of three baselines and the entropy, in nats per masked word; printed, and returned.

    `bert` gives the sizes of the untrained model; word frequencies are counted in `sentences`.
    """
    size, sample = len(held_out.language.vocabulary), single(torch.from_numpy(sentences.ids))
    frequency = torch.bincount(sample.flatten(), minlength=size).double() + 0.5
    torch.manual_seed(0)
    untrained = BERT(bert.config).eval()
    ladder = {
        "uniform distribution (ln V)": np.log(size),
        "BERT before training": loss(untrained(held_out.masked).logits, held_out.labels).item(),
        "word frequencies": loss(
            frequency.log().expand(*held_out.clean.shape, -1), held_out.labels
        ).item(),
        "best possible: the entropy": held_out.entropy,
    }  # fmt: skip
    for name, nats in ladder.items():
        print(f"{name:<32} {nats:.2f} nats per masked word, perplexity {np.exp(nats):8,.1f}")
    return ladder


@torch.no_grad()
def first_losses(
    expected: Callable[[Float[Tensor, "N D"], int, float], Tensor],
    loss: MaskedLoss,
    bert: BERT,
    held_out: MaskedSentences,
    std: float,
) -> Float[np.ndarray, "seeds 2"]:
    """The first loss, expected and measured, of ten models whose embeddings have this standard deviation.

    `expected` computes it from the vectors at the masked words, the size of the vocabulary and the standard deviation. The
    models have the sizes of `bert` and are untrained.
    """
    few, labels = held_out.masked[:200], held_out.labels[:200]
    chosen = labels != UNCHOSEN
    found = []
    for seed in range(10):
        torch.manual_seed(seed)
        model = BERT(bert.config).eval()
        table, head = model.embeddings.token.weight, model.masked_word
        table.mul_(std / 0.2)
        top = model.encode(model.embeddings(few, torch.zeros_like(few)), few != PAD)[-1][chosen]
        vectors = head.norm(torch.nn.functional.gelu(head.transform(top)))
        measured = loss((vectors @ table.T)[None], labels[chosen][None])
        found.append((float(expected(vectors, len(held_out.language.vocabulary), std)), measured.item()))
    return np.array(found)
