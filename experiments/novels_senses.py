"""Which layers of ELMo, BERT and GPT know the sense of a pseudo-word in real English, and from which side of the context?

A small ELMo, BERT and GPT are trained, three seeds each, on novels in which the words of each pair of
data/novels/pseudo_words.csv are one (notebook 08, *Further: three models of the same novels*). A linear classifier learns
the sense from 200 occurrences of each pair, from the vectors of each layer, and is tested on up to 60 in books by authors
that no training read: with the whole context, with that before the word and with that after it. Baselines: the more
frequent word, naive Bayes on a window of two and on a bag of words, and 5-grams of the text in which the words are apart.
Also recorded are ELMo's learned weights of the layers, and what each model loses on the unread authors. Training continues
from its checkpoint. Writes `data/results/novels_seeds.csv`, `data/results/novels_senses.csv` and
`data/results/novels_mix.csv` (an hour and three quarters of one core).
"""

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn

from coursekit import pretrain
from coursekit.novels import senses
from coursekit.novels.corpus import WORDS, Corpus, prepare
from coursekit.novels.figures import Side, stream
from coursekit.novels.kneser_ney import KneserNey
from coursekit.novels.pseudo_words import Pair, merge, read_pairs
from coursekit.novels.recipes import bert_losses, build_bert, build_elmo, build_gpt, elmo_losses, gpt_losses
from coursekit.novels.record import losses_of_a_seed
from coursekit.small.recipes import Recipe
from experiments.harness import Experiment, ExperimentError, Options, Step, Steps, grid

SIDES: tuple[Side, ...] = ("both", "left", "right")
BASELINES = "more frequent word", "window of two", "bag of words", "5-grams"
SMALL = {"dim": 128, "layers": 3, "heads": 4, "feed_forward": 512}
RECIPES = {
    "elmo": Recipe(partial(build_elmo, dim=128), elmo_losses, 2_000, 32, 2e-3, weight_decay=0.0),
    "bert": Recipe(partial(build_bert, **SMALL), bert_losses, 4_000, 32, 1e-3, weight_decay=0.01),
    "gpt": Recipe(partial(build_gpt, **SMALL), gpt_losses, 1_000, 32, 1e-3, weight_decay=0.01),
}


def measured(
    name: str, seed: int, model: nn.Module, apart: Corpus, merged: Corpus, pairs: list[Pair]
) -> tuple[pd.DataFrame, list[float]]:
    """Correct answers of a trained model by layer, side and pair; for ELMo also the learned weights of its layers."""
    learn, ask = (
        senses.places_of(apart, pairs, split, most)
        for split, most in (("train", senses.LABELLED), ("test", senses.ASKED))
    )
    frames, mix = [], []
    for side in SIDES[:2] if name == "gpt" else SIDES:  # GPT never sees the right side
        labelled, asked = (senses.VECTORS[name](model, merged, places, side) for places in (learn, ask))
        right = dict(enumerate(senses.right_by_layer(labelled, asked, learn, ask)))
        if name == "elmo" and side == "both":
            weights = senses.learned_mix(labelled, learn)
            mix = weights.tolist()
            mixed = [
                (torch.from_numpy(weights)[:, None, None] * v).sum(dim=0)[None] for v in (labelled, asked)
            ]
            (right["mix"],) = senses.right_by_layer(*mixed, learn, ask)
        frames += [
            by_pair(hits, ask, pairs, model=name, seed=seed, layer=layer, side=side)
            for layer, hits in right.items()
        ]
    return pd.concat(frames), mix


def counted(apart: Corpus, pairs: list[Pair]) -> Iterator[pd.DataFrame]:
    """The answers of the baselines, which need no trained model."""
    learn, ask = senses.places_of(apart, pairs, "train"), senses.places_of(apart, pairs, "test", senses.ASKED)
    table = partial(by_pair, places=ask, pairs=pairs, seed=0, layer="")
    yield table(senses.right_by_majority(learn, ask), model="more frequent word", side="")
    yield table(senses.right_by_words(apart, learn, ask, 2, True), model="window of two", side="both")
    yield table(
        senses.right_by_words(apart, learn, ask, senses.AROUND, False), model="bag of words", side="both"
    )
    n_grams = KneserNey(stream(apart.word_rows("train"), WORDS), WORDS, order=5)
    for side in SIDES:
        yield table(senses.right_by_n_grams(n_grams, apart, pairs, ask, side), model="5-grams", side=side)


def by_pair(hits: np.ndarray, places: senses.Places, pairs: list[Pair], **about: object) -> pd.DataFrame:
    """One row per pair: in how many of its occurrences the sense was correct."""
    lines = pd.DataFrame({"pair": places.pair, "right": hits}).groupby("pair")["right"].agg(["sum", "size"])
    lines.columns = ["right", "asked"]
    names = (
        pd.DataFrame(pairs)
        .assign(name=[pair.merged for pair in pairs])
        .loc[lines.index, ["name", "relation"]]
    )
    frame = pd.concat([names.rename(columns={"name": "pair"}), lines], axis=1)
    for place, (key, value) in enumerate(about.items()):
        frame.insert(place, key, value)
    return frame


def trained(
    name: str, seed: int, recipe: Recipe, merged: Corpus, folder: Path, options: Options
) -> nn.Module:
    """A model after all steps of its recipe; what its checkpoint lacks is trained."""
    with pretrain.alone(pretrain.checkpoint(folder, name, seed)) as mine:
        if not mine:
            raise ExperimentError(
                f"Another process is training {name}, seed {seed}: start again when it has finished."
            )
        task = options.progress.add_task(f"{name}, seed {seed}, steps", total=recipe.steps)
        for progress in pretrain.train(name, seed, recipe, merged, folder):
            options.progress.update(task, completed=progress.done)
        options.progress.remove_task(task)
    return pretrain.load_trained(name, seed, recipe, merged, folder)


def steps(
    options: Options,
    apart: Corpus | None = None,
    pairs: list[Pair] | None = None,
    recipes: dict[str, Recipe] = RECIPES,
) -> Steps:
    """The losses of every model, then its senses and those of the baselines."""
    apart = apart or prepare(options.corpus, options.checkpoints / "corpus")
    pairs = [pair for pair in pairs or read_pairs() if {*pair[:2]} <= {*apart.words}]
    merged = merge(apart, pairs, options.checkpoints / "merged")
    network = cache(
        lambda name, seed: trained(name, seed, recipes[name], merged, options.checkpoints / "senses", options)
    )
    baselines = cache(lambda: pd.concat(counted(apart, pairs)))

    def losses(model: str, seed: int) -> Iterator[dict]:
        for figure, value in losses_of_a_seed(model, network(model, seed), merged).items():
            yield {"figure": figure, "value": value}

    def right(model: str, seed: int) -> dict:
        if model not in recipes:
            found = baselines()
            return {"novels_senses": found[found.model == model]}
        found, mix = measured(model, seed, network(model, seed), apart, merged, pairs)
        weights = [{"seed": seed, "layer": layer, "weight": weight} for layer, weight in enumerate(mix)]
        return {"novels_senses": found} | ({"novels_mix": weights} if weights else {})

    runs = grid(model=recipes, seed=options.seeds)
    yield Step("novels_seeds", runs, losses)
    yield Step("novels_senses", grid(model=BASELINES, seed=[0]) + runs, right)


EXPERIMENT = Experiment(steps, seeds=range(3), novels=True)
