"""SmolLM2's recorded answers with and without passages (`data/results/retrieval_answers.csv`), and how far texts support them."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd
from jaxtyping import Float

from coursekit.datasets import read_table
from coursekit.intervals import Interval, bootstrap

GIVEN = {"nothing": "no passage", "three found": "three retrieved"}
MEASURES = {"true": "support by the right passage", "right": "words of the right answer"}
COMPARED = (
    ("true", "SmolLM2, the right passage", "SmolLM2, no passage"),
    ("right", "SmolLM2, the right passage", "SmolLM2, no passage"),
    ("right", "SmolLM2, three retrieved", "SmolLM2, no passage"),
    ("true", "SmolLM2, a wrong passage", "SmolLM2, no passage"),
    ("right", "SmolLM2, a wrong passage", "SmolLM2, no passage"),
    ("right", "baseline: first passage found, copied", "SmolLM2, three retrieved"),
)
"""Measure, answers, and the answers that they are compared with."""

Shares = dict[str, Float[np.ndarray, " questions"]]


def added(answer: str, question: str, content_words: Callable[[str], list[str]]) -> str:
    """The content words of an answer that do not occur in the question."""
    return " ".join(word for word in content_words(answer) if word not in content_words(question))


class RetrievedAnswers:
    """The answers to all questions under four conditions and for two wordings of the prompt, and three baselines.

    `shares` has, for each wording and kind of answer, three fractions for each question: the support of the words that the answer adds by
    the given passages ("given") and by the right passage ("true"), and the fraction of the right answer's words in the reply ("right").
    """

    def __init__(
        self,
        asks: pd.DataFrame,
        texts: Mapping[str, str],
        supported: Callable[[str, str], float],
        content_words: Callable[[str], list[str]],
    ):
        self.asks, self.supported, self.content_words = asks, supported, content_words
        answers = read_table("results/retrieval_answers.csv").fillna({"answer": "", "passages": ""})
        answers = answers.rename(columns={"answer": "said"}).replace({"given": GIVEN}).merge(asks, on="id")
        answers["found"] = [" ".join(texts[id] for id in ids.split()) for ids in answers.passages]
        answers["true text"] = answers.passage.map(texts)
        answers["adds nothing"] = [
            added(*pair, content_words) == "" for pair in zip(answers.said, answers.question, strict=True)
        ]
        self.answers = answers
        three = answers.query("wording == 'a few words' and given == 'three retrieved'")
        three = three.set_index("id").loc[asks.id]
        firsts = three.passages.str.split().str[0].map(texts)
        baselines = {
            "baseline: first passage found, copied": self._shares(firsts, firsts, three),
            "baseline: question, repeated": self._shares(three.question, three.found, three),
            "baseline: empty answer": self._shares([""] * len(three), three.found, three),
        }
        self.shares = {wording: self._of_wording(wording) | baselines for wording in answers.wording.unique()}

    def gains(self, wording: str) -> dict[tuple[str, str, str], Interval]:
        """Measure, answers and what they are compared with → the difference."""
        shares = self.shares[wording]
        return {
            (measure, after, control): _mean(shares[after][measure] - shares[control][measure])
            for measure, after, control in COMPARED
        }

    def silence(self, wording: str) -> Interval:
        """The fraction of answers that add nothing with a wrong passage, minus the fraction without a passage."""
        rows = self.answers[self.answers.wording == wording]
        by_given = rows.pivot(index="id", columns="given", values="adds nothing").astype(float)
        return _mean((by_given["a wrong passage"] - by_given["no passage"]).to_numpy())

    def _of_wording(self, wording: str) -> dict[str, Shares]:
        ways = self.answers[self.answers.wording == wording].groupby("given", sort=False)
        rows_of = {way: rows.set_index("id").loc[self.asks.id] for way, rows in ways}
        return {f"SmolLM2, {way}": self._shares(rows.said, rows.found, rows) for way, rows in rows_of.items()}

    def _shares(self, answers: Iterable[str], given: Iterable[str], table: pd.DataFrame) -> Shares:
        answers = list(answers)
        new = [added(*pair, self.content_words) for pair in zip(answers, table.question, strict=True)]

        def support(texts: Iterable[str], by: Iterable[str]) -> Float[np.ndarray, " questions"]:
            return np.array([self.supported(*pair) for pair in zip(texts, by, strict=True)])

        return {
            "given": support(new, given),
            "true": support(new, table["true text"]),
            "right": support(table.answer, answers),
        }


def _mean(values: Float[np.ndarray, " questions"]) -> Interval:
    return values.mean(), *bootstrap(values, draws=1000)
