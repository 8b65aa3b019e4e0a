"""Which strategy of fine-tuning suits a pre-trained encoder and a few hundred real reviews?

The strategies of notebook 09 with a pre-trained encoder on 256 reviews, at several learning rates, and one run of
`Trainer` on all reviews: test accuracy, seconds. Writes `data/results/fine_tuning_reviews.csv` (about twenty minutes).
"""

from time import process_time

from experiments.fine_tuning import NOTEBOOK
from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of

RATES = {
    "frozen features": (1e-3, 1e-2),
    "last layer": (1e-3,),
    "gradual unfreezing": (2e-4,),
    "full": (5e-5, 2e-4, 1e-3),
}
LABELS, EPOCHS = 256, 2
TRAINER = {"table": "Trainer", "strategy": "full", "labels": 780, "lr": 5e-5, "epochs": 3, "seed": 0}


def _steps(options: Options) -> Steps:
    names = names_of(NOTEBOOK)
    loaded = names["load_pretrained"]("all-MiniLM-L6-v2")

    def measure(table: str, **run) -> dict:
        if table != "Trainer":
            return names["tune_reviews"](loaded, **run)
        start = process_time()  # the optional cell of the notebook, on all reviews
        accuracy = names["with_trainer"](loaded, -1)[1]["test_accuracy"]
        return {"test": accuracy, "seconds": process_time() - start}

    runs = [
        {
            "table": loaded.name,
            "strategy": strategy,
            "labels": LABELS,
            "lr": lr,
            "epochs": EPOCHS,
            "seed": seed,
        }
        for seed in options.seeds
        for strategy, rates in RATES.items()
        for lr in rates
    ]
    yield Step("fine_tuning_reviews", [*runs, TRAINER], measure)


EXPERIMENT = Experiment(_steps, seeds=range(3))
