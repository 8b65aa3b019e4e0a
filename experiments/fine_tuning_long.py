"""Is training from scratch as good as fine-tuning once it lasts long enough?

The small BERT fine-tuned and from scratch on 4,096 labels for 1,600 steps, eight times as many as in the other tables, or
six epochs and a quarter (notebook 09, part 11). Writes `data/results/fine_tuning_long.csv` (about ten minutes).
"""

from experiments.fine_tuning import OTHER_LABELS, SEEDS, TASKS, small_bert
from experiments.harness import Experiment, Options, Steps

STRATEGIES = (("full", 1e-3), ("from scratch", 1e-3), ("from scratch", 3e-3))


def _steps(options: Options) -> Steps:
    runs = [
        {
            "task": task,
            "strategy": strategy,
            "labels": max(OTHER_LABELS),
            "lr": lr,
            "steps": 1600,
            "seed": seed,
        }
        for seed in options.seeds
        for task in TASKS
        for strategy, lr in STRATEGIES
    ]
    yield small_bert("fine_tuning_long", runs)


EXPERIMENT = Experiment(_steps, seeds=SEEDS)
