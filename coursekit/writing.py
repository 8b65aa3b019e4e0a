"""Beam search, and the BLEU score of translations."""

from collections import Counter

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from coursekit.language import BOS, EOS, PAD
from coursekit.translator import LONGEST


@torch.no_grad()
def beam_translate(
    model: nn.Module, source: Int[Tensor, "B Ts"], width: int, longest: int = LONGEST
) -> Int[Tensor, "B longest"]:
    """The most probable translation that beam search with `width` prefixes finds; [PAD] after its [EOS].

    Probabilities of whole sentences are compared, without a bonus for length. With width 1, this is greedy decoding.
    """
    B = len(source)
    encoded = model.encode(source).repeat_interleave(width, dim=0)  # B*k Ts D
    source_keep = (source != PAD).repeat_interleave(width, dim=0)
    ids = torch.full((B * width, 1), BOS)
    total = torch.full((B, width), -torch.inf)
    total[:, 0] = 0.0  # all prefixes are equal at first, so only one of them counts
    ended = torch.zeros(B * width, dtype=torch.bool)
    for t in range(1, longest + 1):
        keep = torch.ones(t, t, dtype=torch.bool).tril()
        log_p = model.decode(ids, encoded, source_keep, keep)[:, -1].log_softmax(dim=-1)  # B*k V
        log_p[ended] = -torch.inf
        log_p[ended, PAD] = 0.0  # a finished sentence continues at no cost
        sums = (total[:, :, None] + log_p.view(B, width, -1)).flatten(1)  # B k*V
        total, best = sums.topk(width, dim=1)
        rows = (torch.arange(B)[:, None] * width + best // log_p.shape[1]).flatten()
        token = (best % log_p.shape[1]).flatten()
        ids = torch.cat([ids[rows], token[:, None]], dim=1)
        ended = ended[rows] | (token == EOS)
        if ended.all():
            break
    first = ids.view(B, width, -1)[:, 0, 1:]  # topk sorts, so the best prefix comes first
    return nn.functional.pad(first, (0, longest - first.shape[1]), value=PAD)


def bleu(guesses: Int[Tensor, "N T"], references: Int[Tensor, "N T"], order: int = 4) -> float:
    """Corpus BLEU with one reference per sentence, between 0 and 1 (Papineni et al., 2002, section 2.3).

    Counts of n-grams are clipped by the reference and added up over the corpus. The score is the geometric mean of the precisions
    for n = 1 to `order`, times the brevity penalty. [EOS] and the tokens after it do not count.
    """
    matches, counts = np.zeros(order), np.zeros(order)
    written = wanted = 0
    for guess, reference in zip(guesses.tolist(), references.tolist(), strict=True):
        guess, reference = until_end(guess), until_end(reference)
        written, wanted = written + len(guess), wanted + len(reference)
        for n in range(1, order + 1):
            found, right = ngrams(guess, n), ngrams(reference, n)
            matches[n - 1] += sum((found & right).values())  # the smaller count of each
            counts[n - 1] += sum(found.values())
    if not matches.all():
        return 0.0
    penalty = min(1.0, np.exp(1 - wanted / written))
    return float(penalty * np.exp(np.log(matches / counts).mean()))


def until_end(ids: list[int]) -> list[int]:
    """The tokens before [EOS], without padding."""
    return [i for i in (ids[: ids.index(EOS)] if EOS in ids else ids) if i != PAD]


def ngrams(ids: list[int], n: int) -> Counter:
    """The number of occurrences of each n-gram."""
    return Counter(zip(*(ids[i:] for i in range(n)), strict=False))
