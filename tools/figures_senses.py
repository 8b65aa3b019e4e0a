"""The figures of the card: what the table holds, what the second reading said, and what readers without context reach (about 10 s).

python tools/figures_senses.py
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from record_senses import HALVES, ROOT, bags, from_two_words
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from torch.nn.functional import normalize
from trivial import bags as bags_of_words
from trivial import lengths, punctuation

from coursekit.vectors import load_glove

KINDS = ["plain", "far", "right", "decoy"]


def read() -> pd.DataFrame:
    return pd.read_csv(ROOT / "data/senses/senses.csv", keep_default_na=False)


def read_again() -> pd.DataFrame:
    return pd.read_csv(ROOT / "data/senses/second_reading.csv")


def contents(senses: pd.DataFrame) -> Iterator[str]:
    """What the table holds, counted."""
    yield f"sentences {len(senses):,}, words {senses.word.nunique()}, senses {senses.groupby('word').sense.nunique().sum()}"
    for half, parts_of_speech in HALVES.items():
        rows = senses[senses.parts_of_speech.isin(parts_of_speech)]
        sides = ", ".join(
            f"{side} {(rows.split == side).sum():,} ("
            + ", ".join(f"{kind} {((rows.split == side) & (rows.kind == kind)).sum()}" for kind in KINDS)
            + ")"
            for side in ("train", "test")
        )
        yield f"{half}: words {rows.word.nunique()}; {sides}"
    size = senses.sentence.str.split().str.len()
    yield f"words a sentence: {size.min()} to {size.max()}, median {size.median():.0f}"


def second_reading(senses: pd.DataFrame) -> str:
    """How often the sense that was read without its label was the label."""
    reading = read_again()
    label = reading.id.map(senses.set_index("id").sense)
    return (
        f"second reading: {len(reading)} test sentences, sense as written {(reading['read'] == label).sum()}, "
        f"doubtful {reading.doubtful.sum()}, rewritten {reading.rewritten.sum()}"
    )


def place(senses: pd.DataFrame) -> Float[np.ndarray, "n 4"]:
    """Where the word stands: words before and after it, its share of the way, and whether it is the last."""
    before = np.array(
        [len(text[:start].split()) for text, start in zip(senses.sentence, senses.start, strict=True)]
    )
    after = senses.sentence.str.split().str.len().to_numpy() - before - 1
    return np.stack([before, after, before / (before + after), after == 0], axis=1).astype(float)


def learned(senses: pd.DataFrame, features: Float[np.ndarray, "n D"]) -> Bool[np.ndarray, " n"]:
    """Whether each sentence gets its sense from its features: for each word a logistic regression on its training sentences."""
    right, train = np.zeros(len(senses), dtype=bool), (senses.split == "train").to_numpy()
    sense = senses.sense.to_numpy()
    for rows in senses.groupby("word").indices.values():
        own = rows[train[rows]]
        scale = StandardScaler().fit(features[own])
        model = LogisticRegression(max_iter=1_000).fit(scale.transform(features[own]), sense[own])
        right[rows] = model.predict(scale.transform(features[rows])) == sense[rows]
    return right


def bag_of_words(senses: pd.DataFrame) -> Bool[np.ndarray, " n"]:
    """The same from which words a sentence holds, its ambiguous word among them; words that train lacks are not seen."""
    train, right = (senses.split == "train").to_numpy(), np.zeros(len(senses), dtype=bool)
    sense = senses.sense.to_numpy()
    for rows in senses.groupby("word").indices.values():
        held = bags_of_words(senses.sentence.str.lower().to_numpy()[rows], train[rows])
        model = LogisticRegression(C=10.0, max_iter=1_000).fit(held[train[rows]], sense[rows[train[rows]]])
        right[rows] = model.predict(held) == sense[rows]
    return right


def by_name(senses: pd.DataFrame) -> Bool[np.ndarray, " n"]:
    """A bag that has learned nothing here: the sense whose name's GloVe vector is nearest to the sentence's mean (cosine)."""
    glove = load_glove()
    sums = normalize(bags(senses, glove, "rare words count more"), dim=1)
    right, sense = np.zeros(len(senses), dtype=bool), senses.sense.to_numpy()
    for rows in senses.groupby("word").indices.values():
        names = sorted(set(sense[rows]))
        of_names = normalize(torch.stack([glove[name] for name in names]), dim=1)
        right[rows] = np.array(names)[(sums[rows] @ of_names.T).argmax(dim=1).numpy()] == sense[rows]
    return right


def trivial(senses: pd.DataFrame) -> dict[str, str]:
    """Accuracy on test of what has no context, or two words of it; for all words and for each half."""
    found = {
        "most frequent sense": 1 / senses.groupby("word")["sense"].transform("nunique").to_numpy(),
        "length": learned(senses, lengths(senses.sentence)),
        "place of the word": learned(senses, place(senses)),
        "punctuation": learned(senses, punctuation(senses.sentence)),
        "bag of words, learned on train": bag_of_words(senses),
        "bag of words, learned elsewhere, asked for the sense's name": by_name(senses),
        "two words on either side": from_two_words(senses),
    }
    test = (senses.split == "test").to_numpy()
    halves = {
        half: test & senses.parts_of_speech.isin(parts_of_speech).to_numpy()
        for half, parts_of_speech in HALVES.items()
    }
    return {
        reader: ", ".join(f"{half} {right[mask].mean():.3f}" for half, mask in halves.items())
        for reader, right in found.items()
    }


def main() -> None:
    torch.set_num_threads(1)
    senses = read()
    print("\n".join(contents(senses)))
    print(second_reading(senses))
    for reader, reached in trivial(senses).items():
        print(f"{reader}: {reached}")


if __name__ == "__main__":
    main()
