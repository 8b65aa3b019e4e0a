"""All readers of the sense exam in one table: what is known exactly, readers of counts, and the small models over seeds."""

from dataclasses import asdict

import pandas as pd

from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS, Accuracy, bounds, sense_exam
from coursekit.intervals import mean_and_half
from coursekit.language import Language, sense_bound
from coursekit.language.blind import position_accuracy
from coursekit.small.recorded import recorded, recorded_senses

LAYERS = {"gpt": 3, "elmo": 3, "bert": 3, "translator": 3}
"""Of each model, the embeddings counted."""


def sense_table(language: Language) -> pd.DataFrame:
    """Shares of senses found. Rows: readers; columns: the kinds of question, and each with "±" where there are seeds.

    "±" is half of the 95 % interval over the seeds (Student's t). Layer 0 are a model's embeddings.
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
    """How far above the exact bound the small models' losses lie, as shares of it: mean and half of the interval."""
    tables = {name: recorded(name) for name in LAYERS}
    return pd.concat({
        name: table.loc[table.index.str.endswith("above the bound"), ["mean", "half_width", "seeds"]]
        for name, table in tables.items()
    })  # fmt: skip


def training_minutes() -> dict[str, float]:
    """Minutes of one core that training a seed took, the mean of the seeds, on the machine of the recording."""
    return {name: float(recorded(name).loc["CPU minutes", "mean"]) for name in LAYERS}


def _over_seeds(runs: list[Accuracy]) -> dict[str, float]:
    shares = pd.DataFrame([asdict(run) for run in runs])
    half = mean_and_half(shares)[1] if len(runs) > 1 else [float("nan")] * shares.shape[1]
    return shares.mean().to_dict() | {f"{kind} ±": width for kind, width in zip(shares, half, strict=True)}
