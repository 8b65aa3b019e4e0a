"""How far does one get on the opinions without understanding them?

Prints what the table contains, and the accuracy of trivial classifiers trained on the reviews of data/sentiment. The
card `data/opinions/README.md` quotes these lines (5 seconds).
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score

from experiments.datasets.penalised import predictions
from experiments.datasets.trivial import lengths, one_after_the_other, punctuation
from experiments.harness import ROOT, Card, Options

DATA = ROOT / "data"
DECAYS = (1e-4, 1e-3, 1e-2, 1e-1)


def read() -> pd.DataFrame:
    """The table of opinions."""
    return pd.read_csv(DATA / "opinions/opinions.csv")


def contents(opinions: pd.DataFrame) -> Iterator[str]:
    """What the table contains."""
    words = opinions["text"].str.split().str.len()
    yield f"opinions {len(opinions)}, subjects {opinions['subject'].nunique()}, positive {(opinions['label'] == 'positive').mean():.1%}"
    yield f"words per opinion: {words.min()} to {words.max()}, median {words.median():.0f}"
    second = pd.read_csv(DATA / "opinions/second_reading.csv").set_index("line").label
    agree, kappa = (second == opinions["label"]).sum(), cohen_kappa_score(second, opinions["label"])
    yield f"second annotation, blind: {len(second)} opinions, {agree} labels agree, kappa {kappa:.2f}"


def words_learned_elsewhere(opinions: pd.DataFrame) -> np.ndarray:
    """Which opinions a bag of words trained on all reviews of `data/sentiment` labels correctly; scikit-learn's default penalty."""
    reviews = pd.read_csv(DATA / "sentiment/sentiment.csv")
    counted = CountVectorizer(binary=True).fit(reviews["text"])
    model = LogisticRegression(max_iter=1_000).fit(counted.transform(reviews["text"]), reviews["label"])
    return model.predict(counted.transform(opinions["text"])) == opinions["label"].to_numpy()


def right(features: np.ndarray, both: pd.DataFrame) -> np.ndarray:
    """Which opinions a logistic regression trained on `data/sentiment` labels correctly."""
    found = predictions(features, both["label"], both["split"], DECAYS) == both["label"].to_numpy()
    return found[(both["split"] == "test").to_numpy()]


def trivial(opinions: pd.DataFrame) -> dict[str, float]:
    """Accuracy of trivial classifiers trained on `data/sentiment`: on all opinions, and on those that notebook 07 uses."""
    both = one_after_the_other(pd.read_csv(DATA / "sentiment/sentiment.csv"), opinions)
    asked = (
        opinions.groupby(["subject", "label"]).cumcount() > 0
    )  # the first of each serves as an example there
    words = words_learned_elsewhere(opinions)
    return {
        "majority": opinions["label"].value_counts(normalize=True).max(),
        "lengths": right(lengths(both["text"]), both).mean(),
        "punctuation": right(punctuation(both["text"]), both).mean(),
        "bag of words, learned on sentiment": words.mean(),
        "bag of words, learned on sentiment, on the 96 of notebook 07": words[asked.to_numpy()].mean(),
    }


def lines(options: Options) -> Iterator[str]:
    """What the card quotes."""
    opinions = read()
    yield from contents(opinions)
    yield from (f"{name}: {value:.3f}" for name, value in trivial(opinions).items())


EXPERIMENT = Card(lines)
