"""How many senses are found without the context of the word, and did the second annotation agree with the first?

Prints what the tables contain, the agreement of the annotations, and the accuracy of classifiers that see no context or
two words of it. With the texts of the novels (data/novels/README.md) it prints instead which words of the sentences the
novels lack. The card `data/senses/README.md` quotes these lines (20 seconds; with the novels, a minute).
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score
from sklearn.preprocessing import StandardScaler
from torch.nn.functional import normalize

from coursekit.novels.corpus import cleaned
from coursekit.vectors import load_glove
from experiments.datasets.trivial import bags as bags_of_words
from experiments.datasets.trivial import lengths, punctuation
from experiments.harness import ROOT, Card, Options
from experiments.senses import HALVES, bags, from_two_words

KINDS = ["plain", "far", "right", "decoy"]
EIGHT = ["bank", "court", "fair", "kind", "left", "light", "rose", "spring"]
"""Of the twelve words of the novels, those in senses.csv; the other four are in novels.csv."""


def read() -> pd.DataFrame:
    """The table of sentences."""
    return pd.read_csv(ROOT / "data/senses/senses.csv", keep_default_na=False)


def read_novels() -> pd.DataFrame:
    """The twelve words of the novels, from both tables."""
    senses, novels = read(), pd.read_csv(ROOT / "data/senses/novels.csv", keep_default_na=False)
    return pd.concat([senses[senses.word.isin(EIGHT)], novels], ignore_index=True)


def read_again(name: str = "second_reading") -> pd.DataFrame:
    """A second annotation."""
    return pd.read_csv(ROOT / "data/senses" / f"{name}.csv")


def halves_of(senses: pd.DataFrame) -> dict[str, Bool[np.ndarray, " n"]]:
    """Which sentences belong to all words, and to each half."""
    return {half: senses.parts_of_speech.isin(values).to_numpy() for half, values in HALVES.items()}


def parts_of(novels: pd.DataFrame) -> dict[str, Bool[np.ndarray, " n"]]:
    """Which sentences belong to all twelve words of the novels, and to the four new ones."""
    new = ~novels.word.isin(EIGHT).to_numpy()
    return {"twelve words": np.ones(len(novels), dtype=bool), "the four new": new}


def contents(senses: pd.DataFrame) -> Iterator[str]:
    """What the table contains."""
    yield f"sentences {len(senses):,}, words {senses.word.nunique()}, senses {senses.groupby('word').sense.nunique().sum()}"
    for half, mask in halves_of(senses).items():
        yield f"{half}: words {senses[mask].word.nunique()}; {sides(senses[mask])}"
    size = senses.sentence.str.split().str.len()
    yield f"words per sentence: {size.min()} to {size.max()}, median {size.median():.0f}"


def sides(rows: pd.DataFrame) -> str:
    """The sentences of train and of test, by kind."""
    return ", ".join(
        f"{side} {(rows.split == side).sum():,} ("
        + ", ".join(f"{kind} {((rows.split == side) & (rows.kind == kind)).sum()}" for kind in KINDS)
        + ")"
        for side in ("train", "test")
    )


def contents_of_novels(novels: pd.DataFrame) -> Iterator[str]:
    """What the tables contain on the words of the novels."""
    for part, mask in parts_of(novels).items():
        rows = novels[mask]
        yield (
            f"novels, {part}: sentences {len(rows)}, senses {rows.groupby('word').sense.nunique().sum()}; {sides(rows)}"
        )


def second_reading(senses: pd.DataFrame) -> str:
    """How often the second annotation, made without the label, agrees with it."""
    reading = read_again()
    label = reading.id.map(senses.set_index("id").sense)
    return (
        f"second reading: {len(reading)} test sentences, sense as written {(reading['read'] == label).sum()}, "
        f"doubtful {reading.doubtful.sum()}, rewritten {reading.rewritten.sum()}"
    )


def agreement(novels: pd.DataFrame) -> Iterator[str]:
    """The second annotation of each word: how often it is the intended sense, and Cohen's kappa of the two."""
    reading = read_again("novels_second_reading")
    reading["meant"] = reading.id.map(novels.set_index("id").sense)
    for word, rows in reading.groupby(reading.id.str.split("-").str[0]):
        yield (
            f"novels, second reading, {word}: {len(rows)} sentences, sense as written {(rows['read'] == rows.meant).sum()}, "
            f"kappa {cohen_kappa_score(rows['read'], rows.meant):.2f}, doubtful {rows.doubtful.sum()}, rewritten {rows.rewritten.sum()}"
        )


def place(senses: pd.DataFrame) -> Float[np.ndarray, "n 4"]:
    """The position of the word: words before and after it, its relative position, and whether it is the last."""
    before = np.array(
        [len(text[:start].split()) for text, start in zip(senses.sentence, senses.start, strict=True)]
    )
    after = senses.sentence.str.split().str.len().to_numpy() - before - 1
    return np.stack([before, after, before / (before + after), after == 0], axis=1).astype(float)


