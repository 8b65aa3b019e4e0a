"""Which strategy of fine-tuning is best with how many labels, and how many epochs does it need?

Five strategies on two tasks of the small BERT (notebook 09). Each is first tried with several learning rates; the lowest
rate within a point of the best on validation sentences is used for the other numbers of labels and of epochs. A seed draws
other sentences, another head and another order of the batches. Validation and test accuracy, nats per masked word
forgotten, seconds. Writes `data/results/fine_tuning.csv` (about ten minutes).
"""

import pandas as pd

from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of

NOTEBOOK = "09_fine_tuning"
TASKS, BATCH, STEPS, SEEDS = ("topic", "swap"), 16, 200, range(100, 103)
LOW, HIGH = (3e-4, 1e-3, 3e-3), (1e-2, 3e-2, 1e-1)
RATES = {
    "frozen features": HIGH, "last layer": LOW, "gradual unfreezing": LOW, "full": LOW, "from scratch": LOW
}  # fmt: skip
LABELS, OTHER_LABELS, EPOCHS = 512, (64, 4096), (1, 4, 16)


def best_rates(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    """For each task and strategy the lowest rate whose mean on validation sentences is within a point of the best mean."""
    means = table.groupby(["task", "strategy", "lr"])["validation"].mean()
    chosen = {}
    for key, tried in means.groupby(level=["task", "strategy"]):
        chosen[key] = float(tried[tried >= tried.max() - 0.01].index.get_level_values("lr").min())
    return chosen


def _steps(options: Options) -> Steps:
    names = names_of(NOTEBOOK)

    def measure(table: str, **run) -> dict:
        return names["tune_small"](**run)

    rates = [
        {"table": "rates", "task": task, "strategy": strategy, "labels": LABELS, "lr": lr, "steps": STEPS, "seed": seed}
        for task in TASKS for strategy, tried in RATES.items() for lr in tried for seed in options.seeds
    ]  # fmt: skip
    yield Step("fine_tuning", rates, measure)
    tried = options.read("fine_tuning")
    best = best_rates(tried[tried["table"] == "rates"])
    labels = [
        {"table": "labels", "task": task, "strategy": strategy, "labels": labels, "lr": best[task, strategy],
         "steps": STEPS, "seed": seed}
        for seed in options.seeds for task in TASKS for strategy in RATES for labels in OTHER_LABELS
    ]  # fmt: skip
    epochs = [
        {"table": "epochs", "task": "swap", "strategy": "full", "labels": LABELS, "lr": best["swap", "full"],
         "steps": count * LABELS // BATCH, "seed": seed}
        for seed in options.seeds for count in EPOCHS
    ]  # fmt: skip
    yield Step("fine_tuning", labels + epochs, measure)


def small_bert(table: str, runs: list[dict], function: str = "tune_small") -> Step:
    """A step that calls one function of the notebook with the values of each run."""
    return Step(table, runs, names_of(NOTEBOOK)[function])


def full(seeds, **values) -> list[dict]:
    """Runs of full fine-tuning for every combination of the values, seed by seed; columns in the order of the tables."""
    columns = ("task", "strategy", "labels", "lr", "steps", "seed")
    runs = grid(seed=seeds, task=TASKS, strategy=["full"], **values)
    return [{column: run[column] for column in (*columns, *(set(run) - set(columns)))} for run in runs]


EXPERIMENT = Experiment(_steps, seeds=SEEDS)
