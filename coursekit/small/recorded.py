"""What training the small models with several seeds gave: `data/results/small_NAME.csv`, read with intervals.

table = recorded("gpt")
table.loc["held-out: next word, above the bound", ["mean", "half_width"]]

`python -m coursekit.pretrain gpt --seeds 0 1 2 --record data/results/small_gpt.csv` makes such a table anew.
"""

import csv
from pathlib import Path

import pandas as pd

from coursekit.datasets import read_table
from coursekit.intervals import half_width


def recorded(name: str) -> pd.DataFrame:
    """Every measure of the model "gpt", "bert" or "elmo" over its seeds.

    Index: the measure. Columns: `mean` and `half_width` of its 95 % interval (Student's t over seeds), `seeds` (how
    many), `untrained` (the mean of the same models before the first step). Raises DataMissing when there is no table.
    """
    rows = read_table(f"results/small_{name}.csv")
    trained, untrained = rows[rows.steps > 0], rows[rows.steps == 0]
    values = trained.groupby("measure", sort=False).value
    table = pd.DataFrame(
        {"mean": values.mean(), "half_width": values.agg(half_width), "seeds": values.count()}
    )
    return table.join(untrained.groupby("measure").value.mean().rename("untrained"))


def write_rows(path: Path, seed: int, steps: int, figures: dict[str, float]) -> None:
    """Add the figures of one run to a table: seed, steps (0: untrained), measure, value."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        if new:
            table.writerow(["seed", "steps", "measure", "value"])
        table.writerows([seed, steps, measure, f"{value:.5f}"] for measure, value in figures.items())
