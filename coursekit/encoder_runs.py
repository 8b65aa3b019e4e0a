"""The recorded runs of pre-trained sentence encoders (`data/results/sentence_encoders.csv`), compared with people's grades."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from coursekit.datasets import read_table
from coursekit.intervals import Interval, mean_and_half, percentile_interval, resamples

LOSSES = {
    "before": "before training",
    "by label": "classification objective",
    "by rank": "ranking loss",
    "by rank, contradictions": "ranking loss, contradictions",
    "by rank, mined": "ranking loss, mined negatives",
}
"""The names of the losses in the recorded tables, and in figures."""
BEFORE, CLASSIFYING, RANKING, CONTRADICTIONS, MINED = LOSSES.values()
CUT, SMALL, UNTRAINED = "MiniLM, 3 layers", "small BERT", ", untrained"

Setting = tuple[str, str]
"""Encoder and loss."""
Run = tuple[str, str, float]
"""Encoder, loss and learning rate."""


class EncoderRuns:
    """All recorded runs: for each, the correlation with the grades and recall at 1, by seed.

    `best` has the run at the learning rate that is best on the validation pairs, for each encoder and loss.
    """

    def __init__(self, exam: pd.DataFrame, spearman: Callable[[Tensor, Tensor], Tensor]):
        self.spearman = spearman
        runs = read_table("results/sentence_encoders.csv").replace({"objective": LOSSES})
        grades = exam.similarity.to_numpy().reshape(-1, 3)
        self.cosines: dict[Run, Float[np.ndarray, "hypotheses 3 seeds+1"]] = {}
        """The cosines of each seed, and the grade."""
        self.recall: dict[Run, Float[np.ndarray, " seeds"]] = {}
        for run, rows in runs.groupby(["encoder", "objective", "rate"], sort=False):
            by_seed = rows.pivot(index="id", columns="seed", values="cosine").loc[exam.id].to_numpy()
            cosines = by_seed.reshape(len(grades), 3, -1)
            self.cosines[run] = np.concatenate([cosines, grades[..., None]], axis=-1)
            asked = rows[rows.place.notna()]
            self.recall[run] = (asked.place == 1).groupby(asked.seed).mean().to_numpy()
        self.rho = {run: np.array(self._by_seed(items)) for run, items in self.cosines.items()}
        self._resampled: dict[Run, Float[np.ndarray, " draws"]] = {}
        tried = read_table("results/sentence_encoders_rates.csv").replace({"objective": LOSSES})
        validation = tried.groupby(["encoder", "objective", "rate"], sort=False).validation.mean()
        # with hard negatives only one rate was tried
        self.best: dict[Setting, Run] = {(run[0], run[1]): run for run in self.cosines}
        self.best |= {
            key: (*key, values.idxmax()[-1])
            for key, values in validation.groupby(["encoder", "objective"], sort=False)
        }

    @property
    def settings(self) -> list[Setting]:
        """Encoders and losses in the order in which they are shown."""
        order = [
            (encoder + start, loss)
            for encoder in (CUT, SMALL)
            for start in ("", UNTRAINED)
            for loss in LOSSES.values()
        ]
        return [setting for setting in order if setting in self.best]

    def mean_rho(self, items: Float[np.ndarray, "hypotheses 3 seeds+1"]) -> float:
        """Spearman's correlation of each seed's cosines with the grades (the last column), averaged over seeds."""
        return float(np.mean(self._by_seed(items)))

    def over_hypotheses(self, setting: Setting) -> tuple[float, float]:
        """The 95 % interval of the mean correlation at the best rate, over hypotheses."""
        return percentile_interval(self.resampled(self.best[setting]))

    def resampled(self, run: Run) -> Float[np.ndarray, " draws"]:
        """The mean correlation on each resample of the hypotheses, which are the same for all runs; computed only once."""
        if run not in self._resampled:
            items = self.cosines[run]
            places = resamples(len(items), draws=200)
            self._resampled[run] = np.array([self.mean_rho(items[drawn]) for drawn in places])
        return self._resampled[run]

    def gain(self, after: Run, control: Run) -> dict[str, Interval]:
        """Differences in correlation and in recall: means, and 95 % intervals over hypotheses and over seeds."""
        difference = float(self.rho[after].mean() - self.rho[control].mean())
        over_hypotheses = percentile_interval(self.resampled(after) - self.resampled(control))
        return {
            "over hypotheses": (difference, *over_hypotheses),
            "over seeds": _over_seeds(self.rho[after] - self.rho[control]),
            "recall at 1, over seeds": _over_seeds(self.recall[after] - self.recall[control]),
        }

    def gains(self) -> dict[str, dict[str, Interval]]:
        """The comparisons of interest, for both encoders."""
        found = {}
        for encoder in (CUT, SMALL):
            untrained = encoder + UNTRAINED
            for after, control in (
                ((encoder, RANKING), (encoder, BEFORE)),
                ((encoder, CLASSIFYING), (encoder, BEFORE)),
                ((encoder, RANKING), (encoder, CLASSIFYING)),
                ((encoder, RANKING), (untrained, RANKING)),
                ((untrained, RANKING), (untrained, BEFORE)),
                ((encoder, CONTRADICTIONS), (encoder, RANKING)),
                ((encoder, MINED), (encoder, RANKING)),
            ):
                run = self.best[after]
                other = (*control, run[2]) if after[1] in (CONTRADICTIONS, MINED) else self.best[control]
                named = control[1] if control[0] == after[0] else ": ".join(control)
                found[f"{': '.join(after)}, minus {named}"] = self.gain(run, other)
        return found

    def by_rate(self) -> dict[tuple[str, float], Interval]:
        """Ranking loss minus classification objective at each learning rate, over seeds."""
        return {
            (encoder, rate): _over_seeds(self.rho[encoder, RANKING, rate] - rho)
            for (encoder, loss, rate), rho in self.rho.items()
            if loss == CLASSIFYING
        }

    def _by_seed(self, items: Float[np.ndarray, "hypotheses 3 seeds+1"]) -> list[float]:
        return [
            float(self.spearman(*torch.from_numpy(items[..., [seed, -1]].reshape(-1, 2)).T))
            for seed in range(items.shape[-1] - 1)
        ]


def _over_seeds(difference: Float[np.ndarray, " seeds"]) -> Interval:
    mean, half = mean_and_half(difference)
    return float(mean), float(mean - half), float(mean + half)
