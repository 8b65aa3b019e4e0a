"""What notebook 16 prints of recorded runs."""

import pandas as pd

from coursekit.intervals import mean_and_half

MEASURES = {
    "pass@1": "one sample",
    "majority of 16": "majority of 16",
    "stepwise": "with steps",
    "correct if stepwise": "these correct",
    "correct if at once": "others correct",
}

RARE = 0.01
"""The accuracy of answers of one form is printed if at least so many have it."""


def verified(table: pd.DataFrame) -> None:
    """Accuracy, form and length of the answers before and after reinforcement learning, with intervals over seeds."""
    heads = "".join(f"{name:>16}" for name in MEASURES.values())
    print(f"{'steps in training':>17}{'model':>7}{heads}{'tokens':>8}")
    for (share, stage), runs in table.groupby(["share", "stage"], sort=False):
        rare = {"correct if stepwise": runs["stepwise"], "correct if at once": 1 - runs["stepwise"]}
        cells = "".join(
            f"{_percent(runs[column].where(rare.get(column, runs['length']) > RARE)):>16}"
            for column in MEASURES
        )
        print(f"{share:>17.0%}{stage:>7}{cells}{runs['length'].mean():>8.1f}")
    print("(means of three seeds, ± half of the 95 % interval)")


def _percent(runs: pd.Series) -> str:
    """The mean over seeds and half of its interval, or a dash where a seed has no value."""
    if runs.isna().any():
        return "–"
    mean, half = mean_and_half(runs)
    return f"{mean:.0%} ± {half:.0%}"
