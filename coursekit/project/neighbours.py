"""Skip-gram vectors of a student's text, and the nearest words of a few."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import nn

from coursekit.novels.skip_gram import NEGATIVES, WINDOW, SkipGram

RARE = 5
"""Words that occur less often get no vector."""
FREQUENT = 1e-3
"""A word with a larger share of the text is passed over more often; ten times the share for the novels, as this text is short."""
DIM, BATCH = 50, 2048

Pairs = Int[np.ndarray, "2 pairs"]


def learn(passages: Sequence[str], steps: int, seed: int = 0) -> tuple[list[str], Float[np.ndarray, "V D"]]:
    """The words that occur at least RARE times, and their vectors of length 1 after `steps` batches of pairs."""
    running = [re.findall(r"[^\W\d_]+", passage.lower()) for passage in passages]
    counts = Counter(word for passage in running for word in passage)
    words = [word for word, count in counts.most_common() if count >= RARE]
    number = {word: place for place, word in enumerate(words)}
    rows = [
        np.array([number[word] for word in passage if word in number], dtype=np.int64) for passage in running
    ]
    frequency = np.array([counts[word] for word in words], dtype=float)
    rng = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SkipGram(len(words), DIM)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
    up_to = np.cumsum(frequency**0.75 / (frequency**0.75).sum())
    for _, (centre, context) in zip(range(steps), _batches(rows, frequency, rng), strict=False):
        negatives = np.searchsorted(up_to, rng.random((len(centre), NEGATIVES))).clip(max=len(words) - 1)
        loss = model(*map(torch.from_numpy, (centre, context, negatives)))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    # The sum of both tables is smoother than the first one where there are few words (Levy, Goldberg and Dagan, 2015).
    vectors = model.word.weight.detach() + model.context.weight.detach()
    return words, nn.functional.normalize(vectors - vectors.mean(dim=0), dim=1).numpy()


def _batches(
    rows: Sequence[Int[np.ndarray, " T"]], frequency: Float[np.ndarray, " V"], rng: np.random.Generator
) -> Iterator[Pairs]:
    """Pairs of a word and one near it in the same passage, without end."""
    passed = np.clip(1 - np.sqrt(FREQUENT / (frequency / frequency.sum())), 0, 1)
    while True:
        pairs = []
        for row in rows:
            row = row[rng.random(len(row)) >= passed[row]]
            for distance in range(1, min(WINDOW, len(row) - 1) + 1):
                near = np.stack([row[:-distance], row[distance:]])
                pairs += [near, near[::-1]]
        everything = rng.permutation(np.concatenate(pairs, axis=1), axis=1)
        for start in range(0, everything.shape[1], BATCH):
            yield np.ascontiguousarray(everything[:, start : start + BATCH])


def nearest(
    words: list[str], vectors: Float[np.ndarray, "V D"], word: str, count: int = 5
) -> list[tuple[str, float]]:
    """The nearest words by cosine. Raises ValueError for a word without a vector."""
    if word not in words:
        raise ValueError(f"{word!r} has no vector: it occurs fewer than {RARE} times in the text.")
    cosines = vectors @ vectors[words.index(word)]
    order = [place for place in (-cosines).argsort() if words[place] != word][:count]
    return [(words[place], float(cosines[place])) for place in order]
