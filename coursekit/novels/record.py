"""Measure the models of the novels on authors not seen in training, next to models that count, and write the shipped files."""

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import torch
from torch import nn
from transformers import AutoTokenizer

from coursekit.intervals import bootstrap, wilson
from coursekit.models.catalogue import MINILM
from coursekit.novels import figures, missing_head, shipped, skip_gram
from coursekit.novels.corpus import PIECES, WORDS, Corpus, Ragged
from coursekit.novels.curves import UNITS, Curve, write_curve
from coursekit.novels.kneser_ney import KneserNey
from coursekit.novels.recipes import spelling_of
from coursekit.small.bert import UNK

GAPS, ROWS, BATCHES = 1_000, 1_000, 40
"""The numbers of gaps, rows and batches of pairs from the books of `test` on which models are measured."""


def record(name: str, model: nn.Module, corpus: Corpus, data: Path, curve: Curve, **made: float) -> Path:
    """Write `data/models/novels_NAME.*`. `curve` comes from `pretrain`; `made` contains seed, steps and minutes."""
    print(f"novels-{name}: measuring (a few minutes)", flush=True)
    found = MEASURES[name](model.eval(), corpus)
    folder, about = data / "models", {**made, "curve": UNITS[name], "figures": found}
    if name == "minilm":  # its words are those that were published
        path = missing_head.save_minilm(model, folder, about)
    else:
        path = SAVES[name](model, corpus, folder, about)
    write_curve(curve, UNITS[name], path)
    return path


# --- gaps ---

SIDES: dict[figures.Side, str] = {
    "left": "words before the gap only",
    "right": "words after the gap only",
}
"""Names of what a model may read of a row; "both" is not named."""


def figures_of_minilm(model: nn.Module, corpus: Corpus) -> dict[str, str]:
    """The results at gaps whose words are a single subword of BERT's, given both sides and given one, next to models that count."""
    tokenizer = AutoTokenizer.from_pretrained(MINILM.package.folder())
    ask = partial(figures.gaps_of_minilm, model, tokenizer, corpus, "test", gaps_of(corpus))
    return _of_gaps(_from_each_side("MiniLM with the new head", "the same", ask) | _gaps_of_counts(corpus))


def figures_of_bert(model: nn.Module, corpus: Corpus) -> dict[str, str]:
    """The results of BERT at the same gaps as MiniLM, given both sides and given one."""
    ask = partial(figures.gaps_of_bert, model, corpus, "test", gaps_of(corpus))
    return _of_gaps(_from_each_side("BERT", "the same", ask) | _gaps_of_counts(corpus))


def _from_each_side(
    called: str, again: str, ask: Callable[[figures.Side], figures.Found]
) -> dict[str, figures.Found]:
    return {called: ask("both")} | {f"{again}, {seen}": ask(side) for side, seen in SIDES.items()}


def _gaps_of_counts(corpus: Corpus) -> dict[str, figures.Found]:
    """The results of unigrams and 5-grams of words at the same gaps."""
    unigrams, five = (
        partial(figures.gaps_of_counts, counts_of_words(corpus, order), corpus, "test", gaps_of(corpus))
        for order in (1, 5)
    )
    return {"unigrams": unigrams()} | _from_each_side("5-grams, both sides", "5-grams", five)


def _of_gaps(found: dict[str, figures.Found]) -> dict[str, str]:
    return {
        f"{called}: {what}": value
        for called, (ranks, nats) in found.items()
        for what, value in (
            ("top-1 accuracy", share(ranks < 1)),
            ("top-5 accuracy", share(ranks < 5)),
            ("nats per gap", mean(nats)),
        )
    }


@lru_cache(maxsize=2)
def counts_of_words(corpus: Corpus, order: int) -> KneserNey:
    """A Kneser–Ney n-gram model of this order (1: unigrams), counted on the training text; the last two models are cached."""
    return KneserNey(figures.stream(corpus.word_rows("train"), WORDS), WORDS, order)


@lru_cache(maxsize=1)
def gaps_of(corpus: Corpus) -> list[figures.Gap]:
    """The gaps for all models: words that are a single subword both in BERT's vocabulary and in ours."""
    tokenizer = AutoTokenizer.from_pretrained(MINILM.package.folder())

    def fits(word: str) -> bool:
        ours = corpus.tokenizer.encode(word, add_special_tokens=False).ids
        return len(ours) == 1 == len(tokenizer.encode(word, add_special_tokens=False))

    return figures.draw_gaps(corpus, "test", GAPS, fits)


# --- losses ---


def drawn_rows(corpus: Corpus) -> np.ndarray:
    """The rows of `test` for all models."""
    rng = np.random.default_rng(0)
    return np.sort(rng.permutation(len(corpus.rows("test")))[:ROWS])


