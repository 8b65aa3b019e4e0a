"""The figures of the card: what the tables hold, what the second readings said, and what readers without context reach (about 20 s).

    python tools/figures_senses.py
    python tools/figures_senses.py --novels FOLDER

With a folder of the novels (data/novels/README.md) it prints instead which words of the sentences the novels lack (a minute).
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from record_senses import HALVES, ROOT, bags, from_two_words
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score
from sklearn.preprocessing import StandardScaler
from torch.nn.functional import normalize
from trivial import bags as bags_of_words
from trivial import lengths, punctuation

from coursekit.novels.corpus import cleaned
from coursekit.vectors import load_glove

KINDS = ["plain", "far", "right", "decoy"]
EIGHT = ["bank", "court", "fair", "kind", "left", "light", "rose", "spring"]
"""Those of the twelve words of the novels that stand in senses.csv; the other four are the words of novels.csv."""


def read() -> pd.DataFrame:
    return pd.read_csv(ROOT / "data/senses/senses.csv", keep_default_na=False)


def read_novels() -> pd.DataFrame:
    """The twelve words of the novels, out of both tables."""
    senses, novels = read(), pd.read_csv(ROOT / "data/senses/novels.csv", keep_default_na=False)
    return pd.concat([senses[senses.word.isin(EIGHT)], novels], ignore_index=True)


def read_again(name: str = "second_reading") -> pd.DataFrame:
    return pd.read_csv(ROOT / "data/senses" / f"{name}.csv")


def halves_of(senses: pd.DataFrame) -> dict[str, Bool[np.ndarray, " n"]]:
    """Which sentences are of all words, and of which half."""
    return {half: senses.parts_of_speech.isin(values).to_numpy() for half, values in HALVES.items()}


def parts_of(novels: pd.DataFrame) -> dict[str, Bool[np.ndarray, " n"]]:
    """Which sentences are of all twelve words of the novels, and of the four that are new."""
    new = ~novels.word.isin(EIGHT).to_numpy()
    return {"twelve words": np.ones(len(novels), dtype=bool), "the four new": new}


def contents(senses: pd.DataFrame) -> Iterator[str]:
    """What the table holds, counted."""
    yield f"sentences {len(senses):,}, words {senses.word.nunique()}, senses {senses.groupby('word').sense.nunique().sum()}"
    for half, mask in halves_of(senses).items():
        yield f"{half}: words {senses[mask].word.nunique()}; {sides(senses[mask])}"
    size = senses.sentence.str.split().str.len()
    yield f"words a sentence: {size.min()} to {size.max()}, median {size.median():.0f}"


def sides(rows: pd.DataFrame) -> str:
    """The sentences of train and of test, by kind."""
    return ", ".join(
        f"{side} {(rows.split == side).sum():,} ("
        + ", ".join(f"{kind} {((rows.split == side) & (rows.kind == kind)).sum()}" for kind in KINDS)
        + ")"
        for side in ("train", "test")
    )


def contents_of_novels(novels: pd.DataFrame) -> Iterator[str]:
    """What there is of the words of the novels, counted."""
    for part, mask in parts_of(novels).items():
        rows = novels[mask]
        yield (
            f"novels, {part}: sentences {len(rows)}, senses {rows.groupby('word').sense.nunique().sum()}; {sides(rows)}"
        )


def second_reading(senses: pd.DataFrame) -> str:
    """How often the sense that was read without its label was the label."""
    reading = read_again()
    label = reading.id.map(senses.set_index("id").sense)
    return (
        f"second reading: {len(reading)} test sentences, sense as written {(reading['read'] == label).sum()}, "
        f"doubtful {reading.doubtful.sum()}, rewritten {reading.rewritten.sum()}"
    )


def agreement(novels: pd.DataFrame) -> Iterator[str]:
    """The second reading of each word: how often the sense was read that was meant, and Cohen's kappa of the two."""
    reading = read_again("novels_second_reading")
    reading["meant"] = reading.id.map(novels.set_index("id").sense)
    for word, rows in reading.groupby(reading.id.str.split("-").str[0]):
        yield (
            f"novels, second reading, {word}: {len(rows)} sentences, sense as written {(rows['read'] == rows.meant).sum()}, "
            f"kappa {cohen_kappa_score(rows['read'], rows.meant):.2f}, doubtful {rows.doubtful.sum()}, rewritten {rows.rewritten.sum()}"
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


def readers(senses: pd.DataFrame) -> dict[str, np.ndarray]:
    """Whether each sentence gets its sense, for each reader that has no context, or two words of it."""
    return {
        "most frequent sense": 1 / senses.groupby("word")["sense"].transform("nunique").to_numpy(),
        "length": learned(senses, lengths(senses.sentence)),
        "place of the word": learned(senses, place(senses)),
        "punctuation": learned(senses, punctuation(senses.sentence)),
        "bag of words, learned on train": bag_of_words(senses),
        "bag of words, learned elsewhere, asked for the sense's name": by_name(senses),
        "two words on either side": from_two_words(senses),
    }


def reached(senses: pd.DataFrame, parts: dict[str, Bool[np.ndarray, " n"]]) -> dict[str, str]:
    """The accuracy of each reader on the test sentences of each part."""
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
    """How many sentences have a word that stands nowhere in the novels of a folder, and which words these are."""
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--novels", type=Path, metavar="FOLDER")
    folder = parser.parse_args().novels
    torch.set_num_threads(1)
    senses, novels = read(), read_novels()
    if folder:
        print("\n".join(strange(novels, folder)))
        return
    print("\n".join(contents(senses)))
    print(second_reading(senses))
    for reader, said in trivial(senses).items():
        print(f"{reader}: {said}")
    print("\n".join([*contents_of_novels(novels), *agreement(novels)]))
    for reader, said in trivial_novels(novels).items():
        print(f"{reader}: {said}")


if __name__ == "__main__":
    main()
