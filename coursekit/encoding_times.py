"""How long a cross-encoder and a bi-encoder take to compare all pairs of n sentences, extrapolated from a few."""

from collections.abc import Sequence
from time import perf_counter

import torch
from torch.nn.functional import normalize
from transformers import PreTrainedModel, PreTrainedTokenizerBase

TIMED = 96
"""Forward passes of each kind."""


@torch.no_grad()
def seconds_each(inputs: Sequence, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> float:
    """Seconds per forward pass, for a sentence or a pair, in batches of 32."""
    start = perf_counter()
    for first in range(0, len(inputs), 32):
        model(**tokenizer(list(inputs[first : first + 32]), return_tensors="pt", padding=True))
    return (perf_counter() - start) / len(inputs)


def seconds_for_cosines(n: int, width: int) -> float:
    """Seconds for all n × n cosines of vectors with `width` numbers, extrapolated from a fifth of them."""
    vectors = normalize(torch.randn(n, width, generator=torch.Generator().manual_seed(0)), dim=1)
    rows = n // 5
    start = perf_counter()
    for block in vectors[:rows].split(500):
        (block @ vectors.T).topk(2)
    return (perf_counter() - start) * n / rows


def seconds_to_compare(
    readings: dict[str, int],
    premises: Sequence[str],
    hypotheses: Sequence[str],
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
) -> dict[str, float]:
    """Seconds for the forward passes in `readings` (of pairs by the cross-encoder, of sentences by the bi-encoder), and for all cosines."""
    pairs = list(zip(premises, hypotheses, strict=True))[:TIMED]
    per_pass = {
        "cross-encoder": seconds_each(pairs, model, tokenizer),
        "bi-encoder": seconds_each(list(premises)[:TIMED], model, tokenizer),
    }
    return {name: count * per_pass[name] for name, count in readings.items()} | {
        "all cosines": seconds_for_cosines(readings["bi-encoder"], model.config.hidden_size)
    }
