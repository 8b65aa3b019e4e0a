"""Training a small BERT on sentence pairs of a part of the language within seconds (notebook 06).

    corner = simple_language("prison", "river", "night")
    rows = training_rows(corner, encode_pair, count=100)
    ids, segments, not_next = batch_of(rows, collate)
    test = held_out_test(corner, encode_pair, collate, corrupt)

`encode_pair`, `collate`, `corrupt` and the losses are the student's functions.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coursekit.language import Language, load_language
from coursekit.language.grammar import GRAMMAR
from coursekit.language.sentences import Passages
from coursekit.small.bert import BERT, CLS, MASK, PAD, SEP, UNCHOSEN, single
from coursekit.small.masked import Corrupt, MaskedLoss

Encode = Callable[[Tensor, Tensor, int, int, int, int], tuple[Tensor, Tensor, Tensor]]
Collate = Callable[[Sequence[list[int]]], tuple[Tensor, Tensor]]
Row = tuple[list[int], list[int], int]
"""Ids, segments and next-sentence label (1: does not continue) of a pair."""
Batch = tuple[Int[Tensor, "B T"], Int[Tensor, "B T"], Int[Tensor, " B"]]


def simple_language(*topics: str) -> Language:
    """The sentences of some topics, without those whose sense depends on word order or on a cue on the right."""
    shares = {kind: GRAMMAR.shares[kind] for kind in ("none", "left")}
    return Language.from_grammar(replace(GRAMMAR.only(*topics), shares=shares))


def longest_pair(language: Language) -> int:
    """The number of tokens of a pair of the language's longest sentences."""
    return 2 * language.max_length - 1


def training_rows(language: Language, encode_pair: Encode, count: int) -> list[Row]:
    """Pairs of sentences of the training split, encoded; prints their number and the size of the vocabulary."""
    rows = _encoded(language, language.passages(count, np.random.default_rng(0), split="train"), encode_pair)
    print(
        f"vocabulary: {len(language.vocabulary)} instead of {len(load_language().vocabulary):,} words; "
        f"training data: {len(rows):,} pairs of up to {max(len(ids) for ids, _, _ in rows)} tokens"
    )
    return rows


def _encoded(language: Language, passages: Passages, encode_pair: Encode) -> list[Row]:
    """Each passage as `encode_pair` returns it, with the padding removed."""
    tokens = longest_pair(language)
    sides = (
        [torch.from_numpy(row[row > SEP]) for row in side.ids] for side in (passages.first, passages.second)
    )
    pairs = (encode_pair(a, b, tokens, CLS, SEP, PAD) for a, b in zip(*sides, strict=True))
    return [
        (ids[real].tolist(), segments[real].tolist(), int(not continues))
        for (ids, segments, real), continues in zip(pairs, passages.continues, strict=True)
    ]


def batch_of(rows: Sequence[Row], collate: Collate) -> Batch:
    """One batch: (ids, segments, next-sentence labels), padded by `collate`."""
    ids, segments, labels = zip(*rows, strict=True)
    return collate(ids)[0], collate(segments)[0], torch.tensor(labels)


@dataclass(frozen=True)
class PairTest:
    """Held-out pairs, and the words that are masked in those of different texts.

    In such a pair neither sentence contains information about the other, so the exact prediction for a masked word is
    that for the word's own sentence.
    """

    language: Language
    passages: Passages
    batch: Batch
    labels: Int[Tensor, "apart T"]

    @property
    def apart(self) -> Bool[Tensor, " B"]:
        """Which pairs consist of sentences from different texts."""
        return self.batch[2] == 1

    @property
    def hidden(self) -> Bool[Tensor, "apart T"]:
        """The masked words of these pairs."""
        return self.labels != UNCHOSEN

    def entropies(self) -> tuple[float, float]:
        """The lowest expected losses, in nats per masked word and in nats per pair."""
        strangers, segments = self.batch[0][self.apart], self.batch[1][self.apart]
        losses = []
        for side, segment in ((self.passages.first, 0), (self.passages.second, 1)):
            ids = side.ids[~self.passages.continues]
            masked = np.zeros(ids.shape, dtype=bool)
            of_side = (segments == segment) & (strangers > SEP)
            masked[ids > SEP] = self.hidden[of_side].numpy()  # the same words, in the same order
            losses.append(self.language.log_loss_masked(ids, masked)[masked])
        continues = self.language.continuation_posterior(self.passages.first.ids, self.passages.second.ids)
        right_answer = np.where(self.passages.continues, continues, 1 - continues)
        return np.concatenate(losses).mean(), -np.log(right_answer).mean()

    @torch.no_grad()
    def evaluate(self, model: BERT, loss: MaskedLoss) -> tuple[float, float, float]:
        """A model's losses, in nats per masked word and in nats per pair, and its accuracy on pairs."""
        ids, segments, not_next = self.batch
        output = model(ids[self.apart].masked_fill(self.hidden, MASK), segments[self.apart])
        logits = model.next_sentence(model.encode(model.embeddings(ids, segments), ids != PAD)[-1])
        pair_loss = nn.functional.cross_entropy(logits, not_next)
        right = (logits.argmax(dim=1) == not_next).float().mean()
        return loss(output.logits, self.labels).item(), pair_loss.item(), right.item()


def held_out_test(
    language: Language, encode_pair: Encode, collate: Collate, corrupt: Corrupt, count: int = 300
) -> PairTest:
    """A test on held-out pairs, encoded as in training; `corrupt` chooses the masked words."""
    passages = language.passages(count, np.random.default_rng(1), split="held_out")
    batch = batch_of(_encoded(language, passages, encode_pair), collate)
    strangers = batch[0][batch[2] == 1]
    _, labels = corrupt(strangers, len(language.vocabulary), torch.Generator().manual_seed(1))
    return PairTest(language, passages, batch, labels)


@torch.no_grad()
def fill_gaps(model: BERT, language: Language, sentence: str) -> str:
    """A sentence with the most probable word in place of each [word] in brackets."""
    gaps = torch.tensor([word.startswith("[") for word in sentence.split()])
    ids = single(torch.from_numpy(language.encode(re.sub(r"[][]", "", sentence), pad=False))[None])
    ids[0, 1:-1] = ids[0, 1:-1].masked_fill(gaps, MASK)
    best = model(ids).logits.argmax(dim=-1)
    words = (language.vocabulary[i] for i in torch.where(ids == MASK, best, ids)[0, 1:-1])
    return " ".join(f"[{word}]" if gap else word for word, gap in zip(words, gaps, strict=True))


def learning_rate(step: int, steps: int, highest: float = 6e-3) -> float:
    """Linear warm-up over the first three tenths of the steps, then cosine decay."""
    return highest * min(
        (step + 1) / (0.3 * steps),
        0.5 + 0.5 * np.cos(np.pi * max(0.0, step / steps - 0.3) / 0.7),
    )


class WordsOfPairs(nn.Module):
    """A BERT that maps (ids, segments) to the logits at each position, as a training step for one output expects."""

    def __init__(self, model: BERT):
        super().__init__()
        self.model = model

    def forward(self, rows: tuple[Tensor, Tensor]) -> Float[Tensor, "B T V"]:
        """The logits of the words."""
        return self.model(*rows).logits


def with_both_tasks(loss_of: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]) -> Callable[..., float]:
    """A training step whose loss is computed from the logits and labels of both pre-training tasks."""

    def take_step(model: BERT, ids, segments, labels, not_next, optimiser, rate: float) -> float:
        output = model.train()(ids, segments)
        loss = loss_of(output.logits, labels, output.next_sentence, not_next)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.step()
        return loss.item()

    return take_step
