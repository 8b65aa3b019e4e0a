"""Does a deep post-norm encoder need warm-up at every learning rate?

The post-norm encoders of `warm_up`, with clipping, with and without warm-up, at four learning rates (notebook 03, part 7): the
mean loss of the last 25 steps and the accuracy. Writes `data/results/warm_up_rates.csv` (about fifteen minutes).
"""

import numpy as np

from coursekit.language import load_language
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of

RATES = (3e-4, 1e-3, 3e-3, 1e-2)


def _steps(options: Options) -> Steps:
    language = load_language()
    names = names_of("03_transformer_layer", V=len(language.vocabulary), language=language)

    def measure(how: str, rate: float, seed: int) -> list[dict]:
        losses, accuracy = names["deep_run"](False, how, seed, rate)
        return [{"loss": np.mean(losses[-25:]), "accuracy": accuracy}]

    runs = grid(how=("warm-up and clipping", "no warm-up"), rate=RATES, seed=options.seeds)
    yield Step("warm_up_rates", runs, measure)


EXPERIMENT = Experiment(_steps, seeds=range(5))
