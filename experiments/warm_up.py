"""Do deep encoders need warm-up and gradient clipping, and does the place of the layer norm change that?

Encoders of six layers, post-norm and pre-norm, learn the direction of sentences with and without each of the two
(notebook 03, part 7): the mean loss of every ten steps, and the accuracy at the end. Writes `data/results/warm_up.csv`
(about fifteen minutes).
"""

import numpy as np

from coursekit.language import load_language
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of

EVERY = 10
"""Steps over which the loss is averaged."""


def _steps(options: Options) -> Steps:
    language = load_language()
    names = names_of("03_transformer_layer", V=len(language.vocabulary), language=language)

    def measure(norm: str, how: str, seed: int) -> list[dict]:
        losses, accuracy = names["deep_run"](norm == "pre-norm", how, seed)
        means = np.array(losses).reshape(-1, EVERY).mean(axis=1)
        return [
            {"step": number * EVERY, "loss": loss, "accuracy": accuracy}
            for number, loss in enumerate(means, start=1)
        ]

    runs = grid(seed=options.seeds, norm=("post-norm", "pre-norm"), how=names["SHORT"])
    yield Step(
        "warm_up", [{"norm": run["norm"], "how": run["how"], "seed": run["seed"]} for run in runs], measure
    )


EXPERIMENT = Experiment(_steps, seeds=range(10))
