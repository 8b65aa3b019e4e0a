"""The figures of the card: what the tables hold, and how far counting words finds the right passage.

python tools/figures_retrieval.py
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

FOLDER = Path(__file__).parents[1] / "data/retrieval"
COMMON = set(
    "a an and are as at be by can could did do does for from has have how i if in into is it its my of on or so that the "
    "their them then there they this to was were what when where which who why will with you your".split()
)


def read() -> tuple[pd.DataFrame, pd.DataFrame]:
    return pd.read_csv(FOLDER / "passages.csv", dtype=str), pd.read_csv(FOLDER / "questions.csv", dtype=str)


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower())) - COMMON


def full_texts(passages: pd.DataFrame) -> pd.Series:
    return (passages.title + ": " + passages.text).set_axis(passages.id)


def places(scores: np.ndarray, right: np.ndarray) -> np.ndarray:
    """At which place each right passage stands; ties share the mean of their places."""
    own = scores[np.arange(len(right)), right][:, None]
    return (scores > own).sum(axis=1) + ((scores == own).sum(axis=1) + 1) / 2


def baselines(passages: pd.DataFrame, questions: pd.DataFrame) -> dict[str, np.ndarray]:
    """For each way to count, the place of the right passage of each question."""
    texts = full_texts(passages)
    right = pd.Index(passages.id).get_indexer(questions.passage)
    shared = np.array([[len(words(q) & words(t)) for t in texts] for q in questions.question])
    counted = TfidfVectorizer(sublinear_tf=True).fit(texts)
    cosines = (counted.transform(questions.question) @ counted.transform(texts).T).toarray()
    shortest = -np.tile(texts.str.len().to_numpy(), (len(questions), 1))
    return {
        "the shortest passage": places(shortest, right),
        "most words in common": places(shared, right),
        "TF-IDF": places(cosines, right),
    }


def main() -> None:
    passages, questions = read()
    texts = full_texts(passages)
    print(
        f"passages {len(passages)}: {(passages.source == 'glossary').sum()} entries, {(passages.source == 'summary').sum()} points of summaries"
    )
    print(
        f"words a passage: {texts.str.split().str.len().min()} to {texts.str.split().str.len().max()}, median {texts.str.split().str.len().median():.0f}"
    )
    print(
        f"questions {len(questions)}: "
        + ", ".join(f"{kind} {count}" for kind, count in questions.kind.value_counts().items())
    )
    print(
        f"words a gold answer: 1 to {questions.answer.str.split().str.len().max()}, median {questions.answer.str.split().str.len().median():.0f}"
    )
    for kind, rows in questions.groupby("kind"):
        taken = [
            len(words(q) & words(texts[id])) / len(words(q))
            for q, id in zip(rows.question, rows.passage, strict=True)
        ]
        print(f"content words of the question that stand in its passage: {kind} {np.mean(taken):.0%}")
    for name, place in baselines(passages, questions).items():
        for kind in questions.kind.unique():
            here = place[questions.kind == kind]
            print(
                f"{name}, {kind}: recall at 1 {np.mean(here <= 1):.2f}, at 3 {np.mean(here <= 3):.2f}, at 10 {np.mean(here <= 10):.2f}"
            )
    print(
        "by chance: recall at 1 {:.3f}, at 3 {:.3f}, at 10 {:.3f}".format(
            *(k / len(passages) for k in (1, 3, 10))
        )
    )


if __name__ == "__main__":
    main()
