"""Should lower layers be fine-tuned with lower learning rates?

Full fine-tuning of the small BERT on 512 labels where the rate of each layer is ½ or ¼ of that above it (notebook 09,
part 12); one rate for all layers is in `fine_tuning_warm_up.csv`, for the same seeds. Writes
`data/results/fine_tuning_layer_rates.csv` (about two minutes).
"""

from experiments.fine_tuning import LABELS, SEEDS, STEPS, full, small_bert
from experiments.fine_tuning_warm_up import RATES
from experiments.harness import Experiment, Options, Steps


def _steps(options: Options) -> Steps:
    runs = full(options.seeds, labels=[LABELS], lr=RATES, steps=[STEPS], decay=(0.5, 0.25))
    yield small_bert("fine_tuning_layer_rates", runs)


EXPERIMENT = Experiment(_steps, seeds=SEEDS)
