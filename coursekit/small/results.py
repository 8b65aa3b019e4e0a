"""The results of training the small models with several seeds, `data/results/small_NAME.csv`, with intervals.

    table = recorded("gpt")
    table.loc["held-out: next word, above the bound", ["mean", "half_width"]]
    add_row("GPT", recorded_senses("gpt", layer=2))

`python -m coursekit.pretrain --record data` creates the tables again.
"""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from coursekit.exam import Accuracy


def recorded(name: str) -> "pd.DataFrame":
    """Every measure of the model "gpt", "bert", "elmo" or "translator" over its seeds.

    Index: the measure. Columns: `mean` and `half_width` of its 95 % interval (Student's t over seeds), `seeds` (how
    many), `untrained` (the mean of the same models before the first step). Raises DataMissing if there is no table.
    """
    # start-up: loading a model needs neither pandas nor SciPy
    import pandas as pd

    from coursekit.datasets import read_table
    from coursekit.intervals import half_width

    rows = read_table(f"results/small_{name}.csv")
    trained, untrained = rows[rows.steps > 0], rows[rows.steps == 0]
    values = trained.groupby("measure", sort=False).value
    table = pd.DataFrame(
        {"mean": values.mean(), "half_width": values.agg(half_width), "seeds": values.count()}
    )
    return table.join(untrained.groupby("measure").value.mean().rename("untrained"))


def recorded_senses(
    name: str, layer: int, labels: int | None = None, trained: bool = True
) -> "list[Accuracy]":
    """Accuracies of a layer on the test of word senses, one for each seed, with this number of labelled sentences (default: the scoreboard's)."""
    # start-up: as above
    from coursekit.datasets import read_table
    from coursekit.exam import QUESTIONS, Accuracy
    from coursekit.small.figures import sense_figure

    rows = read_table(f"results/small_{name}.csv")
    rows = rows[(rows.steps > 0) == trained].pivot(index="seed", columns="measure", values="value")
    figures = [f"{sense_figure(layer, labels)}, {text}" for text in QUESTIONS.values()]
    return [Accuracy(*shares) for shares in rows[figures].to_numpy().tolist()]


def write_rows(path: Path, seed: int, steps: int, figures: dict[str, float]) -> None:
    """Add the results of one run to a table: seed, steps (0: untrained), measure, value."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        if new:
            table.writerow(["seed", "steps", "measure", "value"])
        table.writerows([seed, steps, measure, f"{value:.5f}"] for measure, value in figures.items())
