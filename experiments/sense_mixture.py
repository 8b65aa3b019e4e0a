"""Is the static vector of an ambiguous word a mixture of its senses, weighted by their frequency?

For other seeds than that of the notebook (01, part 6): the mean cosine between the vector of a word and mixtures of its
senses, the same for control mixtures, and slope and correlation of weight against frequency. Writes
`data/results/01_sense_mixture.csv` (about a minute).
"""

import numpy as np

from coursekit.language import load_language
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of

MEASURES = (
    "weighted by frequency", "plain average", "best weights", "senses of other words", "random words", "among the senses"
)  # fmt: skip


def _steps(options: Options) -> Steps:
    names, language = names_of("01_static_embeddings"), load_language()

    def measure(seed: int) -> list[dict]:
        words = names["measure_mixtures"](language, seed)
        frequency, weights = (
            np.concatenate([word[name] for word in words]) for name in ("frequency", "weights")
        )
        found = {name: np.mean([word[name] for word in words]) for name in MEASURES}
        found["slope"] = np.polyfit(frequency, weights, 1)[0]
        found["correlation"] = np.corrcoef(frequency, weights)[0, 1]
        return [{"measure": name, "value": value} for name, value in found.items()]

    yield Step("01_sense_mixture", grid(seed=options.seeds), measure)


EXPERIMENT = Experiment(_steps, seeds=range(1, 6))
