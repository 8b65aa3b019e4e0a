"""Which true features does a sparse autoencoder recover from a small BERT, and how does this depend on its width and sparsity?

Sparse autoencoders of three widths and two numbers of active latents, one with a tied encoder, and one with an L1 penalty
instead, are trained on the vectors of the small BERT after its last layer (notebook 15, part 7). For each kind of true
feature: precision, recall and F1 of the best latent, the number of latents that are parts of a feature, and absorption; also the share of variance left
unexplained, active latents per token and dead latents. The baselines are principal components, random directions, a
linear probe and a detector that is always active. Writes `data/results/sparse_autoencoders.csv` (about two minutes).
"""

from functools import cache

import pandas as pd
import torch

from coursekit import features
from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of

SETTINGS = [
    {"method": "top-k", "width": 64, "k": 8, "l1": 0.0},
    {"method": "top-k", "width": 256, "k": 8, "l1": 0.0},
    {"method": "top-k", "width": 512, "k": 8, "l1": 0.0},
    {"method": "top-k", "width": 256, "k": 4, "l1": 0.0},
    {"method": "tied", "width": 256, "k": 8, "l1": 0.0},
    {"method": "L1", "width": 256, "k": 0, "l1": 1.0},
    {"method": "random directions", "width": 256, "k": 0, "l1": 0.0},
]
ONLY_LATENTS = ["parts", "largest", "together", "absorbed", "unexplained", "active", "dead"]
"""Columns that are empty for the baselines."""
ALONE = [{"method": method, "width": 0, "k": 0, "l1": 0.0, "seed": 0} for method in ("principal components", "linear probe", "always active")]  # fmt: skip


@cache
def _tokens() -> tuple[features.Tokens, features.Tokens]:
    return features.read(4_000, 1, "train"), features.read(1_500, 2, "held_out")


def _measure(method: str, width: int, k: int, l1: float, seed: int) -> pd.DataFrame:
    names = names_of("15_circuits")
    train, test = _tokens()
    detection, more = names["detection"], pd.DataFrame()
    mean = train.x.mean(dim=0)
    if method == "principal components":
        directions = features.principal_directions(train.x)
        pair = (train.x - mean) @ directions, (test.x - mean) @ directions
    elif method == "random directions":
        directions = features.random_directions(train.x, width, seed)
        pair = (train.x - mean) @ directions, (test.x - mean) @ directions
    elif method == "linear probe":
        pair = features.probe_scores(train, test)
    elif method == "always active":
        pair = torch.ones(len(train.x), 1), torch.ones(len(test.x), 1)
    else:
        made = features.new_dictionary(train.x, width, k, seed, tied=method == "tied")
        features.train(made, train.x, names["encode"], names["sparse_loss"], l1, seed=seed)
        pair = tuple(features.codes_of(made, tokens.x, names["encode"]) for tokens in (train, test))
        more = (
            features.parts_of_features(pair[1] > 0, test, detection).groupby("kind").mean(numeric_only=True)
        )
        more = more.assign(**features.summary(made, test.x, pair[1]))
    found = (
        features.detected(*pair, train, test, detection).groupby("kind")[["precision", "recall", "f1"]].mean()
    )
    return found.join(more.reindex(columns=ONLY_LATENTS)).reset_index()


def _steps(options: Options) -> Steps:
    torch.set_num_threads(options.threads)
    runs = [*ALONE, *({**setting, "seed": seed} for setting in SETTINGS for seed in options.seeds)]
    yield Step("sparse_autoencoders", runs, _measure)


EXPERIMENT = Experiment(_steps, seeds=range(3))
