"""How many dimensions and how many training steps does skip-gram need to reach the best possible scores?

For vectors of 10, 50 and 200 dimensions, for a third of the steps and for four times as many (notebook 01, part 4): the
correlation of the scores with the best possible ones on all pairs that occur at least five times, and how far the loss
of the last hundred steps lies above the best possible. Writes `data/results/skip_gram.csv` (about ten minutes).
"""

import numpy as np

from coursekit.language import load_language
from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of

SETTINGS = ((10, 1500), (50, 500), (50, 1500), (50, 6000), (200, 1500), (200, 6000))


def _steps(options: Options) -> Steps:
    names, language = names_of("01_static_embeddings"), load_language()
    corpus, V = language.sample(20_000, np.random.default_rng(0), split="train"), len(language.vocabulary)
    counts = names["count_pairs"](*names["pairs_within"](corpus.ids), V)
    best_loss, best_scores = names["best_possible"](counts)
    frequent = counts >= 5

    def measure(D: int, steps: int, seed: int) -> dict:
        model = names["train_skip_gram"](corpus.ids, V, D=D, steps=steps, seed=seed)
        scores = (model.word @ model.context.T)[frequent]
        agreement = np.corrcoef(best_scores[frequent], scores)[0, 1]
        return {"agreement": agreement, "above": np.mean(model.losses[-100:]) - best_loss}

    runs = [{"D": D, "steps": steps, "seed": seed} for seed in options.seeds for D, steps in SETTINGS]
    yield Step("skip_gram", runs, measure)


EXPERIMENT = Experiment(_steps, seeds=range(1, 4))
