"""Tokenisers for a student's text: learned from it (byte-level BPE), or taken from BERT; and what to compare them by."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor

END = "<end>"
"""The token that separates passages; its id is 0, and it counts as the line break that it stands for."""


@dataclass(frozen=True, eq=False)
class Tokeniser:
    """A tokeniser; `byte_counts[i]` is the number of bytes of token i, or None where tokens do not add up to the text."""

    name: str
    size: int
    encode: Callable[[str], list[int]]
    decode: Callable[[Sequence[int]], str]
    byte_counts: Int[Tensor, " V"] | None

    def stream(self, passages: Sequence[str]) -> Int[Tensor, " N"]:
        """The ids of all passages, one after the other, each with END behind it."""
        return torch.tensor([id for passage in passages for id in (*self.encode(passage), 0)])


def learn(passages: Sequence[str], size: int) -> Tokeniser:
    """Byte-level BPE with at most `size` tokens; 257 are the single bytes and END. Every text comes back unchanged."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(passages, trainer)
    count = tokenizer.get_vocab_size()
    lengths = [1, *(len(tokenizer.id_to_token(id)) for id in range(1, count))]  # one letter for each byte
    name = "single bytes" if count == 257 else f"learned, {count:,} tokens"
    return Tokeniser(
        name,
        count,
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        lambda ids: tokenizer.decode(list(ids)),
        torch.tensor(lengths),
    )


def bert() -> Tokeniser:
    """BERT's WordPiece. It ignores case and accents, so the text does not come back."""
    # start-up: the other tokenisers do not need it
    from transformers import AutoTokenizer

    from coursekit.models.catalogue import MINILM

    tokenizer = AutoTokenizer.from_pretrained(MINILM.package.folder())
    return Tokeniser(
        "BERT's WordPiece",
        len(tokenizer),
        lambda text: tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"],
        lambda ids: tokenizer.decode(ids),
        None,
    )


def round_trip(tokeniser: Tokeniser, passages: Sequence[str]) -> float:
    """The fraction of passages that are the same after encoding and decoding."""
    return sum(tokeniser.decode(tokeniser.encode(one)) == one for one in passages) / len(passages)


def fertility(tokeniser: Tokeniser, passages: Sequence[str]) -> float:
    """Tokens per word, where words are what spaces separate."""
    words = sum(len(re.findall(r"\S+", one)) for one in passages)
    return sum(len(tokeniser.encode(one)) for one in passages) / words
