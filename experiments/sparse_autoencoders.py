"""Which true features does a sparse autoencoder recover from a small BERT, and how does this depend on its width and sparsity?

Sparse autoencoders of three widths and two numbers of active latents, one with a tied encoder, and one with an L1 penalty
instead, are trained on the vectors of the small BERT after its last layer (notebook 15, part 7). For each kind of true
feature: precision, recall and F1 of the best latent, the number of latents that are parts of a feature, and absorption; also the share of variance left
unexplained, active latents per token and dead latents. The baselines are principal components, random directions, a
linear probe and a detector that is always active. Writes `data/results/sparse_autoencoders.csv` (about two minutes).

For the autoencoders with 256 latents and k = 8 it also measures how many latents recur with another seed: all latents that are ever
active, and those that detect each kind of true feature best. Writes `data/results/sparse_autoencoders_recurring.csv` (one minute).
"""

from functools import cache

import pandas as pd
import torch

from coursekit import features, latents
from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of

SEEDS = range(3)
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


def _recurring(seed: int) -> pd.DataFrame:
    names, (train, test) = names_of("15_circuits"), _tokens()
    made = {each: features.new_dictionary(train.x, 256, 8, each) for each in SEEDS}
    for each, dictionary in made.items():
        features.train(dictionary, train.x, names["encode"], names["sparse_loss"], seed=each)
    pair = tuple(features.codes_of(made[seed], tokens.x, names["encode"]) for tokens in (train, test))
    cosines = torch.stack([latents.nearest_cosines(made[seed], made[each]) for each in SEEDS if each != seed])
    best = features.detected(*pair, train, test, names["detection"])
    chosen = {kind: list(rows.direction) for kind, rows in best.groupby("kind", sort=False)}
    chosen = {"all latents": (pair[1] > 0).any(dim=0).nonzero().flatten().tolist(), **chosen}
    return pd.DataFrame([{"latents": kind, **latents.recurrence(cosines[:, some])} for kind, some in chosen.items()])  # fmt: skip


def _steps(options: Options) -> Steps:
    torch.set_num_threads(options.threads)
    runs = [*ALONE, *({**setting, "seed": seed} for setting in SETTINGS for seed in options.seeds)]
    yield Step("sparse_autoencoders", runs, _measure)
    yield Step("sparse_autoencoders_recurring", [{"seed": seed} for seed in options.seeds], _recurring)


EXPERIMENT = Experiment(_steps, seeds=SEEDS)
