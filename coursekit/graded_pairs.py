"""Similarities of sentence pairs, compared with people's grades: rank correlations with intervals over hypotheses."""

import re
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from scipy.stats import spearmanr
from torch import Tensor

from coursekit.intervals import Interval, bootstrap, percentile_interval, resamples

Correlation = Callable[[Tensor, Tensor], Tensor]
"""The student's `spearman`."""
VectorsOf = Callable[[Iterable[str]], Tensor]


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return re.findall(r"[a-z]+", text.lower())


def overlap(first: str, second: str) -> float:
    """The number of words in common, divided by the number of distinct words in the two texts (Jaccard)."""
    a, b = set(words_of(first)), set(words_of(second))
    return len(a & b) / len(a | b)


def argsort_twice(a: Float[Tensor, " n"], b: Float[Tensor, " n"]) -> Float[Tensor, ""]:
    """The version of Spearman's correlation that the first reply to the bug report suggests; it is wrong for ties."""
    return torch.corrcoef(torch.stack([x.argsort().argsort().float() for x in (a, b)]))[0, 1]


def correlations_by_order(
    values: Float[np.ndarray, " n"], grades: pd.Series, spearman_of_2021: Correlation, spearman: Correlation
) -> pd.DataFrame:
    """Spearman's correlation by four functions, for the pairs in the order of the file and shuffled."""
    ways = {
        "argsort (2021)": spearman_of_2021,
        "argsort twice": argsort_twice,
        "yours": spearman,
        "scipy": lambda a, b: spearmanr(a, b).statistic,
    }
    shuffled = np.random.default_rng(0).permutation(len(grades))
    orders = {"order of the file": np.arange(len(grades)), "shuffled": shuffled}
    rounded = torch.tensor(grades.round().values)
    return pd.DataFrame(
        {
            name: {
                order: float(way(torch.tensor(values)[rows], rounded[rows])) for order, rows in orders.items()
            }
            for name, way in ways.items()
        }
    ).T


class GradedPairs:
    """The test pairs, and how well similarities agree with their grades. Each hypothesis has three pairs in a row.

    `found` and `held` have an entry for each similarity that was added: the correlation, and the one that controls for length.
    """

    def __init__(self, exam: pd.DataFrame, spearman: Correlation):
        self.exam, self.spearman = exam, spearman
        lengths = [exam[side].map(lambda text: len(words_of(text))) for side in ("hypothesis", "premise")]
        self.length_ratio = (lengths[0] / lengths[1]).to_numpy()
        self.similarities: dict[str, Float[np.ndarray, " pairs"]] = {}
        self.found: dict[str, Interval] = {}
        self.held: dict[str, Interval] = {}
        self._resampled: dict[tuple[bytes, bytes], Float[np.ndarray, " 1+draws"]] = {}

    def add(self, name: str, similarity: Float[np.ndarray, " pairs"]) -> None:
        """Keep a similarity, and compare it with the grades."""
        self.similarities[name] = similarity
        self.found[name] = self.agreement(similarity)
        if name != "length alone":
            self.held[name] = self.given_length(similarity)

    def cosines(
        self, vectors_of: VectorsOf, centre: Float[Tensor, " D"] | float = 0.0
    ) -> Float[np.ndarray, " pairs"]:
        """The cosine of each pair, after subtracting `centre` from both vectors."""
        hypotheses = vectors_of(self.exam.hypothesis[::3]).repeat_interleave(3, dim=0)
        premises = vectors_of(self.exam.premise)
        return torch.cosine_similarity(premises - centre, hypotheses - centre).numpy()

    def rho(self, items: Float[np.ndarray, "hypotheses 3 2"]) -> float:
        """Spearman's correlation over the pairs of the given hypotheses: similarity in column 0, grade in column 1."""
        return float(self.spearman(*torch.from_numpy(items.reshape(-1, 2)).T))

    def agreement(self, similarity: Float[np.ndarray, " pairs"]) -> Interval:
        """Spearman's correlation with the grades, and its 95 % interval."""
        return _with_interval(self.resampled(similarity, self.exam.similarity))

    def resampled(
        self, one: Float[np.ndarray, " pairs"], other: Float[np.ndarray, " pairs"]
    ) -> Float[np.ndarray, " 1+draws"]:
        """Spearman's correlation of two columns over all pairs, then over the pairs of each resample of the hypotheses.

        The resamples are always the same, so that correlations can be compared in pairs, and are computed only once.
        """
        columns = np.stack([one, other], axis=-1)
        key = columns[:, 0].tobytes(), columns[:, 1].tobytes()
        if key not in self._resampled:
            threes = columns.reshape(-1, 3, 2)
            places = resamples(len(threes), draws=1000)
            self._resampled[key] = np.array(
                [self.rho(threes), *(self.rho(threes[drawn]) for drawn in places)]
            )
        return self._resampled[key]

    def given_length(self, similarity: Float[np.ndarray, " pairs"]) -> Interval:
        """Spearman's correlation with the grades, controlling for the length ratio, and its 95 % interval."""
        a, b, held = similarity, self.exam.similarity, self.length_ratio
        ab, a_held, b_held = (self.resampled(*two) for two in ((a, b), (a, held), (b, held)))
        return _with_interval((ab - a_held * b_held) / ((1 - a_held**2) * (1 - b_held**2)) ** 0.5)

    def gain(self, after: str, control: str) -> Interval:
        """The difference between two Spearman correlations on the same pairs, with its 95 % interval."""
        one, other = (
            self.resampled(self.similarities[name], self.exam.similarity) for name in (after, control)
        )
        return _with_interval(one - other)

    def within(self, name: str, label: str) -> Interval:
        """Spearman's correlation with the grades for the pairs with one label, and its 95 % interval."""
        here = (self.exam.label == label).to_numpy()
        items = np.stack([self.similarities[name][here], self.exam.similarity[here]], axis=-1)
        return self.rho(items), *bootstrap(items, self.rho, draws=1000)

    def find_own(
        self, vectors_of: VectorsOf, ranking_loss: Callable[[Tensor, Tensor, float], Tensor]
    ) -> tuple[Float[Tensor, "hypotheses hypotheses"], float, float]:
        """The cosines of the hypotheses with the entailing premises, the ranking loss, and the fraction whose own premise is nearest."""
        entailing = self.exam[self.exam.label == "entailment"].premise
        anchors, positives = vectors_of(self.exam.hypothesis[::3]), vectors_of(entailing)
        cosines = torch.cosine_similarity(anchors[:, None], positives[None], dim=-1)
        nearest = (cosines.argmax(dim=1) == torch.arange(len(cosines))).float().mean().item()
        return cosines, ranking_loss(anchors, positives, 20.0).item(), nearest

    def by_layer(
        self, premises: Float[Tensor, "layers pairs D"], hypotheses: Float[Tensor, "layers hypotheses D"]
    ) -> list[float]:
        """Spearman's correlation with the grades of the cosines at each layer."""
        grades = torch.tensor(self.exam.similarity.values)
        return [
            float(self.spearman(torch.cosine_similarity(u, v.repeat_interleave(3, dim=0)), grades))
            for u, v in zip(premises, hypotheses, strict=True)
        ]


def _with_interval(values: Float[np.ndarray, " 1+draws"]) -> Interval:
    """A statistic over all pairs, and its 95 % interval from the resamples."""
    return float(values[0]), *percentile_interval(values[1:])
