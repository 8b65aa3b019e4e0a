"""What do the latents of a sparse autoencoder on SmolLM2 detect, and do they recur with another seed?

Top-k autoencoders of three seeds are trained on the residual stream of SmolLM2-135M-Instruct after layer 15, at every token but
the first of novels and of the course's own English texts (notebook 15, *Further: latents of a model of English*). On authors that
training did not see: the share of variance left unexplained, active latents per token and latents that are never active. For
each of the senses of `data/senses`, whose sentences training did not see either: precision, recall and F1 of the best latent,
chosen on one part of the sentences and tested on the other, next to principal components, random directions, a linear probe and a
detector that is always active. Writes `data/results/sparse_autoencoder_smollm2.csv`, `data/results/sparse_autoencoder_smollm2_senses.csv`
and the weights of seed 0 in `data/models` (half an hour of one core).
"""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from coursekit import features, latents
from coursekit.datasets import read_table
from coursekit.models import load
from coursekit.novels.cleaning import paragraphs
from coursekit.novels.corpus import read_books, split_of
from experiments.harness import ROOT, Experiment, Options, Run, Step, Steps
from experiments.notebooks import names_of

SEEDS = range(3)
WIDTH, K, STEPS, RATE = 800, 16, 4_000, 1e-3
CHUNKS = {"train": 1_000, "test": 100}
"""Of 128 tokens, from novels."""


def _chunks(folder: Path, split: str) -> list[str]:
    """Random passages of the novels of one part, from a random paragraph on."""
    draw = np.random.default_rng(len(split))
    books = [book for book in read_books(folder) if split_of(book["author"]) == split]
    texts = [paragraphs((folder / "raw" / book["file"]).read_text(encoding="utf-8")) for book in books]
    found = []
    for n in range(CHUNKS[split]):
        text = texts[n % len(texts)]
        start = int(draw.integers(len(text) - 20))
        found.append(" ".join(text[start : start + 20])[:900])
    return found


def _vectors(folder: Path, checkpoints: Path) -> dict[str, torch.Tensor]:
    """Of tokens in training and of held-out ones; kept on disk, because a decoder takes ten minutes for them."""
    path = checkpoints / "smollm2_stream.pt"
    if not path.exists():
        decoder = load("SmolLM2-135M-Instruct")
        ours, held_out = latents.texts_of_the_course()
        texts = {
            "train": _chunks(folder, "train") + ours,
            "novels": _chunks(folder, "test"),
            "course": held_out,
        }
        found = {
            name: latents.running_vectors(latents.stream_after(decoder, some)).half()
            for name, some in texts.items()
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save(found, path)
    return {name: x.float() for name, x in torch.load(path).items()}


def _steps(options: Options) -> Steps:
    torch.set_num_threads(options.threads)
    names = names_of("15_circuits")
    encode, detection = names["encode"], names["detection"]

    @cache
    def vectors() -> dict[str, torch.Tensor]:
        assert options.corpus is not None
        return _vectors(options.corpus, options.checkpoints)

    @cache
    def trained(seed: int) -> features.Dictionary:
        path = options.checkpoints / f"smollm2_latents_{seed}.pt"
        if path.exists():
            return features.Dictionary(**torch.load(path))
        x = vectors()["train"]
        made = features.new_dictionary(x, WIDTH, K, seed)
        features.train(made, x, encode, names["sparse_loss"], steps=STEPS, rate=RATE, seed=seed)
        torch.save(vars(made), path)
        return made

    @cache
    def of_senses() -> tuple[features.Tokens, features.Tokens]:
        words = list(dict.fromkeys(read_table("senses/senses.csv").word))
        return latents.senses_of(load("SmolLM2-135M-Instruct"), words)

    def train(seed: int) -> dict:
        made, x = trained(seed), vectors()
        if seed == SEEDS[0]:
            about = {"seed": seed, "steps": STEPS, "tokens": len(x["train"]), "layer": latents.LAYER}
            latents.save_dictionary(made, ROOT / "data/models", about)
        row: dict[str, float] = {"width": WIDTH, "k": K, "tokens": len(x["train"])}
        active = torch.zeros(WIDTH, dtype=torch.bool)
        for name in ("novels", "course"):
            codes = features.codes_of(made, x[name], encode)
            active |= (codes > 0).any(dim=0)
            found = features.summary(made, x[name], codes)
            row |= {f"{column}, {name}": value for column, value in found.items()}
        others = [latents.nearest_cosines(made, trained(other)) for other in SEEDS if other != seed]
        return row | latents.recurrence(torch.stack(others)[:, active])

    def detect(method: str, seed: int) -> pd.DataFrame:
        train_side, test_side = of_senses()
        if method == "sparse autoencoder":
            pair = tuple(features.codes_of(trained(seed), side.x, encode) for side in (train_side, test_side))
        else:
            pair = latents.baseline(method, vectors()["train"], train_side, test_side, WIDTH, seed)
        found = features.detected(*pair, train_side, test_side, detection).drop(columns="kind")
        if method == "sparse autoencoder":
            others = [latents.nearest_cosines(trained(seed), trained(n)) for n in SEEDS if n != seed]
            found["cosine"] = torch.stack(others).mean(dim=0)[found.direction.tolist()].numpy()
        return found.reindex(columns=["name", "direction", "precision", "recall", "f1", "cosine"])

    yield Step("sparse_autoencoder_smollm2", [{"seed": seed} for seed in options.seeds], train)
    runs: list[Run] = [{"method": method, "seed": seed} for method in ("sparse autoencoder", "random directions") for seed in options.seeds]  # fmt: skip
    runs += [{"method": method, "seed": 0} for method in ("principal components", "linear probe", "always active")]  # fmt: skip
    yield Step("sparse_autoencoder_smollm2_senses", runs, detect)


EXPERIMENT = Experiment(_steps, seeds=SEEDS, novels=True)
