"""Gaps in English sentences, filled by encoders with a masked-LM head (notebook 06).

    readers = {"MiniLM": of_minilm(encoder, loaded), "the novels' BERT": of_novels(other, bert, pieces)}
    best_guesses(readers["MiniLM"], "She opened the letter with a [MASK] hand.")
    read_gaps(readers["MiniLM"], some_gaps(readers.values()))

An encoder maps (ids, segments, real) to its hidden states and pooled vectors, such as the student's Bert.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import BertConfig

from coursekit.datasets import read_table
from coursekit.intervals import mean_and_half
from coursekit.models import Loaded
from coursekit.small import BERT, BERTConfig

Gap = tuple[str, str, str]
"""The text before a word, the word, and the text after it."""


@dataclass(frozen=True)
class Reader:
    """An encoder, the head that is applied to its output, and the tokeniser."""

    encoder: nn.Module
    head: Callable[[Float[Tensor, "gaps D"]], Float[Tensor, "gaps V"]]
    pieces: Tokenizer


def sizes_of(config: BertConfig | BERTConfig) -> tuple[int, ...]:
    """Vocabulary, tokens, dim, layers, heads and the width of the feed-forward network, by Hugging Face's names or the course's."""
    if isinstance(config, BERTConfig):
        return (
            config.vocabulary, config.tokens, config.dim, config.layers, config.heads, config.feed_forward
        )  # fmt: skip
    return (
        config.vocab_size, config.max_position_embeddings, config.hidden_size, config.num_hidden_layers,
        config.num_attention_heads, config.intermediate_size,
    )  # fmt: skip


def of_minilm(encoder: nn.Module, loaded: Loaded) -> Reader:
    """MiniLM with its new head, where `encoder` has its weights; texts are neither padded nor truncated to 128 tokens."""
    pieces = Tokenizer.from_str(loaded.tokenizer.backend_tokenizer.to_str())
    pieces.no_padding()
    pieces.no_truncation()
    return Reader(encoder, loaded.model.cls, pieces)


def of_novels(encoder: nn.Module, bert: BERT, pieces: Tokenizer) -> Reader:
    """The novels' BERT, where `encoder` has its weights; the head is that of `bert`."""
    return Reader(encoder, lambda states: bert.masked_word(states, bert.embeddings.token.weight), pieces)


class Seen(NamedTuple):
    """The tokens that an encoder reads, [CLS] to [SEP], and the place of the gap among them."""

    ids: tuple[int, ...]
    place: int


