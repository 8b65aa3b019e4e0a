"""How often the small models of the novels find the sense of a pseudo-word (`data/results/novels_senses.csv`), with intervals over pairs."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from coursekit.datasets import read_table
from coursekit.intervals import bootstrap

MODELS = {"elmo": "ELMo", "bert": "BERT", "gpt": "GPT"}
SIDES = {"elmo": ("both", "left", "right"), "bert": ("both", "left", "right"), "gpt": ("left",)}
WITHOUT_MODEL = {
    "more frequent word": "",
    "bag of words": "both",
    "window of two": "both",
    "5-grams": "both",
}
"""Which side of the sentence each of them reads."""

Interval = tuple[float, float, float]
"""A mean and the ends of its 95 % interval."""


@dataclass(frozen=True, eq=False)
class PseudoWordResults:
    """The recorded results: accuracy by model, side and layer, and paired differences between accuracies."""

    rows: pd.DataFrame
    by_layer: dict[str, dict[str, list[Interval]]]
    without_model: dict[str, Interval]
    gaps: dict[str, Interval]
    by_seed: dict[str, list[float]]
    """Of each model, at its last layer, with both sides."""
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
    last = {
        called: rows[(rows.model == model) & (rows.side == "both") & (rows.layer == layers[model][-1])]
        for model, called in MODELS.items()
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
        {
            called: seeds.groupby("seed")[["right", "asked"]].sum().eval("right / asked").tolist()
            for called, seeds in last.items()
        },
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


def _gaps(rows: pd.DataFrame, layers: dict[str, list[str]]) -> dict[str, Interval]:
    def model(name: str, side: str = "both", layer: int = -1) -> pd.DataFrame:
        return _by_pair(rows, name, side, layers[name][layer])

    def counts(name: str, side: str = "both") -> pd.DataFrame:
        return _by_pair(rows, name, side)

    mix = _by_pair(rows, "elmo", "both", "mix")
    return {
        **{
            f"{called}: last layer above layer 1": _share(model(name), model(name, layer=1))
            for name, called in MODELS.items()
        },
        **{
            f"{called}, last layer, above {other}": _share(model(name), counts(other))
            for name, called in MODELS.items()
            for other in ("bag of words", "window of two", "5-grams")
        },
        "BERT above ELMo, last layers": _share(model("bert"), model("elmo")),
        "ELMo above GPT, last layers": _share(model("elmo"), model("gpt")),
        "BERT above GPT, last layers": _share(model("bert"), model("gpt")),
        **{
            f"{MODELS[name]} above GPT, left context only": _share(model(name, "left"), model("gpt"))
            for name in ("elmo", "bert")
        },
        "5-grams above GPT, left context only": _share(counts("5-grams", "left"), model("gpt")),
        "ELMo: left context above right": _share(model("elmo", "left"), model("elmo", "right")),
        "BERT: left context above right": _share(model("bert", "left"), model("bert", "right")),
        "5-grams: left context above right": _share(counts("5-grams", "left"), counts("5-grams", "right")),
        "ELMo: learned mix above its last layer": _share(mix, model("elmo")),
        "ELMo: learned mix above layer 1": _share(mix, model("elmo", layer=1)),
    }
