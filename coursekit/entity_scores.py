"""Scores of taggers on entities (notebook 10), with intervals; the student's function finds the entities."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float

from coursekit.intervals import bootstrap, half_width

Tagged = Sequence[list[str]]
Spans = Callable[[list[str]], list[tuple[int, int, str]]]


def entity_counts(truth: Tagged, seeds: Sequence[Tagged], spans: Spans) -> Float[np.ndarray, "sentences 2"]:
    """For each sentence, twice the number of correct entities, and the number of true and predicted ones; means over the seeds."""

    def counts(tags: Tagged) -> Float[np.ndarray, "sentences 2"]:
        pairs = [(set(spans(t)), set(spans(p))) for t, p in zip(truth, tags, strict=True)]
        return np.array([(2 * len(t & p), len(t) + len(p)) for t, p in pairs])

    return np.mean([counts(tags) for tags in seeds], axis=0)


def ratio(rows: Float[np.ndarray, "items 2"]) -> float:
    """The sum of the first column divided by the sum of the second: the F1 over all sentences."""
    return rows[:, 0].sum() / rows[:, 1].sum()


def scores_of_taggers(
    points: Mapping[str, Sequence[tuple[float, float]]],
    counted: Mapping[str, Float[np.ndarray, "sentences 2"]],
) -> pd.DataFrame:
    """Token accuracy and entity F1 of each tagger, with intervals over seeds and over sentences."""
    table = {}
    for name, counts in counted.items():
        low, high = bootstrap(counts, ratio)
        accuracy, score = np.mean(points[name], axis=0)
        over_seeds = half_width([f1 for _, f1 in points[name]]) if len(points[name]) > 1 else np.nan
        table[name] = {
            "token accuracy": accuracy,
            "entity F1": score,
            "± over seeds": over_seeds,
            "95 % from": low,
            "to (over sentences)": high,
        }
    return pd.DataFrame(table).T


def f1_gain(
    one: Float[np.ndarray, "sentences 2"], other: Float[np.ndarray, "sentences 2"]
) -> tuple[float, float, float]:
    """F1 of one tagger minus F1 of the other on the same sentences, with its 95 % interval."""

    def gain(rows: Float[np.ndarray, "sentences 4"]) -> float:
        return ratio(rows[:, :2]) - ratio(rows[:, 2:])

    both = np.concatenate([one, other], axis=1)
    return gain(both), *bootstrap(both, gain)