def figures_of_gpt(model: nn.Module, corpus: Corpus) -> dict[str, str]:
    """Nats per character, which can be compared across vocabularies, and nats per subword."""
    rows, numbers = corpus.rows("test"), drawn_rows(corpus)
    losses = {"GPT": figures.losses_of_gpt(model, corpus, "test", numbers)}
    for order, called in ((1, "unigrams"), (5, "5-grams")):
        counts = KneserNey(figures.stream(corpus.rows("train")), PIECES, order)
        losses[called] = figures.losses_of_counts(counts, rows, numbers)
    characters, pieces = corpus.characters("test")[numbers], rows.lengths[numbers]
    return {
        f"{called}: nats per {unit}": ratio(np.stack([nats, size], axis=1))
        for called, nats in losses.items()
        for unit, size in (("character", characters), ("subword", pieces))
    }


def figures_of_elmo(model: nn.Module, corpus: Corpus) -> dict[str, str]:
    """Nats per word in each direction, next to models that count, where all words outside the softmax count as [UNK]; and the gaps."""
    words, numbers, gaps = corpus.word_rows("test"), drawn_rows(corpus), gaps_of(corpus)
    spelling, counts = spelling_of(corpus), {order: counts_of_words(corpus, order) for order in (1, 5)}
    (forward, backward), (end, beginning) = figures.losses_of_elmo(model, spelling, corpus, "test", numbers)
    seen = Ragged(np.where(words.values < WORDS, words.values, UNK), words.ends)
    losses = {"ELMo, from left to right": forward, "ELMo, from right to left": backward} | {
        called: figures.losses_of_counts(counts[order], seen, numbers)
        for order, called in ((1, "unigrams"), (5, "5-grams"))
    }
    losses["ELMo, right to left minus left to right"] = backward - forward
    losses["the same difference, including the end symbol of each direction"] = (
        backward + beginning - forward - end
    )
    found = {
        f"{called}: nats per word": ratio(np.stack([nats, words.lengths[numbers]], axis=1))
        for called, nats in losses.items()
    }
    sides = figures.gaps_of_elmo(
        model, spelling, corpus, "test", gaps, counts[1].log_p(np.arange(model.config.vocabulary))
    )
    of_elmo = {
        "ELMo, product of both directions": sides["both"],
        "ELMo, from left to right": sides["left"],
        "ELMo, from right to left": sides["right"],
    }
    return found | _of_gaps(of_elmo | _gaps_of_counts(corpus))


def losses_of_a_seed(name: str, model: nn.Module, corpus: Corpus) -> dict[str, float]:
    """The loss of an ELMo, BERT or GPT on the rows and gaps of its card, without count-based models and intervals, to compare seeds."""
    numbers = drawn_rows(corpus)
    if name == "bert":
        ranks, nats = figures.gaps_of_bert(model, corpus, "test", gaps_of(corpus))
        return {"nats per gap": nats.mean(), "top-1 accuracy": (ranks < 1).mean()}
    if name == "gpt":
        nats = figures.losses_of_gpt(model, corpus, "test", numbers).sum()
        characters, pieces = corpus.characters("test")[numbers], corpus.rows("test").lengths[numbers]
        return {"nats per character": nats / characters.sum(), "nats per subword": nats / pieces.sum()}
    directions, _ = figures.losses_of_elmo(model, spelling_of(corpus), corpus, "test", numbers)
    words = corpus.word_rows("test").lengths[numbers].sum()
    called = "nats per word, from left to right", "nats per word, from right to left"
    return {what: nats.sum() / words for what, nats in zip(called, directions, strict=True)}


@torch.no_grad()
def figures_of_skipgram(model: nn.Module, corpus: Corpus) -> dict[str, str]:
    """Nats per pair (one correct word and the negative ones) on unseen authors; the last row is the loss if all vectors were 0."""
    pairs = skip_gram.losses(model, corpus, 4_096, seed=0, split="test")
    nothing = (1 + skip_gram.NEGATIVES) * np.log(2)
    return {
        "nats per pair": mean(np.array([next(pairs).item() for _ in range(BATCHES)])),
        "nats per pair, if all vectors were 0": f"{nothing:.3f}",
    }


SAVES: dict[str, Callable[..., Path]] = {
    "skipgram": shipped.save_skipgram,
    "elmo": shipped.save_elmo,
    "bert": shipped.save_bert,
    "gpt": shipped.save_gpt,
}
MEASURES: dict[str, Callable[[nn.Module, Corpus], dict[str, str]]] = {
    "minilm": figures_of_minilm,
    "bert": figures_of_bert,
    "elmo": figures_of_elmo,
    "gpt": figures_of_gpt,
    "skipgram": figures_of_skipgram,
}


# --- with their intervals ---


def share(right: np.ndarray) -> str:
    """A proportion of True with its 95 % Wilson interval, as text for a model's card."""
    low, high = wilson(right.mean(), len(right))
    return f"{right.mean():.3f} ({low:.3f} to {high:.3f})"


def mean(values: np.ndarray) -> str:
    """A mean with its 95 % bootstrap interval, as text for a model's card."""
    low, high = bootstrap(values)
    return f"{values.mean():.3f} ({low:.3f} to {high:.3f})"


def ratio(rows: np.ndarray) -> str:
    """The sum of the first column divided by that of the second; for the interval, rows of text are resampled."""

    def whole(some: np.ndarray) -> float:
        return some[:, 0].sum() / some[:, 1].sum()

    low, high = bootstrap(rows, whole)
    return f"{whole(rows):.3f} ({low:.3f} to {high:.3f})"