def around_gap(by: Reader, text: str, which: int = 0) -> Seen:
    """A text with one of its [MASK]s as the gap; a long text is truncated around it."""
    found = by.pieces.encode(text, add_special_tokens=False).ids
    mask = by.pieces.token_to_id("[MASK]")
    place = [i for i, piece in enumerate(found) if piece == mask][which]
    most = by.encoder.position.num_embeddings - 2
    start = max(0, min(place - most // 2, len(found) - most))
    cls, sep = by.pieces.token_to_id("[CLS]"), by.pieces.token_to_id("[SEP]")
    return Seen((cls, *found[start : start + most], sep), 1 + place - start)


@torch.no_grad()
def log_p_of_gaps(by: Reader, gaps: Sequence[Seen]) -> Float[Tensor, "gaps V"]:
    """log p of each subword at each gap. Each different text is read once, together with all others of its length."""
    different = sorted(dict.fromkeys(gaps), key=lambda gap: len(gap.ids))
    tops = {}
    for _, alike in groupby(different, key=lambda gap: len(gap.ids)):
        some = list(alike)
        ids = torch.tensor([gap.ids for gap in some])
        states, _ = by.encoder(ids, torch.zeros_like(ids), torch.ones_like(ids, dtype=torch.bool))
        tops |= zip(some, states[-1][range(len(some)), [gap.place for gap in some]], strict=True)
    log_p = by.head(torch.stack([tops[gap] for gap in different])).log_softmax(dim=-1)
    number_of = {gap: number for number, gap in enumerate(different)}
    return log_p[[number_of[gap] for gap in gaps]]


def log_p_of_gap(by: Reader, text: str) -> Float[Tensor, " V"]:
    """log p of each subword at the first [MASK] of a text."""
    return log_p_of_gaps(by, [around_gap(by, text)])[0]


def best_guesses(by: Reader, text: str, count: int = 5) -> str:
    """The most probable subwords at the first [MASK] of a text, with their probabilities."""
    if "[MASK]" not in text:
        return "this text contains no [MASK]"
    chances = log_p_of_gap(by, text).exp().topk(count)
    names = map(by.pieces.id_to_token, chances.indices.tolist())
    return " · ".join(f"{name} {p:.2f}" for name, p in zip(names, chances.values.tolist(), strict=True))


def some_gaps(readers: Iterable[Reader], count: int = 160, seed: int = 0) -> list[Gap]:
    """Sentences of our own, split at a random word that is a single token for every reader."""
    rng, found, readers = np.random.default_rng(seed), [], list(readers)
    for sentence in rng.permutation(read_table("senses/senses.csv").sentence):
        words = sentence.split(" ")
        inside = [
            i
            for i in range(1, len(words) - 1)
            if words[i].isalpha() and all(by.pieces.token_to_id(words[i]) is not None for by in readers)
        ]
        if inside:
            place = int(rng.choice(inside))
            found.append((" ".join(words[:place]), words[place], " ".join(words[place + 1 :])))
    return found[:count]


class GapsRead(NamedTuple):
    """The loss of the correct word for each kind of context, its rank given both sides, and whether the model predicts that a truncated text ends."""

    nats: dict[str, Float[np.ndarray, " gaps"]]
    ranks: Int[np.ndarray, " gaps"]
    ends: list[bool]

    def worth_of_right(self, without: str) -> tuple[float, float]:
        """The worth of the right side in nats, with half the width of its interval; `without` names the context that lacks it."""
        return mean_and_half(self.nats[without] - self.nats["both"])


def read_gaps(by: Reader, gaps: Sequence[Gap]) -> GapsRead:
    """A reader's predictions at every gap, given both sides, one side (the other removed, or masked), or neither."""
    right = torch.tensor([[by.pieces.token_to_id(word)] for _, word, _ in gaps])
    seen = [_contexts(by, before, after) for before, _, after in gaps]
    nats, ends = {}, []
    for may_read in seen[0]:
        log_p = log_p_of_gaps(by, [of_gap[may_read] for of_gap in seen])
        log_p_right = log_p.gather(1, right)
        nats[may_read] = -log_p_right[:, 0].double().numpy()
        if may_read == "left":
            guesses = map(by.pieces.id_to_token, log_p.argmax(dim=1).tolist())
            ends = [len(guess) == 1 and not guess.isalnum() for guess in guesses]
    ranks = (log_p > log_p_right).sum(dim=1).numpy()  # "both" comes last
    return GapsRead(nats, ranks, ends)


def _contexts(by: Reader, before: str, after: str) -> dict[str, Seen]:
    rest_before, rest_after = _hidden(before, by.pieces), _hidden(after, by.pieces)
    return {
        "nothing": around_gap(by, "[MASK]"),
        "left": around_gap(by, f"{before} [MASK]"),
        "left, rest hidden": around_gap(by, f"{before} [MASK] {rest_after}"),
        "right": around_gap(by, f"[MASK] {after}"),
        "right, rest hidden": around_gap(by, f"{rest_before} [MASK] {after}", len(rest_before.split())),
        "both": around_gap(by, f"{before} [MASK] {after}"),
    }


def _hidden(text: str, pieces: Tokenizer) -> str:
    return " ".join("[MASK]" for _ in pieces.encode(text, add_special_tokens=False).ids)


def paired_in_novels(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], tuple[float, float]]:
    """Differences in top-1 accuracy between two models on the same gaps in novels, with half the widths of their intervals."""
    correct = read_table("results/novels_gaps.csv") == 0
    return {
        (one, other): mean_and_half((correct[one].astype(float) - correct[other]).to_numpy())
        for one, other in pairs
    }
