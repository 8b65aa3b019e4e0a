"""Does fine-tuning need a warm-up of the learning rate?

Full fine-tuning of the small BERT with a tenth of the steps as warm-up and with none, in pairs: two tasks, two numbers of
labels, three learning rates (notebook 09, part 12). Writes `data/results/fine_tuning_warm_up.csv` (about fifteen minutes).
"""

from experiments.fine_tuning import STEPS, full, small_bert
from experiments.harness import Experiment, Options, Steps

RATES = (1e-3, 3e-3, 1e-2)


def _steps(options: Options) -> Steps:
    runs = full(options.seeds, labels=(64, 512), lr=RATES, steps=[STEPS], warmup=(0.0, 0.1))
    yield small_bert("fine_tuning_warm_up", runs)


EXPERIMENT = Experiment(_steps, seeds=range(100, 110))
