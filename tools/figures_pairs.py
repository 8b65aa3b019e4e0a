"""The figures of the card: what the table holds, and how far one gets without understanding it (about 10 s).

python tools/figures_pairs.py
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from penalised import predictions

SPLITS = ["train", "validation", "test"]
LABELS = ["entailment", "neutral", "contradiction"]
NEGATIONS = set("no not never nobody none nothing nowhere neither nor cannot without".split())
DECAYS = (1e-4, 1e-3, 1e-2, 1e-1)


def read() -> pd.DataFrame:
    return pd.read_csv(Path(__file__).parents[1] / "data/pairs/pairs.csv")


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+(?:['-][a-z0-9]+)*", text.lower())


def has_negation(text: str) -> bool:
    return bool(NEGATIONS & set(words(text)))


def overlap(pair: pd.Series) -> float:
    """Words that both sentences have, as a share of the words that either has (Jaccard)."""
    premise, hypothesis = set(words(pair["premise"])), set(words(pair["hypothesis"]))
    return len(premise & hypothesis) / len(premise | hypothesis)


def spearman(first: pd.Series, second: pd.Series) -> float:
    return first.rank().corr(second.rank())


def explained(pairs: pd.DataFrame) -> float:
    """Share of the similarity's variance that lies between the labels (eta squared)."""
    means = pairs.groupby("label")["similarity"].transform("mean")
    return means.var(ddof=0) / pairs["similarity"].var(ddof=0)


def contents(pairs: pd.DataFrame) -> Iterator[str]:
    """What the table holds, counted."""
    yield f"pairs {len(pairs)}, hypotheses {pairs['hypothesis'].nunique()}, domains {pairs['domain'].nunique()}"
    for split in SPLITS:
        some = pairs[pairs["split"] == split]
        counts = ", ".join(f"{(some['label'] == label).sum()} {label}" for label in LABELS)
        yield f"{split}: {len(some)} ({counts})"
    yield f"words a hypothesis: median {pairs['hypothesis'].map(words).map(len).median():.0f}"
    for label in LABELS:
        some = pairs[pairs["label"] == label]
        lengths, negated = some["premise"].map(words).map(len), some["premise"].map(has_negation)
        low, first, middle, third, high = some["similarity"].quantile([0, 0.25, 0.5, 0.75, 1])
        yield (
            f"{label:13} words a premise: mean {lengths.mean():.1f}; with a negation: premises {negated.mean():.1%}, "
            f"hypotheses {some['hypothesis'].map(has_negation).mean():.1%}; overlap: mean {some.apply(overlap, axis=1).mean():.2f}; "
            f"similarity {low} to {high}, quartiles {first:.1f}, {middle:.1f}, {third:.1f}"
        )
    yield f"share of the similarity's variance that the label explains: {explained(pairs):.2f}"


def bag_of_words(texts: pd.Series, train: pd.Series) -> np.ndarray:
    """Which words of the training texts a text holds."""
    bags = texts.map(lambda text: set(words(text)))
    vocabulary = sorted(set().union(*bags[train]))
    return np.array([[word in bag for word in vocabulary] for bag in bags], dtype=float)


def shallow_features(pairs: pd.DataFrame) -> np.ndarray:
    """Overlap, lengths and negations: what can be counted without knowing a word."""
    columns = [pairs.apply(overlap, axis=1)]
    for side in ("premise", "hypothesis"):
        columns += [pairs[side].map(words).map(len) / 10, pairs[side].map(has_negation)]
    return np.array(columns, dtype=float).T


def accuracy(features: np.ndarray, pairs: pd.DataFrame) -> float:
    """Of a logistic regression, on `test`."""
    right = predictions(features, pairs["label"], pairs["split"], DECAYS) == pairs["label"]
    return float(right[pairs["split"] == "test"].mean())


def baselines(pairs: pd.DataFrame) -> dict[str, float]:
    """How far one gets on the test split without understanding the pairs."""
    train, test = pairs["split"] == "train", pairs["split"] == "test"
    return {
        "majority": pairs.loc[test, "label"].value_counts(normalize=True).max(),
        "hypothesis only, bag of words": accuracy(bag_of_words(pairs["hypothesis"], train), pairs),
        "premise only, bag of words": accuracy(bag_of_words(pairs["premise"], train), pairs),
        "overlap, lengths and negations": accuracy(shallow_features(pairs), pairs),
    }


def main() -> None:
    pairs = read()
    print("\n".join(contents(pairs)))
    for name, value in baselines(pairs).items():
        print(f"label, {name}: {value:.3f}")
    test = pairs[pairs["split"] == "test"]
    for name, some in (("all pairs", pairs), ("test", test)):
        print(
            f"similarity, Spearman with word overlap, {name}: {spearman(some.apply(overlap, axis=1), some['similarity']):.2f}"
        )
    for label in LABELS:
        some = pairs[pairs["label"] == label]
        print(f"  within {label}: {spearman(some.apply(overlap, axis=1), some['similarity']):.2f}")


if __name__ == "__main__":
    main()
