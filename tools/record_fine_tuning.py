"""Record data/results/fine_tuning*.csv: the runs of notebook 09 (an hour of one core).

    python tools/record_fine_tuning.py             # all; "small", "warm_up", "layer_rates", "long", "exam", "reviews" or "heads" behind it: one of them

Runs that stand in a table are not run again: delete a table to record it anew. A row is one fine-tuning. A seed is other sentences (or other reviews), another head and another order of the
batches. First every strategy is tried with several learning rates; the lowest one that comes within a point of the best
on validation sentences is used for all numbers of labels and epochs. The cells of the instructor's source that define what is
measured are run, so notebook and tables cannot differ.
"""

from pathlib import Path
from time import process_time

import pandas as pd
from notebook_names import record_tables
from tqdm import tqdm

ROOT = Path(__file__).parents[1]
SMALL, WARM_UP, LAYER_RATES, LONG, EXAM, REVIEWS, HEADS = (
    ROOT / "data/results" / f"fine_tuning{name}.csv"
    for name in ("", "_warm_up", "_layer_rates", "_long", "_exam", "_reviews", "_heads")
)

TASKS, BATCH = ("topic", "swap"), 16
LOW, HIGH = (3e-4, 1e-3, 3e-3), (1e-2, 3e-2, 1e-1)
RATES = {
    "frozen features": HIGH,
    "last layer": LOW,
    "gradual unfreezing": LOW,
    "full": LOW,
    "from scratch": LOW,
}
RATE_LABELS, OTHER_LABELS, STEPS, SEEDS = 512, (64, 4096), 200, range(100, 103)
EPOCHS = (1, 4, 16)
WARM_UP_RATES, WARM_UP_LABELS, WARM_UPS, WARM_UP_SEEDS = (
    (1e-3, 3e-3, 1e-2),
    (64, 512),
    (0.0, 0.1),
    range(100, 110),
)
LAYER_RATES_DECAYS, LAYER_RATES_SEEDS = (0.5, 0.25), range(100, 103)
"""The same rate for all layers, with these seeds, labels and rates, stands in the table of warm-up."""
LONG_STEPS, LONG_RUNS = 1600, (("full", 1e-3), ("from scratch", 1e-3), ("from scratch", 3e-3))
"""Eight times the steps of the other tables: with 4,096 labels, six epochs and a quarter."""
EXAM_STEPS, EXAM_RATES = 320, (1e-3, 3e-3)
"""The steps of the notebook's live run; its rate, and three times that."""
REVIEW_RATES = {
    "frozen features": (1e-3, 1e-2),
    "last layer": (1e-3,),
    "gradual unfreezing": (2e-4,),
    "full": (5e-5, 2e-4, 1e-3),
}
REVIEW_LABELS, REVIEW_EPOCHS, REVIEW_SEEDS = 256, 2, range(3)
HEAD_VECTORS = ("[CLS] behind the pooler", "[CLS]", "mean of the tokens")
HEAD_STEPS = (32, 1024)
"""As many as fine-tuning takes on so many reviews, and so many that more change nothing."""
TRAINER = {"table": "Trainer", "strategy": "full", "labels": 780, "lr": 5e-5, "epochs": 3, "seed": 0}


