"""From which vector of a frozen encoder should a head classify, and does it only need more steps?

A linear head on three vectors of a pre-trained encoder, 256 reviews, with as many steps as fine-tuning takes and with 32
times as many (notebook 09, part 13): test accuracy. Writes `data/results/fine_tuning_heads.csv` (about two minutes).
"""

from experiments.fine_tuning import NOTEBOOK
from experiments.fine_tuning_reviews import LABELS
from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of

VECTORS, STEPS = ("[CLS] after the pooler", "[CLS]", "mean of the tokens"), (32, 1024)


def _steps(options: Options) -> Steps:
    names = names_of(NOTEBOOK)
    loaded = names["load_pretrained"]("all-MiniLM-L6-v2")

    def measure(table: str, **run) -> dict:
        return names["tune_head"](loaded, **run)

    runs = [
        {"table": loaded.name, "vector": vector, "labels": LABELS, "lr": 1e-2, "steps": steps, "seed": seed}
        for vector in VECTORS
        for steps in STEPS
        for seed in options.seeds
    ]
    yield Step("fine_tuning_heads", runs, measure)


EXPERIMENT = Experiment(_steps, seeds=range(3))
