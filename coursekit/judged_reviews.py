"""The recorded scores of SmolLM2 and MiniLM for reviews (`python -m experiments assistant_reviews`), summed up by notebook 14.

    judged = recorded_judges()
    judged.summary(in_order)          # accuracy, AUC, log loss and overconfidence of each way

`in_order` is the student's: (scores, which are positive) -> the AUC.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from coursekit import judges
from coursekit.datasets import read_table
from coursekit.intervals import bootstrap

InOrder = Callable[[Tensor, Tensor], Tensor]
PerReview = dict[str, Float[np.ndarray, " reviews"]]


@dataclass(frozen=True)
class Judged:
    """Scores of every review by run (`asked`), what the runs cost, and which reviews are positive and in the test split."""

    asked: pd.DataFrame
    costs: pd.DataFrame
    liked: Bool[np.ndarray, " reviews"]
    is_test: Bool[np.ndarray, " reviews"]

    @property
    def ways(self) -> dict[str, list[str]]:
        """Four ways to judge, and the runs of each."""
        return {
            "SmolLM2, zero-shot": ["question 1"],
            "SmolLM2, 8 examples": [run for run in self.asked if run.startswith("examples")],
            "SmolLM2, your LoRA": [run for run in self.asked if run.startswith("LoRA")],
            "MiniLM, fine-tuned": [run for run in self.asked if "MiniLM" in run],
        }

    def scores(self, run: str) -> Float[np.ndarray, " test"]:
        """The scores of the test reviews."""
        return self.asked.loc[self.is_test, run].to_numpy()

    def each_review(self, runs: Sequence[str]) -> PerReview:
        """For each test review: accuracy, confidence, log loss and overconfidence, averaged over runs."""
        found = judges.summed_up(np.array([self.scores(run) for run in runs]), self.liked[self.is_test])
        return found | {"overconfidence": found["confidence"] - found["accuracy"]}

    @property
    def per_review(self) -> dict[str, PerReview]:
        """The same for the runs of each way."""
        return {way: self.each_review(runs) for way, runs in self.ways.items()}

    @property
    def per_run(self) -> dict[str, list[dict[str, float]]]:
        """Means over test reviews of each run of each way."""
        return {
            way: [{name: found.mean() for name, found in self.each_review([run]).items()} for run in runs]
            for way, runs in self.ways.items()
        }

    def auc(self, run: str, in_order: InOrder) -> float:
        """The AUC of a run's scores for the test reviews."""
        return float(in_order(torch.tensor(self.scores(run)), torch.tensor(self.liked[self.is_test])))

    def summary(self, in_order: InOrder) -> pd.DataFrame:
        """AUC (`order`), and accuracy, log loss and overconfidence with intervals over reviews, of each way."""
        rows = {}
        for way, found in self.per_review.items():
            row = {"order": np.mean([self.auc(run, in_order) for run in self.ways[way]])}
            for name in ("accuracy", "log loss", "overconfidence"):
                row[name] = found[name].mean()
                row[f"{name} low"], row[f"{name} high"] = bootstrap(found[name])
            rows[way] = row
        return pd.DataFrame(rows).T

    def by_question(self, in_order: InOrder) -> pd.DataFrame:
        """Accuracy, the fraction judged positive, and AUC of each of the eight questions, without training."""
        liked, rows = self.liked[self.is_test], []
        for number in range(1, len(judges.QUESTIONS) + 1):
            positive = self.scores(f"question {number}") > 0
            rows.append({
                "accuracy": (positive == liked).mean(),
                "said positive": positive.mean(),
                "in order": self.auc(f"question {number}", in_order),
            })  # fmt: skip
        return pd.DataFrame(rows)


def recorded_judges() -> Judged:
    """The recorded scores, with the labels and splits of the reviews."""
    reviews = read_table("sentiment/sentiment.csv").set_index("id")
    asked = read_table("results/assistant_reviews.csv").set_index("id")
    costs = read_table("results/assistant_reviews_costs.csv").set_index("run")
    rows = reviews.loc[asked.index]
    return Judged(
        asked, costs, (rows["label"] == "positive").to_numpy(), (rows["split"] == "test").to_numpy()
    )
