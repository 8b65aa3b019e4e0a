"""Losses per character, which can be compared although the novels' GPT and SmolLM2 have different tokens."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from coursekit.batches import by_length
from coursekit.datasets import read_table
from coursekit.language import BOS
from coursekit.models.loading import Loaded

Nats = Float[np.ndarray, "texts 3"]
"""For each text the loss of the novels' GPT and of SmolLM2 in nats, and the number of characters."""


@torch.no_grad()
def nats_of(
    rows: Sequence[Sequence[int]],
    skip: int,
    hidden_of: Callable[[Tensor], Tensor],
    head: Callable[[Tensor], Tensor] = lambda logits: logits,
) -> list[float]:
    """−log p of each sequence after its first `skip` tokens, in nats, in batches of ten sequences of similar length.

    head(hidden_of(ids)) are a model's logits; the head is applied only where they are needed.
    """

    def read(places: Int[Tensor, " b"]) -> Float[Tensor, " b"]:
        tokens = [torch.tensor(rows[i]) for i in places]
        # Zeros fill the ends; no position attends to them.
        ids = torch.nn.utils.rnn.pad_sequence(tokens, batch_first=True)
        hidden, lengths = hidden_of(ids), [len(one) - skip for one in tokens]
        ends = [row[skip - 1 : skip - 1 + length] for row, length in zip(hidden, lengths, strict=True)]
        targets = torch.cat([one[skip:] for one in tokens])
        losses = cross_entropy(head(torch.cat(ends)), targets, reduction="none")
        return torch.stack([part.sum() for part in losses.split(lengths)])

    return by_length(read, [len(row) for row in rows], 10).tolist()


def nats_of_both(
    novels: nn.Module, pieces: Any, big: Loaded, texts: Sequence[str], before: str = "", mark: str = "<|endoftext|>"
) -> Nats:  # fmt: skip
    """The losses of each text after the text `before`, for the novels' GPT with its tokeniser `pieces`, and for SmolLM2 after `mark`."""

    def of_books(text: str) -> list[int]:
        return pieces.encode(text, add_special_tokens=False).ids

    def of_web(text: str) -> list[int]:
        return big.tokenizer(text, add_special_tokens=False).input_ids

    space, by_books = " " if before else "", [BOS, *of_books(before)]
    by_web = [big.tokenizer.convert_tokens_to_ids(mark), *of_web(before)]
    return np.stack([
        nats_of([by_books + of_books(text) for text in texts], len(by_books), novels),
        nats_of(
            [by_web + of_web(space + text) for text in texts], len(by_web),
            lambda ids: big.model.model(ids, use_cache=False).last_hidden_state, big.model.lm_head,
        ),
        [len(text) for text in texts],
    ], axis=1)  # fmt: skip


def nats_in_five_settings(novels: nn.Module, pieces: Any, big: Loaded) -> dict[str, Nats]:
    """100 sentences with words that occur in novels, 100 contemporary ones, and 50 sentences for each of three controls."""
    rng = np.random.default_rng(0)
    novel_like, of_today = (
        read_table(f"senses/{name}.csv").sentence.sample(100, random_state=0).tolist()
        for name in ("novels", "senses")
    )
    shuffled = [" ".join(rng.permutation(text.split())) for text in of_today[:50]]
    late, chat = {"before": "It was late."}, {"mark": "<|im_end|>"}
    return {
        "words from novels": nats_of_both(novels, pieces, big, novel_like),
        "contemporary": nats_of_both(novels, pieces, big, of_today),
        "contemporary, words shuffled": nats_of_both(novels, pieces, big, shuffled),
        "words from novels, after “It was late.”": nats_of_both(novels, pieces, big, novel_like[:50], **late),
        "words from novels, SmolLM2 after <|im_end|>": nats_of_both(
            novels, pieces, big, novel_like[:50], **chat
        ),
    }


def nats_per_character(rows: Nats, column: int) -> float:
    """The loss per character of the novels' GPT (column 0) or of SmolLM2 (column 1)."""
    return rows[:, column].sum() / rows[:, 2].sum()


def more_than_smollm2(rows: Nats) -> float:
    """The loss per character of the novels' GPT minus that of SmolLM2."""
    return nats_per_character(rows, 0) - nats_per_character(rows, 1)
