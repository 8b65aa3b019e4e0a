"""Record novels_senses.csv, novels_mix.csv and novels_seeds.csv in data/results: pseudo-words in real English (an hour and three quarters; start it twice).

    python tools/record_novels_senses.py --corpus FOLDER

FOLDER has the novels' `books.csv` and `raw` (data/novels/README.md). A small ELMo, BERT and GPT learn, three seeds each, from text in
which the words of each pair of data/novels/pseudo_words.csv are one. From 200 places of each pair in their books a linear
classifier learns the sense from the vectors of each layer; it is asked at up to 60 places of each pair by authors that no training
saw: with the whole context, with what stands before, with what comes after. Beside it: the more frequent word, naive Bayes on a
window of two and on a bag of words, learned from all places of the training books, and 5-grams of the text in which the words are apart.
The third table has what each model loses on authors that no training saw: how far do seeds differ?

A run is saved every few minutes and goes on where it stood; the tables are written when all runs are done.
"""

import argparse
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from notebook_names import ROOT

from coursekit import pretrain
from coursekit.novels import senses
from coursekit.novels.corpus import WORDS, Corpus, prepare
from coursekit.novels.figures import Side, stream
from coursekit.novels.kneser_ney import KneserNey
from coursekit.novels.pseudo_words import Pair, merge, read_pairs
from coursekit.novels.recipes import bert_losses, build_bert, build_elmo, build_gpt, elmo_losses, gpt_losses
from coursekit.novels.record import losses_of_a_seed
from coursekit.small.recipes import Recipe

SEEDS = 0, 1, 2
SIDES: tuple[Side, ...] = ("both", "left", "right")
SMALL = {"dim": 128, "layers": 3, "heads": 4, "feed_forward": 512}
RECIPES = {
    "elmo": Recipe(partial(build_elmo, dim=128), elmo_losses, 2_000, 32, 2e-3, weight_decay=0.0),
    "bert": Recipe(partial(build_bert, **SMALL), bert_losses, 4_000, 32, 1e-3, weight_decay=0.01),
    "gpt": Recipe(partial(build_gpt, **SMALL), gpt_losses, 1_000, 32, 1e-3, weight_decay=0.01),
}
RESULTS = ROOT / "data" / "results"


def measured(
    name: str, seed: int, recipe: Recipe, apart: Corpus, merged: Corpus, pairs: list[Pair], folder: Path
) -> tuple[pd.DataFrame, list[float] | None]:
    """Right answers of one trained model by layer, side and pair; of ELMo also the learned mix, layers in their order."""
    model = pretrain.load_trained(name, seed, recipe, merged, folder)
    learn, ask = (
        senses.places_of(apart, pairs, split, most)
        for split, most in (("train", senses.LABELLED), ("test", senses.ASKED))
    )
    frames, mix = [], None
    for side in SIDES[:2] if name == "gpt" else SIDES:  # GPT sees the left side in any case
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
    """What needs no model."""
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
    """One line a pair: how many of its places were told right."""
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


def train_all(
    names: list[str], seeds: list[int], recipes: dict[str, Recipe], merged: Corpus, folder: Path
) -> bool:
    """Take one run after another; whether all are done now."""
    for seed in seeds:
        for name in names:
            with pretrain.alone(pretrain.checkpoint(folder, name, seed)) as mine:
                said = time.monotonic()
                for progress in pretrain.train(name, seed, recipes[name], merged, folder) if mine else ():
                    if time.monotonic() - said > 60 or progress.done == progress.steps:
                        print(progress, flush=True)
                        said = time.monotonic()
    runs = [
        pretrain.read_progress(folder, name, seed, recipes[name].steps) for name in names for seed in seeds
    ]
    return all(run.done == run.steps for run in runs)


def losses_by_seed(
    merged: Corpus, folder: Path, recipes: dict[str, Recipe], seeds: tuple[int, ...]
) -> pd.DataFrame:
    """A line for each model, seed and figure, on unread authors."""
    lines = []
    for name, recipe in recipes.items():
        for seed in seeds:
            model = pretrain.load_trained(name, seed, recipe, merged, folder)
            found = losses_of_a_seed(name, model, merged).items()
            lines += [
                {"model": name, "seed": seed, "figure": what, "value": round(value, 4)}
                for what, value in found
            ]
    return pd.DataFrame(lines)


def record(
    apart: Corpus,
    folder: Path,
    results: Path,
    recipes: dict[str, Recipe] = RECIPES,
    seeds: tuple[int, ...] = SEEDS,
) -> None:
    """Train what is not trained yet; when all runs are done, measure them and write the three tables."""
    pairs = [pair for pair in read_pairs() if {*pair[:2]} <= {*apart.words}]
    merged = merge(apart, pairs, folder / "merged")
    if not train_all(list(recipes), list(seeds), recipes, merged, folder / "senses"):
        print("Another process is at work on a run: the tables are written by whoever ends last.")
        return
    losses_by_seed(merged, folder / "senses", recipes, seeds).to_csv(
        results / "novels_seeds.csv", index=False
    )
    frames, mixes = list(counted(apart, pairs)), []
    for name, recipe in recipes.items():
        for seed in seeds:
            print(f"{name}, seed {seed}: measuring", flush=True)
            frame, mix = measured(name, seed, recipe, apart, merged, pairs, folder / "senses")
            frames.append(frame)
            mixes += (
                []
                if mix is None
                else [{"seed": seed, "layer": layer, "weight": weight} for layer, weight in enumerate(mix)]
            )
    pd.concat(frames).to_csv(results / "novels_senses.csv", index=False)
    if mixes:
        pd.DataFrame(mixes).round(4).to_csv(results / "novels_mix.csv", index=False)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True, help="the novels: books.csv and the folder raw")
    parser.add_argument(
        "--to", type=Path, default=Path("build/pretrain"), help="where numbers and checkpoints are kept"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS, metavar="SEED")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    corpus = prepare(arguments.corpus, arguments.to / "corpus")
    record(corpus, arguments.to, RESULTS, seeds=tuple(arguments.seeds))


if __name__ == "__main__":
    main()
