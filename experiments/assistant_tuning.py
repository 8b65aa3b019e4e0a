"""How few parameters must be tuned to teach a small GPT a task: all, its last layer, or low-rank updates?

The small GPT is tuned to name the topic of a prompt in full, in its last layer, or by LoRA of five ranks on every linear
layer (notebook 14, part 4). Every learning rate is tried with one seed; the lowest within a point of the best on
validation questions is repeated with all. Trainable parameters, accuracy, and nats per word above the bound on plain
sentences. Writes `data/results/assistant_tuning.csv` (about five minutes).
"""

from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of

METHODS = {
    "full": (3e-4, 1e-3, 3e-3),
    "last layer": (1e-3, 3e-3, 1e-2),
    **{f"LoRA {rank}": (1e-3, 3e-3, 1e-2) for rank in (1, 2, 4, 8, 16)},
}


def _steps(options: Options) -> Steps:
    tune = names_of("14_assistant")["tune"]
    tried = [{"method": method, "lr": lr, "seed": 0} for method, rates in METHODS.items() for lr in rates]
    yield Step("assistant_tuning", tried, tune)
    table = options.read("assistant_tuning")
    best = {
        method: rows.loc[rows["validation"] >= rows["validation"].max() - 0.01, "lr"].min()
        for method, rows in table[table["seed"] == 0].groupby("method")
    }
    settings = [*best.items(), ("full", 1e-3)]  # also one rate below that selected for full tuning
    runs = [{"method": method, "lr": lr, "seed": seed} for seed in options.seeds for method, lr in settings]
    yield Step("assistant_tuning", runs, tune)


EXPERIMENT = Experiment(_steps, seeds=range(3))