def learned(senses: pd.DataFrame, features: Float[np.ndarray, "n D"]) -> Bool[np.ndarray, " n"]:
    """Whether the sense of each sentence is found from its features, by a logistic regression per word."""
    right, train = np.zeros(len(senses), dtype=bool), (senses.split == "train").to_numpy()
    sense = senses.sense.to_numpy()
    for rows in senses.groupby("word").indices.values():
        own = rows[train[rows]]
        scale = StandardScaler().fit(features[own])
        model = LogisticRegression(max_iter=1_000).fit(scale.transform(features[own]), sense[own])
        right[rows] = model.predict(scale.transform(features[rows])) == sense[rows]
    return right


def bag_of_words(senses: pd.DataFrame) -> Bool[np.ndarray, " n"]:
    """The same from the words of a sentence, the ambiguous one included; words that are not in train are ignored."""
    train, right = (senses.split == "train").to_numpy(), np.zeros(len(senses), dtype=bool)
    sense = senses.sense.to_numpy()
    for rows in senses.groupby("word").indices.values():
        held = bags_of_words(senses.sentence.str.lower().to_numpy()[rows], train[rows])
        model = LogisticRegression(C=10.0, max_iter=1_000).fit(held[train[rows]], sense[rows[train[rows]]])
        right[rows] = model.predict(held) == sense[rows]
    return right


def by_name(senses: pd.DataFrame) -> Bool[np.ndarray, " n"]:
    """A bag without training: the sense whose name's GloVe vector is nearest to the sentence's mean (cosine)."""
    glove = load_glove()
    sums = normalize(bags(senses, glove, "rare words count more"), dim=1)
    right, sense = np.zeros(len(senses), dtype=bool), senses.sense.to_numpy()
    for rows in senses.groupby("word").indices.values():
        names = sorted(set(sense[rows]))
        of_names = normalize(torch.stack([glove[name] for name in names]), dim=1)
        right[rows] = np.array(names)[(sums[rows] @ of_names.T).argmax(dim=1).numpy()] == sense[rows]
    return right


def readers(senses: pd.DataFrame) -> dict[str, np.ndarray]:
    """Whether the sense of each sentence is found, by classifiers that see no context, or two words of it."""
    return {
        "most frequent sense": 1 / senses.groupby("word")["sense"].transform("nunique").to_numpy(),
        "length": learned(senses, lengths(senses.sentence)),
        "position of the word": learned(senses, place(senses)),
        "punctuation": learned(senses, punctuation(senses.sentence)),
        "bag of words, learned on train": bag_of_words(senses),
        "bag of words, learned elsewhere, asked for the sense's name": by_name(senses),
        "two words on either side": from_two_words(senses),
    }


def reached(senses: pd.DataFrame, parts: dict[str, Bool[np.ndarray, " n"]]) -> dict[str, str]:
    """The accuracy of each classifier on the test sentences of each part."""
    test = (senses.split == "test").to_numpy()
    return {
        reader: ", ".join(f"{part} {right[test & mask].mean():.3f}" for part, mask in parts.items())
        for reader, right in readers(senses).items()
    }


def trivial(senses: pd.DataFrame) -> dict[str, str]:
    """For all words and for each half."""
    return reached(senses, halves_of(senses))


def trivial_novels(novels: pd.DataFrame) -> dict[str, str]:
    """For the twelve words of the novels and for the four new ones."""
    return {f"novels, {reader}": said for reader, said in reached(novels, parts_of(novels)).items()}


def strange(novels: pd.DataFrame, folder: Path) -> Iterator[str]:
    """How many sentences contain a word that does not occur in the novels of a folder, and which words these are."""
    word = re.compile(r"[a-z]+(?:['-][a-z]+)*")
    vocabulary = {
        found
        for _, text in cleaned(folder)
        for paragraph in text
        for found in word.findall(paragraph.lower())
    }
    new = parts_of(novels)["the four new"]
    for name, mask in (("the eight in senses.csv", ~new), ("the four new", new)):
        lacking = [set(word.findall(text.lower())) - vocabulary for text in novels.sentence[mask]]
        listed = ", ".join(sorted(set().union(*lacking)))
        yield f"novels, a word that they lack, {name}: {sum(map(bool, lacking))} of {mask.sum()} sentences ({listed})"


def lines(options: Options) -> Iterator[str]:
    """What the card quotes."""
    senses, novels = read(), read_novels()
    if options.corpus:
        yield from strange(novels, options.corpus)
        return
    yield from contents(senses)
    yield second_reading(senses)
    yield from (f"{classifier}: {said}" for classifier, said in trivial(senses).items())
    yield from contents_of_novels(novels)
    yield from agreement(novels)
    yield from (f"{classifier}: {said}" for classifier, said in trivial_novels(novels).items())


EXPERIMENT = Card(lines, novels=True)
