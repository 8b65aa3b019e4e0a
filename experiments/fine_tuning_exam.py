"""Does the last layer still distinguish the senses of words after fine-tuning on another task?

The scoreboard's test by kind of question after full fine-tuning of the small BERT for the 320 steps of the notebook, with
its learning rate and with three times that rate (notebook 09, part 15). Writes `data/results/fine_tuning_exam.csv` (a few
minutes).
"""

from experiments.fine_tuning import LABELS, SEEDS, full, small_bert
from experiments.harness import Experiment, Options, Steps


def _steps(options: Options) -> Steps:
    runs = full(options.seeds, labels=[LABELS], lr=(1e-3, 3e-3), steps=[320])
    yield small_bert("fine_tuning_exam", runs, "tune_and_ask")


EXPERIMENT = Experiment(_steps, seeds=SEEDS)
