"""Can the similarity or the label of a pair of sentences be predicted by counting alone?

Prints what the table contains, the agreement of the two annotations, the correlation of counts with the grades, and how
far counts and single sentences get at the labels. The card `data/pairs/README.md` quotes these lines (10 seconds).
"""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import cohen_kappa_score

from experiments.datasets.penalised import predictions
from experiments.datasets.trivial import indicators
from experiments.harness import ROOT, Card, Options

SPLITS = ["train", "validation", "test"]
LABELS = ["entailment", "neutral", "contradiction"]
NEGATIONS = set("no not never nobody none nothing nowhere neither nor cannot without".split())
STEPS = range(11)  # an annotation is a multiple of one half, from 0 to 5
DECAYS = (1e-4, 1e-3, 1e-2, 1e-1)


def read() -> pd.DataFrame:
    """The table of pairs."""
    return pd.read_csv(ROOT / "data/pairs/pairs.csv")


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return re.findall(r"[a-z0-9]+(?:['-][a-z0-9]+)*", text.lower())


def has_negation(text: str) -> bool:
    """Whether a text contains a word of negation."""
    return any(word in NEGATIONS or word.endswith("n't") for word in words(text))


def overlap(pair: pd.Series) -> float:
    """Words that both sentences contain, as a share of the words that either contains (Jaccard)."""
    premise, hypothesis = set(words(pair["premise"])), set(words(pair["hypothesis"]))
    return len(premise & hypothesis) / len(premise | hypothesis)


def counts(pairs: pd.DataFrame) -> pd.DataFrame:
    """What can be counted without knowing a word, a column each."""
    premise, hypothesis = (pairs[side].map(words).map(len) for side in ("premise", "hypothesis"))
    denied, denying = (pairs[side].map(has_negation) for side in ("premise", "hypothesis"))
    own = pairs["hypothesis"].map(lambda text: set(words(text)))
    shared = [len(own[i] & set(words(pairs["premise"][i]))) / len(own[i]) for i in pairs.index]
    return pd.DataFrame({
        "words, hypothesis / premise": hypothesis / premise,
        "characters, hypothesis / premise": pairs["hypothesis"].str.len() / pairs["premise"].str.len(),
        "words of the premise": premise.astype(float),
        "words in common / all words": pairs.apply(overlap, axis=1),
        "words in common / hypothesis": shared,
        "negation in the premise": denied.astype(float),
        "negation in one of the two": (denied != denying).astype(float),
    })  # fmt: skip


def spearman(first: pd.Series, second: pd.Series) -> float:
    """Spearman's correlation."""
    return first.rank().corr(second.rank())


def parts(pairs: pd.DataFrame) -> dict[str, pd.Series]:
    """Which rows: all, each split, each label, and each label in each split."""
    found = {"all": pairs["split"].notna()}
    found |= {split: pairs["split"] == split for split in SPLITS}
    found |= {label: pairs["label"] == label for label in LABELS}
    return found | {f"{split}, {label}": found[split] & found[label] for split in SPLITS for label in LABELS}


def counting_alone(pairs: pd.DataFrame) -> pd.DataFrame:
    """Spearman's correlation of each count with the grade, a row for each part."""
    columns = counts(pairs)
    return pd.DataFrame({
        name: {part: spearman(values[rows], pairs["similarity"][rows]) for part, rows in parts(pairs).items()}
        for name, values in columns.items()
    })  # fmt: skip


def counting_together(pairs: pd.DataFrame) -> dict[str, float]:
    """Spearman on `test` of a grade predicted from all counts at once, trained on `train`: linearly, and by any function."""
    columns, train, test = counts(pairs), pairs["split"] == "train", pairs["split"] == "test"
    trees = HistGradientBoostingRegressor(max_depth=3, max_iter=50, random_state=0)
    found = {}
    for name, model in {"ridge regression": Ridge(), "boosted trees": trees}.items():
        model.fit(columns[train], pairs["similarity"][train])
        guess = pd.Series(model.predict(columns[test]), index=pairs.index[test])
        found[name] = spearman(guess, pairs["similarity"][test])
    return found


def kappa(pairs: pd.DataFrame) -> float:
    """Agreement of the two annotations: Cohen's kappa with squared weights (Cohen 1968); 1 is full agreement, 0 chance."""
    first, second = ((2 * pairs[reading]).astype(int) for reading in ("first", "second"))
    return float(cohen_kappa_score(first, second, weights="quadratic", labels=list(STEPS)))


