"""Record data/results/01_novels_mixture.csv: notebook 01, part 6, on real English (about a quarter of an hour of one core).

    python tools/record_novels_mixture.py --corpus FOLDER

FOLDER has the novels' `books.csv` and `raw` (data/novels/README.md). In a random half of the text the words of each pair of
data/novels/pseudo_words.csv are merged into a pseudo-word; in the other half they stay, so that the pseudo-word and its two
words get vectors in one space, learned from different sentences. A part of one word's merged places is skipped, more for one pair
than for another, so that its share ranges from a tenth to nine tenths. Measured after half of the steps and after all.
"""

import argparse
import csv
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from notebook_names import ROOT, names_of

from coursekit.language import SPECIAL_TOKENS
from coursekit.novels import skip_gram
from coursekit.novels.corpus import WORDS, Corpus, Ragged, prepare
from coursekit.novels.pseudo_words import Pair, read_pairs

SEEDS, STEPS, BATCH, RATE = (0, 1, 2), 6_000, 16_384, 5e-3
SHARES = 0.1, 0.9
"""Of a pseudo-word's places, those of its first word: from, to."""
MEASURES = (
    "weighted by frequency",
    "plain average",
    "best weights",
    "senses of other words",
    "random words",
    "among the senses",
)
TABLE = ROOT / "data" / "results" / "01_novels_mixture.csv"


@dataclass(frozen=True, eq=False)
class HalfMerged:
    """The training text, half of it merged: what skip-gram asks of a corpus. Pseudo-word i is word WORDS + i."""

    rows: Ragged
    words: list[str]
    shares: list[float]

    def word_rows(self, split: str) -> Ragged:
        return self.rows


def half_merged(corpus: Corpus, pairs: list[Pair], seed: int) -> HalfMerged:
    """A corpus in which every row is merged or not by the toss of a coin."""
    rng, rows = np.random.default_rng(seed), corpus.word_rows("train")
    number = {word: place for place, word in enumerate(corpus.words[:WORDS])}
    words = np.asarray(rows.values).astype(np.int64)
    nothing = WORDS + len(pairs)  # what cannot be predicted, and what is skipped
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
    """Each pseudo-word taken apart, as the notebook takes its ambiguous words apart."""
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


def record(
    corpus: Corpus, table: Path, seeds: tuple[int, ...] = SEEDS, steps: int = STEPS, batch: int = BATCH
) -> None:
    """Train and measure; writes the table after each seed."""
    take_apart = names_of("01_static_embeddings", SPECIAL_TOKENS=SPECIAL_TOKENS, dataclass=dataclass)[
        "take_apart"
    ]
    pairs, rows = [pair for pair in read_pairs() if {*pair[:2]} <= {*corpus.words}], []
    for seed in seeds:
        text = half_merged(corpus, pairs, seed)
        torch.manual_seed(seed)
        model = skip_gram.SkipGram(WORDS + len(pairs))
        optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
        to_zero = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=steps)
        losses = skip_gram.losses(model, text, batch, seed)
        for step in range(1, steps + 1):
            optimizer.zero_grad()
            next(losses).backward()
            optimizer.step()
            to_zero.step()
            if step in (steps // 2, steps):
                found = measured(model.word.weight.detach(), text, pairs, take_apart, seed)
                rows += [{"seed": seed, "steps": step} | row for row in found]
                means = {name: round(float(np.mean([row[name] for row in found])), 3) for name in MEASURES}
                print(f"seed {seed}, {step:,} of {steps:,} steps: {means}", flush=True)
        with table.open("w", newline="", encoding="utf-8") as file:
            lines = csv.DictWriter(file, list(rows[0]))
            lines.writeheader()
            lines.writerows(
                {key: round(v, 4) if isinstance(v, float) else v for key, v in row.items()} for row in rows
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True, help="the novels: books.csv and the folder raw")
    parser.add_argument(
        "--to", type=Path, default=Path("build/pretrain"), help="where the corpus in numbers is kept"
    )
    arguments = parser.parse_args()
    record(prepare(arguments.corpus, arguments.to / "corpus"), TABLE)


if __name__ == "__main__":
    main()
