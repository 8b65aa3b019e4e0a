"""How far does one get on the reviews without understanding them, and how much further with a frozen encoder?

Prints what the table contains, and the accuracy of trivial classifiers, of a bag of words and of a linear classifier on a
frozen encoder. The card `data/sentiment/README.md` quotes these lines (20 seconds).
"""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import cohen_kappa_score

from coursekit.models import load
from experiments.datasets.penalised import predictions
from experiments.datasets.trivial import bags, indicators, lengths, one_after_the_other, punctuation
from experiments.harness import ROOT, Card, Options

SPLITS = ["train", "validation", "test"]
PHENOMENA = ["plain", "negation", "contrast", "sarcasm"]
DECAYS = (1e-4, 1e-3, 1e-2, 1e-1)


def read() -> pd.DataFrame:
    """The table of reviews."""
    return pd.read_csv(ROOT / "data/sentiment/sentiment.csv")


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower())


def contents(reviews: pd.DataFrame) -> Iterator[str]:
    """What the table contains."""
    lengths, vocabulary = reviews["text"].str.split().str.len(), set(reviews["text"].map(words).sum())
    yield f"reviews {len(reviews)}, domains {reviews['domain'].nunique()}: {', '.join(sorted(reviews['domain'].unique()))}"
    yield f"words per review: {lengths.min()} to {lengths.max()}, median {lengths.median():.0f}; different words {len(vocabulary):,}"
    table = reviews.groupby(["split", "label"]).size().unstack().loc[SPLITS]
    yield "; ".join(
        f"{split} {row.sum()} ({row['positive']} positive, {row['negative']} negative)"
        for split, row in table.iterrows()
    )
    for phenomenon in PHENOMENA:
        some = reviews[reviews["phenomenon"] == phenomenon]
        counts = ", ".join(f"{split} {(some['split'] == split).sum()}" for split in SPLITS)
        yield (
            f"{phenomenon:9} {len(some):3} ({len(some) / len(reviews):.1%}), "
            f"{(some['label'] == 'positive').mean():.1%} of them positive; {counts}"
        )
    yield second_reading(reviews)


def second_reading(reviews: pd.DataFrame) -> str:
    """How often the second annotator's label of a test review is the author's, and Cohen's kappa of the two."""
    both = pd.read_csv(ROOT / "data/sentiment/second_reading.csv").merge(
        reviews, on="id", suffixes=("_second", "")
    )
    agree, kappa = (both.label_second == both.label).sum(), cohen_kappa_score(both.label_second, both.label)
    return f"second annotation, blind: {len(both)} test reviews, {agree} labels agree, kappa {kappa:.2f}, doubtful {both.doubtful.sum()}"


def bag_of_words(reviews: pd.DataFrame) -> np.ndarray:
    """Which words of the training reviews a text contains, each row of length 1."""
    bags = reviews["text"].map(lambda text: set(words(text)))
    held = indicators(bags, reviews["split"] == "train").astype(float)
    return held / np.sqrt(held.sum(1, keepdims=True))


def sentence_vectors(reviews: pd.DataFrame) -> tuple[np.ndarray, str]:
    """The mean of the last layer over a text's tokens, from the frozen encoder that the course loads; its name."""
    loaded, vectors = load("all-MiniLM-L6-v2"), []
    for start in range(0, len(reviews), 32):
        texts = list(reviews["text"].iloc[start : start + 32])
        batch = loaded.tokenizer(texts, padding=True, return_tensors="pt")
        with torch.no_grad():
            hidden = loaded.model(**batch).last_hidden_state  # batch tokens dim
        keep = batch["attention_mask"][..., None]
        vectors.append((hidden * keep).sum(1) / keep.sum(1))
    pooled = torch.cat(vectors).double().numpy()
    return pooled - pooled[(reviews["split"] == "train").to_numpy()].mean(0), loaded.name


def logistic_regression(features: np.ndarray, reviews: pd.DataFrame) -> np.ndarray:
    """Whether each prediction is correct."""
    return predictions(features, reviews["label"], reviews["split"], DECAYS) == reviews["label"].to_numpy()


def accuracies(right: np.ndarray, reviews: pd.DataFrame) -> str:
    """Accuracy on `test`, with a bootstrap interval over its reviews, and for each phenomenon."""
    test = (reviews["split"] == "test").to_numpy()
    draws = np.random.default_rng(0).choice(right[test], (10_000, test.sum())).mean(1)
    low, high = np.quantile(draws, [0.025, 0.975])
    parts = [
        f"{phenomenon} {right[test & (reviews['phenomenon'] == phenomenon).to_numpy()].mean():.3f}"
        for phenomenon in PHENOMENA
    ]
    return f"{right[test].mean():.3f} (95% {low:.3f} to {high:.3f}); {', '.join(parts)}"


def trivial(reviews: pd.DataFrame) -> dict[str, float]:
    """Accuracy on `test` from lengths, from punctuation, and from a bag of words trained on other texts."""
    opinions = pd.read_csv(ROOT / "data/opinions/opinions.csv")
    halves = opinions.groupby("subject").cumcount() < 8  # the rest selects the penalty
    opinions = opinions.assign(split=np.where(halves, "train", "validation"))
    elsewhere = one_after_the_other(opinions, reviews[reviews["split"] == "test"])
    test = (reviews["split"] == "test").to_numpy()
    learned_from = (elsewhere["split"] == "train").to_numpy()
    return {
        "lengths": logistic_regression(lengths(reviews["text"]), reviews)[test].mean(),
        "punctuation": logistic_regression(punctuation(reviews["text"]), reviews)[test].mean(),
        "bag of words, learned on opinions": logistic_regression(
            bags(elsewhere["text"], learned_from), elsewhere
        )[(elsewhere["split"] == "test").to_numpy()].mean(),
    }


def lines(options: Options) -> Iterator[str]:
    """What the card quotes."""
    reviews = read()
    yield from contents(reviews)
    vectors, name = sentence_vectors(reviews)
    majority = (reviews["label"] == "positive").to_numpy()
    yield f"majority: {accuracies(majority, reviews).split(' ')[0]}"
    yield from (f"{classifier}: {value:.3f}" for classifier, value in trivial(reviews).items())
    yield f"bag of words: {accuracies(logistic_regression(bag_of_words(reviews), reviews), reviews)}"
    yield f"{name}, frozen: {accuracies(logistic_regression(vectors, reviews), reviews)}"


EXPERIMENT = Card(lines)
