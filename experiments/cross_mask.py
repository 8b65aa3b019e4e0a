"""How much does a translator lose by a wrong cross-attention mask, and does longer training reveal it?

Translators are trained with the mask of 2021 and with the corrected one for 80, 400 and 800 steps (notebook 04, *find
the bug*): nats per token on held-out sentences, given their own source or, as a control, that of another sentence.
Writes `data/results/cross_mask.csv` (about five minutes).
"""

from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of


def _steps(options: Options) -> Steps:
    names = names_of("04_recurrence")

    def measure(steps: int, mask: str, seed: int) -> dict:
        return names["trained_with"](mask, steps, seed)

    yield Step("cross_mask", grid(steps=(80, 400, 800), mask=names["masks"], seed=options.seeds), measure)


EXPERIMENT = Experiment(_steps, seeds=range(3))
