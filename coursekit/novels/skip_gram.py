"""Skip-gram with negative samples on the novels (Mikolov et al., 2013b): one vector per word."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from coursekit.novels.corpus import WORDS, Corpus
from coursekit.small.bert import SEP

WINDOW, NEGATIVES, DIM = 5, 5, 100
FREQUENT = 1e-4
"""Words with a larger share of the text are skipped, the more frequent the more often (section 2.3)."""


class SkipGram(nn.Module):
    """A table of word vectors and one of context vectors."""

    def __init__(self, vocabulary: int, dim: int = DIM):
        super().__init__()
        self.word, self.context = nn.Embedding(vocabulary, dim), nn.Embedding(vocabulary, dim)
        nn.init.uniform_(self.word.weight, -0.5 / dim, 0.5 / dim)
        nn.init.zeros_(self.context.weight)

    def forward(
        self, center: Int[Tensor, " B"], context: Int[Tensor, " B"], negatives: Int[Tensor, "B k"]
    ) -> Float[Tensor, ""]:
        """The loss in nats per pair, as sgns_loss in notebook 01."""
        word = self.word(center)
        right = (word * self.context(context)).sum(dim=1)
        wrong = (self.context(negatives) @ word[:, :, None])[:, :, 0]
        return (nn.functional.softplus(-right) + nn.functional.softplus(wrong).sum(dim=1)).mean()


def build(corpus: Corpus, **sizes: int) -> SkipGram:
    """Untrained vectors for the WORDS most frequent words of the corpus, or for all if there are fewer."""
    return SkipGram(min(WORDS, len(corpus.words)), **sizes)


def losses(model: SkipGram, corpus: Corpus, batch: int, seed: int, split: str = "train") -> Iterator[Tensor]:
    """An endless stream of losses. `batch` positions of the text are drawn at a time; those that are skipped give no pair."""
    rng, words = np.random.default_rng(seed), np.asarray(corpus.word_rows(split).values)
    passed, up_to = tables(corpus, model.word.num_embeddings)
    while True:
        center = rng.integers(WINDOW, len(words) - WINDOW, size=batch)
        reach = rng.integers(1, WINDOW + 1, size=batch)  # near words are drawn more often, as in word2vec
        context = center + rng.integers(1, reach + 1) * rng.choice((-1, 1), size=batch)
        pair = words[np.stack([center, context])].astype(np.int64)
        taken = (pair < len(passed)).all(axis=0)
        pair = pair[:, taken]
        pair = pair[:, (rng.random(pair.shape) >= passed[pair]).all(axis=0)]
        if not pair.shape[1]:  # in a tiny text every word is frequent
            continue
        negatives = np.searchsorted(up_to, rng.random((pair.shape[1], NEGATIVES)))
        yield model(*(torch.from_numpy(ids) for ids in (*pair, negatives)))


@lru_cache(maxsize=2)
def tables(corpus: Corpus, vocabulary: int) -> tuple[Float[np.ndarray, " V"], Float[np.ndarray, " V"]]:
    """How often each word is skipped, and the cumulative shares with which negatives are drawn (counts to the power ¾)."""
    words = np.asarray(corpus.word_rows("train").values)
    counts = np.bincount(words, minlength=len(corpus.words))[:vocabulary].astype(float)
    counts[: SEP + 1] = 0
    shares = counts / counts.sum()
    passed = np.clip(1 - np.sqrt(FREQUENT / np.maximum(shares, 1e-12)), 0, 1)
    powers = counts**0.75
    return passed, np.cumsum(powers / powers.sum())
