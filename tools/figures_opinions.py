"""The figures of the card: what the table holds, and how far one gets without a language model (about 5 s).

python tools/figures_opinions.py
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from penalised import predictions
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from trivial import lengths, one_after_the_other, punctuation

DATA = Path(__file__).parents[1] / "data"
DECAYS = (1e-4, 1e-3, 1e-2, 1e-1)


def read() -> pd.DataFrame:
    return pd.read_csv(DATA / "opinions/opinions.csv")


def contents(opinions: pd.DataFrame) -> Iterator[str]:
    """What the table holds, counted."""
    words = opinions["text"].str.split().str.len()
    yield f"opinions {len(opinions)}, subjects {opinions['subject'].nunique()}, positive {(opinions['label'] == 'positive').mean():.1%}"
    yield f"words an opinion: {words.min()} to {words.max()}, median {words.median():.0f}"


def words_learned_elsewhere(opinions: pd.DataFrame) -> np.ndarray:
    """Whether each opinion gets its label from the words of the reviews of `data/sentiment`, all of them; scikit-learn's own penalty."""
    reviews = pd.read_csv(DATA / "sentiment/sentiment.csv")
    counted = CountVectorizer(binary=True).fit(reviews["text"])
    model = LogisticRegression(max_iter=1_000).fit(counted.transform(reviews["text"]), reviews["label"])
    return model.predict(counted.transform(opinions["text"])) == opinions["label"].to_numpy()


def right(features: np.ndarray, both: pd.DataFrame) -> np.ndarray:
    """Whether each opinion gets its label from a logistic regression that has learned on `data/sentiment`."""
    found = predictions(features, both["label"], both["split"], DECAYS) == both["label"].to_numpy()
    return found[(both["split"] == "test").to_numpy()]


def trivial(opinions: pd.DataFrame) -> dict[str, float]:
    """Accuracy of what does not understand, learned on `data/sentiment`: on all opinions, and on those that notebook 07 asks."""
    both = one_after_the_other(pd.read_csv(DATA / "sentiment/sentiment.csv"), opinions)
    asked = opinions.groupby(["subject", "label"]).cumcount() > 0  # the first of each is an example there
    words = words_learned_elsewhere(opinions)
    return {
        "majority": opinions["label"].value_counts(normalize=True).max(),
        "lengths": right(lengths(both["text"]), both).mean(),
        "punctuation": right(punctuation(both["text"]), both).mean(),
        "bag of words, learned on sentiment": words.mean(),
        "bag of words, learned on sentiment, on the 96 of notebook 07": words[asked.to_numpy()].mean(),
    }


def main() -> None:
    opinions = read()
    print("\n".join(contents(opinions)))
    for name, value in trivial(opinions).items():
        print(f"{name}: {value:.3f}")


if __name__ == "__main__":
    main()
