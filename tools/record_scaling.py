"""Record data/results/scaling.csv and scaling_rates.csv: notebook 13, how loss falls with parameters and with tokens.

    python tools/record_scaling.py        # some seven minutes of processor for all 60 runs; what is there is kept

Small GPTs of two layers read the part of the generated language that is about prisons, biology and phones. No sentence is
repeated on purpose. Each run has a learning rate that rises and falls within its own steps. Its height is chosen for each
size: the best of several, for one seed that the table does not have, after 320 steps.

A row is written when its run is done; a run that was killed goes on from its checkpoint, at most a minute old.
"""

import argparse
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from coursekit.language import PAD, Language
from coursekit.language.grammar import GRAMMAR
from coursekit.pretrain import checkpoint, in_hours, load_trained, read_progress, train
from coursekit.small.gpt import GPT, GPTConfig
from coursekit.small.recipes import Recipe, sentences

RESULTS = Path(__file__).parents[1] / "data/results"
TOPICS = "prison", "biology", "phone"
DIMS = (8, 16, 32, 64)
STEPS = (40, 160, 320, 640, 1600)
RATES, RATE_STEPS, RATE_SEED = (3e-3, 1e-2, 3e-2, 1e-1), 320, 100
BATCH = 32
TEST, TEST_SEED = 4_000, 7_013
"""Sentences of the training side that no run has drawn, or only by chance: the loss is that of fresh data."""
KEYS = ["dim", "steps", "seed"]


@cache
def language() -> Language:
    return Language.from_grammar(GRAMMAR.only(*TOPICS))


def gpt(dim: int) -> GPT:
    words = language()
    return GPT(GPTConfig(len(words.vocabulary), words.max_length, dim, heads=2, feed_forward=4 * dim))


def losses(model: GPT, words: Language, batch: int, seed: int) -> Iterator[Tensor]:
    """The mean nats of one fresh batch after another. Logits are made for real words alone: they take most of the time."""
    for ids in sentences(words, batch, seed):
        yield per_token(model, ids).mean()


def per_token(model: GPT, ids: Tensor) -> Tensor:
    """-log p of each real next token of a batch, in reading order."""
    real = ids[:, 1:] != PAD  # B T-1
    top = model.encode(model.embed(ids))[-1][:, :-1]  # B T-1 D
    return nn.functional.cross_entropy(top[real] @ model.token.weight.T, ids[:, 1:][real], reduction="none")


def recipe(dim: int, steps: int, rate: float) -> Recipe:
    return Recipe(lambda _: gpt(dim), losses, steps, BATCH, rate, weight_decay=0.0)


@cache
def test() -> tuple[Tensor, float]:
    """Sentences that every model reads, and their exact bound in nats per token."""
    sample = language().sample(TEST, np.random.default_rng(TEST_SEED), "train")
    bound = language().log_loss_next(sample.ids).sum() / (sample.lengths - 1).sum()
    return torch.from_numpy(sample.ids), float(bound)


def run(dim: int, steps: int, seed: int, rate: float, folder: Path) -> dict[str, float]:
    """Train one model, or go on with it; what the table says of it."""
    name, made = f"{dim}_{steps}_{rate:g}", recipe(dim, steps, rate)
    folder.mkdir(parents=True, exist_ok=True)
    for _ in train(name, seed, made, language(), folder, minutes=1.0):
        pass
    model = load_trained(name, seed, made, language(), folder)
    seconds = read_progress(folder, name, seed, steps).seconds
    ids, bound = test()
    with torch.no_grad():
        loss = torch.cat([per_token(model, rows) for rows in ids.split(250)]).mean().item()
    checkpoint(folder, name, seed).unlink()
    per_step = (ids[:, 1:] != PAD).sum().item() / TEST * BATCH  # tokens that are predicted, on average
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "tokens": round(steps * per_step), "rate": rate, "loss": round(loss, 5), "bound": round(bound, 5),
        "CPU seconds": round(seconds, 1),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dims", type=int, nargs="+", default=list(DIMS))
    parser.add_argument("--steps", type=int, nargs="+", default=list(STEPS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--rates", type=float, nargs="+", default=list(RATES))
    parser.add_argument("--rate-steps", type=int, default=RATE_STEPS)
    parser.add_argument("--table", type=Path, default=RESULTS / "scaling.csv")
    parser.add_argument("--rates-table", type=Path, default=RESULTS / "scaling_rates.csv")
    parser.add_argument("--to", type=Path, default=Path("build/scaling"), help="folder of checkpoints")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    tried = [
        (dim, arguments.rate_steps, RATE_SEED, rate) for dim in arguments.dims for rate in arguments.rates
    ]
    record(arguments.rates_table, tried, arguments.to, [*KEYS, "rate"])
    best = best_rates(pd.read_csv(arguments.rates_table))
    grid = [
        (dim, steps, seed, best[dim])
        for seed in arguments.seeds for steps in arguments.steps for dim in arguments.dims
    ]  # fmt: skip
    record(arguments.table, grid, arguments.to, KEYS)


def best_rates(table: pd.DataFrame) -> dict[int, float]:
    """The rate of each size with the lowest loss."""
    lowest = table.loc[table.groupby("dim")["loss"].idxmin()]
    return dict(zip(lowest["dim"].tolist(), lowest["rate"].tolist(), strict=True))


def record(path: Path, runs: list[tuple[int, int, int, float]], folder: Path, keys: list[str]) -> None:
    """Every run that the table lacks, in this order; a line after each."""
    todo = [run for run in runs if not holds(path, keys, run)]
    whole, done, start = sum(cost(run) for run in todo), 0.0, time.monotonic()
    for dim, steps, seed, rate in todo:
        row = {"dim": dim, "steps": steps, "seed": seed} | run(dim, steps, seed, rate, folder)
        before = [pd.read_csv(path)] if path.exists() else []
        pd.concat([*before, pd.DataFrame([row])]).sort_values(keys).to_csv(path, index=False)
        done += cost((dim, steps, seed, rate))
        left = in_hours((time.monotonic() - start) / done * (whole - done))
        above = row["loss"] - row["bound"]
        print(f"{path.stem}: dim {dim}, {steps:,} steps, seed {seed}, rate {rate:g}: {above:.3f} above; left: {left}", flush=True)  # fmt: skip


def cost(run: tuple[int, int, int, float]) -> float:
    """Roughly how long a run takes, in steps of the smallest model."""
    dim, steps, *_ = run
    return steps * (1 + dim / 80)


def holds(path: Path, keys: list[str], run: tuple) -> bool:
    """Whether a table has a run."""
    if not path.exists():
        return False
    table = pd.read_csv(path)
    return bool((table[keys] == list(run[: len(keys)])).all(axis=1).any())


if __name__ == "__main__":
    main()