def explained(pairs: pd.DataFrame) -> float:
    """Share of the similarity's variance that lies between the labels (eta squared)."""
    means = pairs.groupby("label")["similarity"].transform("mean")
    return means.var(ddof=0) / pairs["similarity"].var(ddof=0)


def contents(pairs: pd.DataFrame) -> Iterator[str]:
    """What the table contains."""
    yield f"pairs {len(pairs)}, hypotheses {pairs['hypothesis'].nunique()}, domains {pairs['domain'].nunique()}"
    for split in SPLITS:
        some = pairs[pairs["split"] == split]
        of_each = ", ".join(f"{(some['label'] == label).sum()} {label}" for label in LABELS)
        yield f"{split}: {len(some)} ({of_each})"
    lengths = pairs["hypothesis"].map(words).map(len), pairs["premise"].map(words).map(len)
    for side, length in zip(("hypothesis", "premise"), lengths, strict=True):
        yield f"words per {side}: {length.min()} to {length.max()}, median {length.median():.0f}"
    for label in LABELS:
        some = pairs[pairs["label"] == label]
        length, negated = some["premise"].map(words).map(len), some["premise"].map(has_negation)
        low, first, middle, third, high = some["similarity"].quantile([0, 0.25, 0.5, 0.75, 1])
        yield (
            f"{label:13} words per premise: mean {length.mean():.1f}; with a negation: premises {negated.mean():.1%}, "
            f"hypotheses {some['hypothesis'].map(has_negation).mean():.1%}; overlap: mean {some.apply(overlap, axis=1).mean():.2f}; "
            f"similarity {low} to {high}, quartiles {first:.2f}, {middle:.2f}, {third:.2f}"
        )
    yield f"share of the similarity's variance that the label explains: {explained(pairs):.2f}"


def agreement(pairs: pd.DataFrame) -> Iterator[str]:
    """How far the two annotations agree."""
    apart = (pairs["first"] - pairs["second"]).abs()
    yield (
        f"two annotators: weighted kappa {kappa(pairs):.2f}; equal {(apart == 0).mean():.0%}, at most 0.5 apart {(apart <= 0.5).mean():.0%}, "
        f"more than 1 apart {(apart > 1).mean():.1%}"
    )
    for label in LABELS:
        some = pairs[pairs["label"] == label]
        yield (
            f"  within {label}: weighted kappa {kappa(some):.2f}; "
            f"mean of the first {some['first'].mean():.2f}, of the second {some['second'].mean():.2f}"
        )


def by_counting(pairs: pd.DataFrame) -> Iterator[str]:
    """The correlations with the grade of what can be counted: the card's table."""
    table = counting_alone(pairs)
    yield f"{'Spearman with the grade':34}" + "".join(f"{part[:6]:>8}" for part in table.index[:7])
    for name, values in table.items():
        yield f"{name:34}" + "".join(f"{value:8.2f}" for value in values[:7])
    within = table.iloc[7:].abs()
    for split in SPLITS:
        rows = within[within.index.str.startswith(split)]
        yield f"largest within one label of {split}: {rows.max().max():.2f}"


def bag_of_words(texts: pd.Series, train: pd.Series) -> np.ndarray:
    """Which words of the training texts a text contains."""
    return indicators(texts.map(lambda text: set(words(text))), train).astype(float)


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
    """Accuracy of the label on the test split without understanding the pairs."""
    train, test = pairs["split"] == "train", pairs["split"] == "test"
    return {
        "majority": pairs.loc[test, "label"].value_counts(normalize=True).max(),
        "hypothesis only, bag of words": accuracy(bag_of_words(pairs["hypothesis"], train), pairs),
        "premise only, bag of words": accuracy(bag_of_words(pairs["premise"], train), pairs),
        "overlap, lengths and negations": accuracy(shallow_features(pairs), pairs),
    }


def lines(options: Options) -> Iterator[str]:
    """What the card quotes."""
    pairs = read()
    for part in (contents, agreement, by_counting):
        yield from part(pairs)
    yield from (
        f"all counts together, {name}: {value:.3f}" for name, value in counting_together(pairs).items()
    )
    yield from (f"label, {name}: {value:.3f}" for name, value in baselines(pairs).items())


EXPERIMENT = Card(lines)
