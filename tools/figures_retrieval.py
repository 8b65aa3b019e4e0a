"""The figures of the card: what the tables hold, how far two readers agree, and how far counting words finds what answers.

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


def places(scores: np.ndarray) -> np.ndarray:
    """At which place each passage stands for each question; ties share the mean of their places."""
    higher = (scores[:, :, None] < scores[:, None]).sum(axis=2)
    return higher + ((scores[:, :, None] == scores[:, None]).sum(axis=2) + 1) / 2


def relevant(passages: pd.DataFrame, questions: pd.DataFrame) -> np.ndarray:
    """Which passages answer which question: its entry, and what the second reader found besides."""
    answers = questions.passage.str.cat(questions.also.fillna(""), sep=" ").str.split()
    return np.array([passages.id.isin(ids) for ids in answers])


def recalls(place: np.ndarray, right: np.ndarray, k: int) -> np.ndarray:
    """Of what answers a question, the share among the first k."""
    return ((place <= k) & right).sum(axis=1) / right.sum(axis=1)


def baselines(passages: pd.DataFrame, questions: pd.DataFrame) -> dict[str, np.ndarray]:
    """For each way to count, the place of every passage for each question."""
    texts = full_texts(passages)
    shared = np.array([[len(words(q) & words(t)) for t in texts] for q in questions.question])
    counted = TfidfVectorizer(sublinear_tf=True).fit(texts)
    cosines = (counted.transform(questions.question) @ counted.transform(texts).T).toarray()
    shortest = -np.tile(texts.str.len().to_numpy(), (len(questions), 1))
    return {
        "the shortest passage": places(shortest),
        "most words in common": places(shared),
        "TF-IDF": places(cosines),
    }


def kappa(readings: pd.DataFrame) -> float:
    """Cohen's kappa of the two columns: the agreement above what chance gives, as a share of what is left to reach."""
    author, second = readings.author, readings.second
    by_chance = author.mean() * second.mean() + (1 - author.mean()) * (1 - second.mean())
    return ((author == second).mean() - by_chance) / (1 - by_chance)


def agreement(readings: pd.DataFrame) -> list[str]:
    """The lines on the second reading; the interval draws questions again, each with its passages."""
    rng, by_question = np.random.default_rng(0), [rows for _, rows in readings.groupby("id")]
    draws = [
        kappa(pd.concat([by_question[n] for n in rng.integers(0, len(by_question), len(by_question))]))
        for _ in range(1000)
    ]
    low, high = np.quantile(draws, (0.025, 0.975))
    table = pd.crosstab(readings.author, readings.second)
    return [
        f"read a second time: {len(readings)} pairs of question and passage; both say that it answers {table.loc[1, 1]}, "
        f"neither {table.loc[0, 0]}, the author alone {table.loc[1, 0]}, the second reader alone {table.loc[0, 1]}",
        f"agreement {(readings.author == readings.second).mean():.3f}, kappa {kappa(readings):.2f} (95 % over questions {low:.2f} to {high:.2f})",
    ]


def blind_reading(readings: pd.DataFrame, questions: pd.DataFrame) -> str:
    """The line on the third reader, beside what counts as right now."""
    answers = {(q.id, q.passage) for q in questions.itertuples()} | {
        (q.id, q.also) for q in questions.itertuples()
    }
    mended = readings.assign(
        author=[int(pair in answers) for pair in zip(readings.id, readings.passage, strict=True)]
    )
    compared = mended.assign(second=readings.third)
    return (
        f"read blind, after that: {len(readings)} pairs, as they count now {(compared.author == compared.second).sum()}, "
        f"kappa {kappa(compared):.2f}"
    )


def main() -> None:
    passages, questions = read()
    right = relevant(passages, questions)
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
    print(f"questions that more than their entry answers: {(right.sum(axis=1) > 1).sum()}")
    readings = pd.read_csv(FOLDER / "readings.csv")
    print(*agreement(readings), blind_reading(readings, questions), sep="\n")
    for name, place in baselines(passages, questions).items():
        for kind in questions.kind.unique():
            here = (questions.kind == kind).to_numpy()
            at = {k: recalls(place, right, k)[here].mean() for k in (1, 3, 10)}
            print(f"{name}, {kind}: recall {', '.join(f'at {k} {value:.2f}' for k, value in at.items())}")
    print(
        "by chance: recall at 1 {:.3f}, at 3 {:.3f}, at 10 {:.3f}".format(
            *(k / len(passages) for k in (1, 3, 10))
        )
    )


if __name__ == "__main__":
    main()
