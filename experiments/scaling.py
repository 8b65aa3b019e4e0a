"""How does the loss of a GPT fall with its parameters and with the tokens it is trained on?

GPTs of two layers and four sizes read, for five lengths of training, the part of the generated language that is about
prisons, biology and phones (notebook 13, *Further: how loss falls with parameters and tokens*): nats per token on 4,000
fresh sentences and the exact bound on them. The learning rate rises and falls within each run; its height is the best of
four for each size, tried with another seed and 320 steps. Runs continue from a checkpoint that is at most a minute old.
Writes `data/results/scaling_rates.csv`, then `data/results/scaling.csv` (under ten minutes).
"""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from coursekit.language import PAD, Language
from coursekit.language.grammar import GRAMMAR
from coursekit.pretrain import checkpoint, load_trained, read_progress, train
from coursekit.small.gpt import GPT, GPTConfig
from coursekit.small.recipes import Recipe, sentences
from experiments.harness import Experiment, Options, Step, Steps, grid

TOPICS = "prison", "biology", "phone"
DIMS = (8, 16, 32, 64)
STEPS = (40, 160, 320, 640, 1600)
RATES, RATE_STEPS, RATE_SEED = (3e-3, 1e-2, 3e-2, 1e-1), 320, 100
BATCH = 32
TEST, TEST_SEED = 4_000, 7_013
"""Sentences of the training split that no run has drawn, except by chance: the loss is that of fresh data."""


@cache
def language() -> Language:
    """The part of the generated language about these topics."""
    return Language.from_grammar(GRAMMAR.only(*TOPICS))


def gpt(dim: int) -> GPT:
    """A GPT of one size before training."""
    words = language()
    return GPT(GPTConfig(len(words.vocabulary), words.max_length, dim, heads=2, feed_forward=4 * dim))


def losses(model: GPT, words: Language, batch: int, seed: int) -> Iterator[Tensor]:
    """The mean nats of one fresh batch after another. Logits are made only for real words: they take most of the time."""
    for ids in sentences(words, batch, seed):
        yield per_token(model, ids).mean()


def per_token(model: GPT, ids: Tensor) -> Tensor:
    """-log p of each real next token of a batch, in the order of the text."""
    real = ids[:, 1:] != PAD  # B T-1
    top = model.encode(model.embed(ids))[-1][:, :-1]  # B T-1 D
    return nn.functional.cross_entropy(top[real] @ model.token.weight.T, ids[:, 1:][real], reduction="none")


def recipe(dim: int, steps: int, rate: float) -> Recipe:
    """How a GPT of one size is trained."""
    return Recipe(lambda _: gpt(dim), losses, steps, BATCH, rate, weight_decay=0.0)


@cache
def test() -> tuple[Tensor, float]:
    """Sentences that every model reads, and their exact bound in nats per token."""
    sample = language().sample(TEST, np.random.default_rng(TEST_SEED), "train")
    bound = language().log_loss_next(sample.ids).sum() / (sample.lengths - 1).sum()
    return torch.from_numpy(sample.ids), float(bound)


def trained(dim: int, steps: int, seed: int, rate: float, folder: Path) -> dict[str, float]:
    """Train one model, or continue from its checkpoint; what the table says about it."""
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
        "dim": dim, "steps": steps, "seed": seed, "parameters": sum(weight.numel() for weight in model.parameters()),
        "tokens": round(steps * per_step), "rate": rate, "loss": loss, "bound": bound, "CPU seconds": round(seconds, 1),
    }  # fmt: skip


def best_rates(table: pd.DataFrame) -> dict[int, float]:
    """The rate of each size with the lowest loss."""
    lowest = table.loc[table.groupby("dim")["loss"].idxmin()]
    return dict(zip(lowest["dim"].tolist(), lowest["rate"].tolist(), strict=True))


def steps(
    options: Options,
    dims: Sequence[int] = DIMS,
    lengths: Sequence[int] = STEPS,
    rates: Sequence[float] = RATES,
    rate_steps: int = RATE_STEPS,
) -> Steps:
    """First the learning rates, then every size with every length of training."""
    folder = options.checkpoints / "scaling"

    def try_rate(dim: int, steps: int, seed: int, rate: float) -> dict:
        return trained(dim, steps, seed, rate, folder)

    yield Step(
        "scaling_rates", grid(dim=dims, steps=[rate_steps], seed=[RATE_SEED], rate=rates), try_rate, digits=5
    )
    best = best_rates(options.read("scaling_rates"))

    def measure(dim: int, steps: int, seed: int) -> dict:
        return trained(dim, steps, seed, best[dim], folder)

    yield Step("scaling", grid(dim=dims, steps=lengths, seed=options.seeds), measure, digits=5)


EXPERIMENT = Experiment(steps, seeds=range(3))
