"""All results on the test of word senses in one table: exact bounds, baselines from word counts, and the small models over seeds."""

from dataclasses import asdict

import pandas as pd

from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS, Accuracy, bounds, sense_exam
from coursekit.intervals import mean_and_half
from coursekit.language import Language, sense_bound
from coursekit.language.blind import position_accuracy
from coursekit.small.results import recorded, recorded_senses

LAYERS = {"gpt": 3, "elmo": 3, "bert": 3, "translator": 3}
"""The number of layers of each model, including the embeddings."""


def sense_table(language: Language) -> pd.DataFrame:
    """Accuracies on word senses. Rows: models and bounds; columns: the kinds of question, each with "±" if there are several seeds.

    "±" is half the width of the 95 % interval over the seeds (Student's t). Layer 0 is a model's embeddings.
    """
    limits, exam = bounds(), sense_exam()
    asked = {kind: exam.held_out[exam.held_out.cue == kind] for kind in QUESTIONS}
    counted = read_table("results/sense_exam.csv").set_index("model")[list(QUESTIONS)]
    rows = {
        "bound, whole sentence": asdict(limits.whole_sentence),
        "bound, words before": asdict(limits.words_before),
        "bound, words after": {kind: sense_bound(language, asked[kind], "right").mean for kind in QUESTIONS},
        "bound, no order": asdict(limits.no_order),
        "position and length": {kind: position_accuracy(language, [kind]) for kind in QUESTIONS},
        "most frequent sense": asdict(limits.majority),
        "bag of words": counted.loc["bag of words"].to_dict(),
        "near words": counted.loc["near words"].to_dict(),
    }
    for name, layers in LAYERS.items():
        rows[f"{name}, untrained, layer {layers - 1}"] = _over_seeds(
            recorded_senses(name, layers - 1, trained=False)
        )
        for layer in range(layers):
            rows[f"{name}, layer {layer}"] = _over_seeds(recorded_senses(name, layer))
    return pd.DataFrame(rows).T


def loss_table() -> pd.DataFrame:
    """The relative excess of the small models' losses over the exact bound: mean and half the width of the interval."""
    tables = {name: recorded(name) for name in LAYERS}
    return pd.concat({
        name: table.loc[table.index.str.endswith("above the bound"), ["mean", "half_width", "seeds"]]
        for name, table in tables.items()
    })  # fmt: skip


def training_minutes() -> dict[str, float]:
    """The mean training time per seed in minutes on one core, on the machine of the recording."""
    return {name: float(recorded(name).loc["CPU minutes", "mean"]) for name in LAYERS}


def _over_seeds(runs: list[Accuracy]) -> dict[str, float]:
    shares = pd.DataFrame([asdict(run) for run in runs])
    half = mean_and_half(shares)[1] if len(runs) > 1 else [float("nan")] * shares.shape[1]
    return shares.mean().to_dict() | {f"{kind} ±": width for kind, width in zip(shares, half, strict=True)}