def best_rates(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    """For each task and strategy the lowest rate whose mean on validation sentences is within a point of the best mean."""
    means = table.groupby(["task", "strategy", "lr"])["validation"].mean()
    chosen = {}
    for key, tried in means.groupby(level=["task", "strategy"]):
        chosen[key] = float(tried[tried >= tried.max() - 0.01].index.get_level_values("lr").min())
    return chosen


def record(path: Path, runs: list[dict], measure, digits: int = 4) -> pd.DataFrame:
    """The table with the rows of some runs. It is written after each: what is cut short goes on where it stopped."""
    rows = pd.read_csv(path).to_dict("records") if path.exists() else []
    for run in tqdm(runs, desc=path.stem, unit="run", mininterval=5):
        if any(run.items() <= row.items() for row in rows):
            continue
        asked = {name: value for name, value in run.items() if name != "table"}
        rows.append(run | {name: round(value, digits) for name, value in measure(**asked).items()})
        pd.DataFrame(rows).to_csv(path, index=False)
    return pd.DataFrame(rows)


def small_bert(names: dict) -> None:
    rates = [
        {"table": "rates", "task": task, "strategy": strategy, "labels": RATE_LABELS, "lr": lr, "steps": STEPS, "seed": seed}
        for task in TASKS for strategy, tried in RATES.items() for lr in tried for seed in SEEDS
    ]  # fmt: skip
    tried = record(SMALL, rates, names["tune_small"])
    best = best_rates(tried[tried["table"] == "rates"])
    labels = [
        {"table": "labels", "task": task, "strategy": strategy, "labels": labels, "lr": best[task, strategy], "steps": STEPS, "seed": seed}
        for seed in SEEDS for task in TASKS for strategy in RATES for labels in OTHER_LABELS
    ]  # fmt: skip
    record(SMALL, labels, names["tune_small"])
    epochs = [
        {"table": "epochs", "task": "swap", "strategy": "full", "labels": RATE_LABELS, "lr": best["swap", "full"],
         "steps": epochs * RATE_LABELS // BATCH, "seed": seed}
        for seed in SEEDS for epochs in EPOCHS
    ]  # fmt: skip
    record(SMALL, epochs, names["tune_small"])


def warm_up(names: dict) -> None:
    runs = [
        {"task": task, "strategy": "full", "labels": labels, "lr": lr, "steps": STEPS, "seed": seed, "warmup": share}
        for seed in WARM_UP_SEEDS for task in TASKS for labels in WARM_UP_LABELS for lr in WARM_UP_RATES for share in WARM_UPS
    ]  # fmt: skip
    record(WARM_UP, runs, names["tune_small"])


def layer_rates(names: dict) -> None:
    runs = [
        {"task": task, "strategy": "full", "labels": RATE_LABELS, "lr": lr, "steps": STEPS, "seed": seed, "decay": decay}
        for seed in LAYER_RATES_SEEDS for task in TASKS for lr in WARM_UP_RATES for decay in LAYER_RATES_DECAYS
    ]  # fmt: skip
    record(LAYER_RATES, runs, names["tune_small"])


def long(names: dict) -> None:
    runs = [
        {"task": task, "strategy": strategy, "labels": max(OTHER_LABELS), "lr": lr, "steps": LONG_STEPS, "seed": seed}
        for seed in SEEDS for task in TASKS for strategy, lr in LONG_RUNS
    ]  # fmt: skip
    record(LONG, runs, names["tune_small"])


def exam(names: dict) -> None:
    runs = [
        {"task": task, "strategy": "full", "labels": RATE_LABELS, "lr": lr, "steps": EXAM_STEPS, "seed": seed}
        for seed in SEEDS for task in TASKS for lr in EXAM_RATES
    ]  # fmt: skip
    record(EXAM, runs, names["tune_and_ask"])


def reviews(names: dict) -> None:
    loaded = names["load_pretrained"]("bert-base-uncased")
    runs = [
        {"table": loaded.name, "strategy": strategy, "labels": REVIEW_LABELS, "lr": lr, "epochs": REVIEW_EPOCHS, "seed": seed}
        for seed in REVIEW_SEEDS for strategy, rates in REVIEW_RATES.items() for lr in rates
    ]  # fmt: skip
    record(REVIEWS, runs, lambda **run: names["tune_reviews"](loaded, **run))
    record(REVIEWS, [TRAINER], lambda **run: by_trainer(names, loaded))


def heads(names: dict) -> None:
    loaded = names["load_pretrained"]("bert-base-uncased")
    runs = [
        {"table": loaded.name, "vector": vector, "labels": REVIEW_LABELS, "lr": 1e-2, "steps": steps, "seed": seed}
        for vector in HEAD_VECTORS for steps in HEAD_STEPS for seed in REVIEW_SEEDS
    ]  # fmt: skip
    record(HEADS, runs, lambda **run: names["tune_head"](loaded, **run))


def by_trainer(names: dict, loaded) -> dict[str, float]:
    """All of the notebook's optional cell: every review, three epochs."""
    start = process_time()
    said = names["with_trainer"](loaded, -1)[1]
    return {"test": said["test_accuracy"], "seconds": process_time() - start}


TABLES = {
    "small": small_bert,
    "warm_up": warm_up,
    "layer_rates": layer_rates,
    "long": long,
    "exam": exam,
    "reviews": reviews,
    "heads": heads,
}


if __name__ == "__main__":
    record_tables("09_fine_tuning", TABLES, __doc__)
