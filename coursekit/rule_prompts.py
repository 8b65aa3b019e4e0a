"""Decoders that learn a new rule from the examples in each prompt (in-context learning), and the heads with which they do so.

A rule assigns one of 4 labels to each of 8 symbols. A prompt has the form symbol label symbol label …; the model predicts the
label after each symbol.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from coursekit.intervals import mean_and_half
from coursekit.small import GPT, GPTConfig

SYMBOLS, LABELS, ASKED = 8, 4, 9
"""There is one question after each of 0 to 8 examples."""
OPTIMUM = [1 - (1 - 1 / LABELS) * (1 - 1 / SYMBOLS) ** k for k in range(ASKED)]
"""The best possible accuracy by number of examples: repeat the label seen with the symbol, or choose at random."""
OPTIMAL_LOSS = float(np.mean([np.log(LABELS) * (1 - 1 / SYMBOLS) ** k for k in range(ASKED)]))
"""The lowest possible expected loss in nats per question."""

EVERY_RULE = torch.cartesian_prod(*[torch.arange(LABELS)] * SYMBOLS)[
    torch.randperm(LABELS**SYMBOLS, generator=torch.Generator().manual_seed(17))
]
TRAINING_RULES, HELD_OUT_RULES = EVERY_RULE.chunk(2)


def draw_rule(seed: int) -> Int[Tensor, "1 symbols"]:
    """A random rule: the label of each symbol."""
    return torch.randint(LABELS, (1, SYMBOLS), generator=torch.Generator().manual_seed(seed))


def draw_prompts(
    n: int, generator: torch.Generator, rules: Int[Tensor, "any symbols"]
) -> tuple[Int[Tensor, "n asked"], Int[Tensor, "n asked"]]:
    """Symbols and their labels; each prompt follows one of `rules`."""
    rule = rules[torch.randint(len(rules), (n,), generator=generator)]
    symbols = torch.randint(SYMBOLS, (n, ASKED), generator=generator)
    return symbols, rule.gather(1, symbols)


def as_text(symbols: Int[Tensor, "n asked"], labels: Int[Tensor, "n asked"]) -> Int[Tensor, "n 2*asked"]:
    """The sequence symbol, label, symbol, label, …, in which labels have different ids from symbols."""
    return torch.stack([symbols, SYMBOLS + labels], dim=2).flatten(1)


def answer(
    model: GPT, symbols: Int[Tensor, "n asked"], labels: Int[Tensor, "n asked"]
) -> Float[Tensor, "n asked labels"]:
    """Logits of the label after each symbol."""
    return model(as_text(symbols, labels)).logits[:, 0::2, SYMBOLS:]


def learn_to_learn(
    decoder: Callable[[GPTConfig], GPT], layers: int = 2, seed: int = 1, steps: int = 600, rules: Int[Tensor, "any symbols"] = TRAINING_RULES,
    dim: int = 32, heads: int = 2, feed_forward: int = 64,
) -> tuple[GPT, list[float]]:  # fmt: skip
    """A decoder trained on prompts with these rules, and its losses."""
    torch.manual_seed(seed)
    model = decoder(GPTConfig(SYMBOLS + LABELS, 2 * ASKED, dim, layers, heads, feed_forward))
    for table in (model.token, model.position):
        torch.nn.init.normal_(table.weight, std=0.3)
    optimiser = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    generator, losses = torch.Generator().manual_seed(seed), []
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = 5e-3 * min(1.0, (step + 1) / 30) * (1 - step / steps)
        symbols, labels = draw_prompts(64, generator, rules)
        loss = cross_entropy(answer(model, symbols, labels).flatten(0, 1), labels.flatten())
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
    return model.eval(), losses


@torch.no_grad()
def right_by_examples(
    model: GPT, symbols: Int[Tensor, "n asked"], labels: Int[Tensor, "n asked"], shown: Int[Tensor, "n asked"] | None = None
) -> list[float]:  # fmt: skip
    """The accuracy after 0, 1, … examples; `shown` contains the labels in the prompt if they are not the true labels."""
    logits = answer(model, symbols, labels if shown is None else shown)
    return (logits.argmax(dim=-1) == labels).float().mean(dim=0).tolist()


@dataclass(frozen=True)
class InContext:
    """Two models on prompts with held-out rules: a learner trained on many rules, and a model trained on one rule.

    accuracy           by number of examples: the learner, the learner with random labels in the prompt, and the other model
    on_training_rules  the learner's accuracy on rules that it was trained on
    on_one_rule        the other model's accuracy on its own rule
    copied             how often the learner repeats a random label, of the symbols that occurred exactly once before
    """

    symbols: Int[Tensor, "n asked"]
    labels: Int[Tensor, "n asked"]
    accuracy: dict[str, list[float]]
    on_training_rules: list[float]
    on_one_rule: list[float]
    copied: float


@torch.no_grad()
def measure_in_context(learner: GPT, knower: GPT, one_rule: Int[Tensor, "1 symbols"]) -> InContext:
    """Test the learner and the model that was trained on `one_rule`, on 4,000 prompts each."""
    generator = torch.Generator().manual_seed(1)
    symbols, labels = draw_prompts(4000, generator, HELD_OUT_RULES)
    random_labels = torch.randint(LABELS, labels.shape, generator=generator)
    earlier = same_symbol_earlier(symbols)
    once = earlier.sum(dim=-1) == 1
    said = answer(learner, symbols, random_labels).argmax(dim=-1)
    repeated = said == (earlier * random_labels[:, None, :]).sum(dim=-1)
    return InContext(
        symbols,
        labels,
        accuracy={
            "trained on many rules": right_by_examples(learner, symbols, labels),
            "trained on many rules, random labels in the prompt": right_by_examples(learner, symbols, labels, random_labels),
            "trained on one rule": right_by_examples(knower, symbols, labels),
        },
        on_training_rules=right_by_examples(learner, *draw_prompts(4000, generator, TRAINING_RULES)),
        on_one_rule=right_by_examples(knower, *draw_prompts(4000, generator, one_rule)),
        copied=repeated[once].float().mean().item(),
    )  # fmt: skip


def same_symbol_earlier(symbols: Int[Tensor, "n asked"]) -> Tensor:
    """Which earlier examples (last axis) show the same symbol as each example (n, asked, asked)."""
    return (symbols[:, :, None] == symbols[:, None, :]).tril(-1)


@torch.no_grad()
def weights_of_heads(
    model: GPT, symbols: Int[Tensor, "n asked"], labels: Int[Tensor, "n asked"]
) -> Float[Tensor, "layers n H T T"]:
    """The attention weights of every head."""
    ids = as_text(symbols, labels)
    x, found = model.embed(ids), []
    keep = torch.ones(1, ids.shape[1], ids.shape[1], dtype=torch.bool).tril()  # 1 T T
    for layer in model.layers:
        normed, attention = layer.norm_attention(x), layer.attention
        queries, keys = (attention.split(project(normed)) for project in (attention.query, attention.key))
        scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
        found.append(scores.masked_fill(~keep, -torch.inf).softmax(dim=-1))
        x = layer(x, keep)
    return torch.stack(found)


def head_scores(
    weights: Float[Tensor, "layers n H T T"], symbols: Int[Tensor, "n asked"]
) -> dict[str, Float[Tensor, "layers H"]]:
    """Two mean attention weights for each layer and head.

    previous token: the weight from a label to the symbol before it. match: the weight from a
    symbol that has occurred before to the labels after its earlier occurrences.
    """
    labels = torch.arange(1, 2 * ASKED, 2)
    same = same_symbol_earlier(symbols)  # n asked asked
    to_labels = (weights[..., 0::2, 1::2] * same[:, None]).sum(dim=-1)
    asked = same.any(dim=-1)[:, None].expand(to_labels.shape[1:])
    return {
        "previous token": weights[..., labels, labels - 1].mean(dim=(1, 3)),
        "match": (to_labels * asked).sum(dim=(1, 3)) / asked.sum(dim=(0, 2)),
    }


def over_runs(recorded: pd.DataFrame, layers: int, measure: str, where: str) -> tuple[float, float]:
    """The mean of a recorded measure over the runs with so many layers, and half the width of its 95 % interval."""
    chosen = (recorded.layers == layers) & (recorded.measure == measure) & (recorded["where"] == where)
    mean, half = mean_and_half(recorded[chosen].value)
    return float(mean), float(half)


def best_head(recorded: pd.DataFrame, measure: str, layer: int) -> float:
    """In each recorded run with two layers, some head of the layer has at least this score."""
    chosen = recorded[(recorded.layers == 2) & (recorded.measure == measure)]
    in_layer = chosen[chosen["where"].str.startswith(f"layer {layer}")]
    return in_layer.groupby("seed").value.max().min()


def largest_match_of_one_layer(recorded: pd.DataFrame) -> float:
    """The largest score for matching labels of any head in the recorded runs with one layer."""
    return recorded[(recorded.layers == 1) & (recorded.measure == "match")].value.max()


def prompt_with_one_match(symbols: Int[Tensor, "n asked"]) -> int:
    """The first prompt with four repeated symbols whose last symbol has occurred exactly once before."""
    earlier = same_symbol_earlier(symbols)
    once = earlier.sum(dim=-1) == 1
    return ((earlier.any(dim=-1).sum(dim=1) == 4) & once[:, -1]).int().argmax().item()


def spoken(symbols: Sequence[int], labels: Sequence[int]) -> list[str]:
    """A prompt in letters (symbols) and digits (labels)."""
    return [
        name
        for symbol, label in zip(symbols, labels, strict=True)
        for name in ("ABCDEFGH"[symbol], "1234"[label])
    ]
