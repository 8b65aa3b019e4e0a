"""How often the small models of the novels find the sense of a pseudo-word (`data/results/novels_senses.csv`), with intervals over pairs."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from coursekit.datasets import read_table
from coursekit.intervals import Interval, bootstrap

MODELS = {"elmo": "ELMo", "bert": "BERT", "gpt": "GPT"}
SIDES = {"elmo": ("both", "left", "right"), "bert": ("both", "left", "right"), "gpt": ("left",)}
WITHOUT_MODEL = {
    "more frequent word": "",
    "bag of words": "both",
    "window of two": "both",
    "5-grams": "both",
}
"""Which side of the sentence each of them reads."""


@dataclass(frozen=True, eq=False)
class PseudoWordResults:
    """The recorded results: accuracy by model, side and layer, and paired differences between accuracies."""

    rows: pd.DataFrame
    by_layer: dict[str, dict[str, list[Interval]]]
    without_model: dict[str, Interval]
    gaps: dict[str, dict[str, Interval]]
    """By comparison and model."""
    mix: pd.DataFrame
    """The weights of ELMo's layers that each seed learned."""


def recorded() -> PseudoWordResults:
    """Read the recorded results and compute their intervals."""
    rows = read_table("results/novels_senses.csv").astype({"layer": str, "side": str})
    rows = rows.fillna("").replace("nan", "")
    layers = {
        model: sorted(rows.layer[(rows.model == model) & rows.layer.str.isdigit()].unique())
        for model in MODELS
    }
    return PseudoWordResults(
        rows,
        {
            called: {
                side: [_share(_by_pair(rows, model, side, layer)) for layer in layers[model]]
                for side in SIDES[model]
            }
            for model, called in MODELS.items()
        },
        {called: _share(_by_pair(rows, called, side)) for called, side in WITHOUT_MODEL.items()},
        _gaps(rows, layers),
        read_table("results/novels_mix.csv"),
    )


def _by_pair(rows: pd.DataFrame, model: str, side: str, layer: str = "") -> pd.DataFrame:
    """For each pair, the number of correct positions and the number of all positions, averaged over the seeds."""
    found = rows[(rows.model == model) & (rows.side == side) & (rows.layer == layer)]
    return found.groupby("pair")[["right", "asked"]].mean()


def _share(counted: pd.DataFrame, less: pd.DataFrame | None = None) -> Interval:
    """The accuracy, or the difference between two paired accuracies, with its 95 % interval; whole pairs are resampled."""
    right = counted.right - (0 if less is None else less.right)
    table = np.stack([right, counted.asked], axis=1)
    low, high = bootstrap(table, lambda some: some[:, 0].sum() / some[:, 1].sum())
    return right.sum() / counted.asked.sum(), low, high


def _gaps(rows: pd.DataFrame, layers: dict[str, list[str]]) -> dict[str, dict[str, Interval]]:
    def model(name: str, side: str = "both", layer: int = -1) -> pd.DataFrame:
        return _by_pair(rows, name, side, layers[name][layer])

    last = {called: model(name) for name, called in MODELS.items()}
    left, right = (
        {MODELS[name]: model(name, side) for name in MODELS if "right" in SIDES[name]}
        for side in ("left", "right")
    )
    gpt = last["GPT"]  # reads the left context only
    return {
        "last layer − layer 1": {
            called: _share(last[called], model(name, layer=1)) for name, called in MODELS.items()
        },
        **{
            f"last layer − {other}": {
                called: _share(one, _by_pair(rows, other, "both")) for called, one in last.items()
            }
            for other in ("bag of words", "window of two", "5-grams")
        },
        "left context only − GPT": {called: _share(one, gpt) for called, one in left.items()},
        "left context only − right only": {called: _share(left[called], right[called]) for called in left},
        "learned mix of layers − layer 1": {
            "ELMo": _share(_by_pair(rows, "elmo", "both", "mix"), model("elmo", layer=1))
        },
    }
