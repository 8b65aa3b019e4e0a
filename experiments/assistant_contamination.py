"""How much does a test overstate a model that was trained on some of its questions?

The small GPT is tuned on 512 questions of which a share are those of the test, word for word or with one word changed, for
few or many epochs (notebook 14, part 7): how many leaked, the share of the test found verbatim in the training set, the
accuracy on this test and on another one, and the best possible. Writes `data/results/assistant_contamination.csv` (about
ten minutes).
"""

from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of

LEAKS = ((0.0, 0), (0.5, 0), (1.0, 0), (0.5, 1), (1.0, 1))
"""The share of the test that leaks, and how many of its words are changed."""


def _steps(options: Options) -> Steps:
    runs = [
        {"copies": copies, "words_changed": changed, "epochs": epochs, "seed": seed}
        for seed in options.seeds
        for epochs in (4, 16)
        for copies, changed in LEAKS
    ]
    yield Step("assistant_contamination", runs, names_of("14_assistant")["contaminated"])


EXPERIMENT = Experiment(_steps, seeds=range(3))
