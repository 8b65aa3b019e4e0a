"""What notebook 16 shows of recorded runs."""

from collections.abc import Mapping

import pandas as pd
from IPython.display import Markdown, display

from coursekit.intervals import Interval, mean_and_half
from coursekit.pictures.tables import markdown_table

MEASURES = {
    "pass@1": "one sample",
    "majority of 16": "majority of 16",
    "stepwise": "with steps",
    "correct if stepwise": "accuracy with steps",
    "correct if at once": "accuracy without",
}

RARE = 0.01
"""The accuracy of answers of one form is printed if at least so many have it."""


def verified(table: pd.DataFrame) -> None:
    """Accuracy, form and length of the answers before and after reinforcement learning, with intervals over seeds."""
    head = ["steps in training", "model", *MEASURES.values(), "tokens"]
    rows = []
    for (share, stage), runs in table.groupby(["share", "stage"], sort=False):
        rare = {"correct if stepwise": runs["stepwise"], "correct if at once": 1 - runs["stepwise"]}
        cells = [_percent(runs[column].where(rare.get(column, runs["length"]) > RARE)) for column in MEASURES]
        rows.append([f"{share:.0%}", stage, *cells, f"{runs['length'].mean():.1f}"])
    display(Markdown(f"{markdown_table(head, rows)}\n\n(Means of three seeds, ± half of the 95 % interval.)"))


def _percent(runs: pd.Series) -> str:
    """The mean over seeds and half of its interval, or a dash where a seed has no value."""
    if runs.isna().any():
        return "–"
    mean, half = mean_and_half(runs)
    return f"{mean:.0%} ± {half:.0%}"


def verdicts(summaries: Mapping[str, Mapping[str, Interval]]) -> None:
    """Position bias of a judge and its agreement with annotators, for each pair of names of the two answers."""
    head = ["names of the answers", *next(iter(summaries.values()))]
    rows = [
        [names, *(_value(*found, as_number="κ" in measure) for measure, found in summary.items())]
        for names, summary in summaries.items()
    ]
    display(Markdown(f"{markdown_table(head, rows)}\n\n(With 95 % intervals over questions.)"))


def _value(value: float, low: float, high: float, as_number: bool) -> str:
    """A value with its interval, as a number or in percent."""
    if as_number:
        return f"{value:.2f} ({low:.2f} to {high:.2f})".replace("-", "−")
    return f"{value:.0%} ({low:.0%} to {high:.0%})"
