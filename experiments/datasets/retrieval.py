"""How well does counting words find the passage that answers a question, and do two annotators agree on what answers it?

Prints what the tables contain, the agreement of the annotators, and the recall of simple baselines. The card
`data/retrieval/README.md` quotes these lines.
"""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import cohen_kappa_score

from experiments.harness import ROOT, Card, Options

FOLDER = ROOT / "data/retrieval"
COMMON = set(
    "a an and are as at be by can could did do does for from has have how i if in into is it its my of on or so that the "
    "their them then there they this to was were what when where which who why will with you your".split()
)


def read() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables of passages and of questions."""
    return pd.read_csv(FOLDER / "passages.csv", dtype=str), pd.read_csv(FOLDER / "questions.csv", dtype=str)


def words(text: str) -> set[str]:
    """The content words of a text."""
    return set(re.findall(r"[a-z0-9]+", text.lower())) - COMMON


def full_texts(passages: pd.DataFrame) -> pd.Series:
    """The text of each passage after its title, by id."""
    return (passages.title + ": " + passages.text).set_axis(passages.id)


def relevant(passages: pd.DataFrame, questions: pd.DataFrame) -> np.ndarray:
    """Which passages answer which question: its entry, and what the second annotator found in addition."""
    answers = questions.passage.str.cat(questions.also.fillna(""), sep=" ").str.split()
    return np.array([passages.id.isin(ids) for ids in answers])


def recalls(rank: np.ndarray, right: np.ndarray, k: int) -> np.ndarray:
    """The share of the passages that answer a question that are among the first k."""
    return ((rank <= k) & right).sum(axis=1) / right.sum(axis=1)


def baselines(passages: pd.DataFrame, questions: pd.DataFrame) -> dict[str, np.ndarray]:
    """For each way to count, the rank of every passage for each question."""
    texts = full_texts(passages)
    shared = np.array([[len(words(q) & words(t)) for t in texts] for q in questions.question])
    counted = TfidfVectorizer(sublinear_tf=True).fit(texts)
    cosines = (counted.transform(questions.question) @ counted.transform(texts).T).toarray()
    shortest = -np.tile(texts.str.len().to_numpy(), (len(questions), 1))
    scores = {"the shortest passage": shortest, "most words in common": shared, "TF-IDF": cosines}
    return {name: rankdata(-one, axis=1) for name, one in scores.items()}  # ties share their mean


def agreement(readings: pd.DataFrame) -> list[str]:
    """The lines on the second reading; the interval resamples questions, each with its passages."""
    rng, by_question = np.random.default_rng(0), [rows for _, rows in readings.groupby("id")]
    draws = []
    for _ in range(1000):
        drawn = pd.concat([by_question[n] for n in rng.integers(0, len(by_question), len(by_question))])
        draws.append(cohen_kappa_score(drawn.author, drawn.second))
    low, high = np.quantile(draws, (0.025, 0.975))
    table = pd.crosstab(readings.author, readings.second)
    kappa = cohen_kappa_score(readings.author, readings.second)
    return [
        f'second annotation: {len(readings)} pairs of question and passage; "it answers" by both {table.loc[1, 1]}, '
        f"by neither {table.loc[0, 0]}, by the author only {table.loc[1, 0]}, by the second annotator only {table.loc[0, 1]}",
        f"agreement {(readings.author == readings.second).mean():.3f}, kappa {kappa:.2f} (95 % over questions {low:.2f} to {high:.2f})",
    ]


def blind_reading(readings: pd.DataFrame, questions: pd.DataFrame) -> str:
    """The line on the third annotator, compared with the corrected answers."""
    answers = {(q.id, q.passage) for q in questions.itertuples()} | {
        (q.id, q.also) for q in questions.itertuples()
    }
    corrected = [int(pair in answers) for pair in zip(readings.id, readings.passage, strict=True)]
    return (
        f"third annotation, blind: {len(readings)} pairs, of which {(corrected == readings.third).sum()} agree with the corrected labels, "
        f"kappa {cohen_kappa_score(corrected, readings.third):.2f}"
    )


def contents(passages: pd.DataFrame, questions: pd.DataFrame, right: np.ndarray) -> Iterator[str]:
    """What the tables contain."""
    texts, sources = full_texts(passages), passages.source.value_counts()
    size, answer = texts.str.split().str.len(), questions.answer.str.split().str.len()
    yield f"passages {len(passages)}: {sources['glossary']} entries, {sources['summary']} points of summaries"
    yield f"words per passage: {size.min()} to {size.max()}, median {size.median():.0f}"
    kinds = ", ".join(f"{kind} {count}" for kind, count in questions.kind.value_counts().items())
    yield f"questions {len(questions)}: {kinds}"
    yield f"words per gold answer: 1 to {answer.max()}, median {answer.median():.0f}"
    for kind, rows in questions.groupby("kind"):
        taken = [
            len(words(question) & words(texts[id])) / len(words(question))
            for question, id in zip(rows.question, rows.passage, strict=True)
        ]
        yield f"content words of the question that occur in its passage: {kind} {np.mean(taken):.0%}"
    yield f"questions that other passages answer, too: {(right.sum(axis=1) > 1).sum()}"


def lines(options: Options) -> Iterator[str]:
    """What the card quotes."""
    passages, questions = read()
    right, readings = relevant(passages, questions), pd.read_csv(FOLDER / "readings.csv")
    yield from contents(passages, questions, right)
    yield from agreement(readings)
    yield blind_reading(readings, questions)
    for name, rank in baselines(passages, questions).items():
        for kind in questions.kind.unique():
            here = (questions.kind == kind).to_numpy()
            at = {k: recalls(rank, right, k)[here].mean() for k in (1, 3, 10)}
            yield f"{name}, {kind}: recall {', '.join(f'at {k} {value:.2f}' for k, value in at.items())}"
    by_chance = (k / len(passages) for k in (1, 3, 10))
    yield "by chance: recall at 1 {:.3f}, at 3 {:.3f}, at 10 {:.3f}".format(*by_chance)


EXPERIMENT = Card(lines)
