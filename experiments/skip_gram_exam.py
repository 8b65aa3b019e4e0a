"""How many senses can one vector per word distinguish, and how many an average over the words around it?

The vectors of several trainings of skip-gram take the scoreboard's test, by kind of question (notebook 01, part 7).
Writes `data/results/skip_gram_exam.csv` (about a minute).
"""

import numpy as np

from coursekit.language import load_language
from experiments.harness import Experiment, Options, Step, Steps, grid
from experiments.notebooks import names_of


def _steps(options: Options) -> Steps:
    names, language = names_of("01_static_embeddings"), load_language()
    corpus = language.sample(20_000, np.random.default_rng(0), split="train")

    def measure(seed: int) -> list[dict]:
        model = names["train_skip_gram"](corpus.ids, len(language.vocabulary), seed=seed)
        return [
            {"model": name, "seed": seed} | {kind: found[kind] for kind in names["QUESTIONS"]}
            for name, found in names["exam_of"](model.word).items()
        ]

    yield Step("skip_gram_exam", grid(seed=options.seeds), measure)


EXPERIMENT = Experiment(_steps, seeds=range(3))
