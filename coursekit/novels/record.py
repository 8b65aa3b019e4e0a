"""Measure the models of the novels on authors that training never saw, beside counts, and write what is shipped."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import nn
from transformers import AutoTokenizer

from coursekit.intervals import bootstrap, wilson
from coursekit.models.catalogue import MINILM
from coursekit.novels import figures, shipped, skip_gram
from coursekit.novels.corpus import PIECES, WORDS, Corpus
from coursekit.novels.kneser_ney import KneserNey

GAPS, ROWS, BATCHES = 1_000, 1_000, 40
"""Gaps, rows and batches of pairs that are measured, of the books of `test`."""


def record(name: str, model: nn.Module, corpus: Corpus, data: Path, **made: float) -> Path:
    """Write `data/models/novels_NAME.*`. `made`: seed, steps and minutes."""
    print(f"novels-{name}: measuring (some minutes)", flush=True)
    found = MEASURES[name](model.eval(), corpus)
    folder, about = data / "models", {**made, "figures": found}
    if name == "minilm":
        return shipped.save_minilm(model, folder, about)
    save = shipped.save_skipgram if name == "skipgram" else shipped.save_gpt
    return save(model, corpus, folder, about)


# --- gaps ---


def figures_of_minilm(model: nn.Module, corpus: Corpus) -> dict[str, str]:
    """Gaps, of words that are one piece of BERT's: with both sides and with one, beside counts that see both sides."""
    tokenizer = AutoTokenizer.from_pretrained(MINILM.package.folder())
    gaps = gaps_of(corpus)
    rows = {
        called: figures.gaps_of_minilm(model, tokenizer, corpus, "test", gaps, side)
        for called, side in (
            ("MiniLM with the new head", "both"),
            ("the same, what stands before only", "left"),
            ("the same, what comes after only", "right"),
        )
    }
    for order, called in ((1, "unigrams"), (5, "5-grams, both sides")):
        counts = KneserNey(figures.stream(corpus.word_rows("train"), WORDS), WORDS, order)
        rows[called] = figures.gaps_of_counts(counts, corpus, "test", gaps)
    return {
        f"{called}: {what}": value
        for called, (ranks, nats) in rows.items()
        for what, value in (
            ("right at once", share(ranks < 1)),
            ("among the best five", share(ranks < 5)),
            ("nats per gap", mean(nats)),
        )
    }


@lru_cache(maxsize=1)
def gaps_of(corpus: Corpus) -> list[figures.Gap]:
    """The same gaps for all: words in one piece of BERT's and of ours."""
    tokenizer = AutoTokenizer.from_pretrained(MINILM.package.folder())

    def fits(word: str) -> bool:
        ours = corpus.tokenizer.encode(word, add_special_tokens=False).ids
        return len(ours) == 1 == len(tokenizer.encode(word, add_special_tokens=False))

    return figures.draw_gaps(corpus, "test", GAPS, fits)


# --- losses ---


def figures_of_gpt(model: nn.Module, corpus: Corpus) -> dict[str, str]:
    """Nats per character, which can be compared across vocabularies, and per piece."""
    rng, rows = np.random.default_rng(0), corpus.rows("test")
    numbers = np.sort(rng.permutation(len(rows))[:ROWS])
    losses = {"GPT": figures.losses_of_gpt(model, corpus, "test", numbers)}
    for order, called in ((1, "unigrams"), (5, "5-grams")):
        counts = KneserNey(figures.stream(corpus.rows("train")), PIECES, order)
        losses[called] = figures.losses_of_counts(counts, rows, numbers)
    characters, pieces = corpus.characters("test")[numbers], rows.lengths[numbers]
    return {
        f"{called}: nats per {unit}": ratio(np.stack([nats, size], axis=1))
        for called, nats in losses.items()
        for unit, size in (("character", characters), ("piece", pieces))
    }


@torch.no_grad()
def figures_of_skipgram(model: nn.Module, corpus: Corpus) -> dict[str, str]:
    """Nats per pair, one right and the wrong ones, on unseen authors; all vectors 0 would give the last line."""
    pairs = skip_gram.losses(model, corpus, 4_096, seed=0, split="test")
    nothing = (1 + skip_gram.NEGATIVES) * np.log(2)
    return {
        "nats per pair": mean(np.array([next(pairs).item() for _ in range(BATCHES)])),
        "nats per pair, if all vectors were 0": f"{nothing:.3f}",
    }


MEASURES: dict[str, Callable[[nn.Module, Corpus], dict[str, str]]] = {
    "minilm": figures_of_minilm,
    "gpt": figures_of_gpt,
    "skipgram": figures_of_skipgram,
}


# --- with their intervals ---


def share(right: np.ndarray) -> str:
    low, high = wilson(right.mean(), len(right))
    return f"{right.mean():.3f} ({low:.3f} to {high:.3f})"


def mean(values: np.ndarray) -> str:
    low, high = bootstrap(values)
    return f"{values.mean():.3f} ({low:.3f} to {high:.3f})"


def ratio(rows: np.ndarray) -> str:
    """Of two columns, over all rows; rows of text are drawn for the interval."""

    def whole(some: np.ndarray) -> float:
        return some[:, 0].sum() / some[:, 1].sum()

    low, high = bootstrap(rows, whole)
    return f"{whole(rows):.3f} ({low:.3f} to {high:.3f})"
