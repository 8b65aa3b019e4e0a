"""Is the vector of a pseudo-word in real English a mixture of its two words, weighted by their frequency?

In a random half of the novels the words of each pair of data/novels/pseudo_words.csv are merged into a pseudo-word; in the
other half they stay, so that skip-gram learns vectors of the pseudo-word and of both words in one space, from different
sentences (notebook 01, part 6). Some occurrences of one word are skipped, more for some pairs than for others, so that
the shares range from a tenth to nine tenths. Measured after half of the steps and after all. Writes
`data/results/01_novels_mixture.csv` (five minutes per seed).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import torch

from coursekit.novels import skip_gram
from coursekit.novels.corpus import WORDS, Corpus, Ragged, prepare
from coursekit.novels.pseudo_words import Pair, read_pairs
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of
from experiments.sense_mixture import MEASURES

STEPS, BATCH, RATE = 6_000, 16_384, 5e-3
SHARES = 0.1, 0.9
"""The lowest and the highest share of the first word among the occurrences of a pseudo-word."""


@dataclass(frozen=True, eq=False)
class HalfMerged:
    """The training text, half of it merged, as skip-gram reads a corpus. Pseudo-word i is word WORDS + i."""

    rows: Ragged
    words: list[str]
    shares: list[float]

    def word_rows(self, split: str) -> Ragged:
        """The rows of the only split there is."""
        return self.rows


def half_merged(corpus: Corpus, pairs: list[Pair], seed: int) -> HalfMerged:
    """A corpus in which every row is merged with probability one half."""
    rng, rows = np.random.default_rng(seed), corpus.word_rows("train")
    number = {word: place for place, word in enumerate(corpus.words[:WORDS])}
    words = np.asarray(rows.values).astype(np.int64)
    nothing = WORDS + len(pairs)  # stands for words that are neither read nor predicted
    words[words >= WORDS] = nothing
    merged = np.repeat(rng.random(len(rows)) < 0.5, rows.lengths)
    shares = []
    for place, (pair, wanted) in enumerate(
        zip(pairs, rng.permutation(np.linspace(*SHARES, len(pairs))), strict=True)
    ):
        here = [np.flatnonzero(merged & (words == number[word])) for word in pair[:2]]
        odds = wanted / (1 - wanted) * len(here[1]) / len(here[0])  # of keeping the first, over the second
        keep = min(1.0, odds), min(1.0, 1 / odds)
        left = [at[rng.random(len(at)) < chance] for at, chance in zip(here, keep, strict=True)]
        words[np.concatenate(here)] = nothing
        words[np.concatenate(left)] = WORDS + place
        shares.append(len(left[0]) / sum(map(len, left)))
    names = [*corpus.words[:WORDS], *(pair.merged for pair in pairs), "(nothing)"]
    return HalfMerged(Ragged(words, rows.ends), names, shares)


def measured(
    vectors: torch.Tensor, corpus: HalfMerged, pairs: list[Pair], take_apart, seed: int
) -> list[dict]:
    """Each pseudo-word taken apart as the notebook does it with its ambiguous words."""
    rng, model = np.random.default_rng(seed), SimpleNamespace(word=vectors)
    number = {word: place for place, word in enumerate(corpus.words[:WORDS])}
    parts = [tuple(number[word] for word in pair[:2]) for pair in pairs]
    frequent = np.arange(200, 5_000)  # random words about as frequent as the pairs'
    rows = []
    for place, (pair, own, share) in enumerate(zip(pairs, parts, corpus.shares, strict=True)):
        others = [word for both in parts if both != own for word in both]
        controls = {
            "senses of other words": rng.choice(others, 2, replace=False).tolist(),
            "random words": rng.choice(frequent, 2, replace=False).tolist(),
        }
        found = take_apart(model, WORDS + place, dict(zip(own, (share, 1 - share), strict=True)), controls)
        rows.append(
            {"pair": pair.merged, "relation": pair.relation, "share of the first": share}
            | {"weight of the first": found["weights"][0], "weight of the second": found["weights"][1]}
            | {name: found[name] for name in MEASURES}
        )
    return rows


def trained(
    text: HalfMerged, pairs: list[Pair], seed: int, options: Options
) -> Iterator[tuple[int, torch.Tensor]]:
    """The vectors after half of the steps and after all."""
    torch.manual_seed(seed)
    model = skip_gram.SkipGram(WORDS + len(pairs))
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    to_zero = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=STEPS)
    losses = skip_gram.losses(model, text, BATCH, seed)
    for step in options.track(range(1, STEPS + 1), "steps"):
        optimizer.zero_grad()
        next(losses).backward()
        optimizer.step()
        to_zero.step()
        if step in (STEPS // 2, STEPS):
            yield step, model.word.weight.detach()


def _steps(options: Options) -> Steps:
    corpus = prepare(options.corpus, options.checkpoints / "corpus")
    take_apart = names_of("01_static_embeddings")["take_apart"]
    pairs = [pair for pair in read_pairs() if {*pair[:2]} <= {*corpus.words}]

    def measure(seed: int) -> Iterator[dict]:
        text = half_merged(corpus, pairs, seed)
        for step, vectors in trained(text, pairs, seed, options):
            yield from ({"steps": step} | row for row in measured(vectors, text, pairs, take_apart, seed))

    yield Step("01_novels_mixture", grid(seed=options.seeds), measure)


EXPERIMENT = Experiment(_steps, seeds=range(3), novels=True)
