"""What notebook 14 measures of packed conversations and of tuning, and the recorded runs of tuning (`python -m experiments assistant_tuning`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor, nn

from coursekit import instructions
from coursekit.datasets import read_table
from coursekit.instructions import Questions
from coursekit.small import GPT

COMPARED = 200
"""Questions on which the logits of two models are compared."""


@torch.no_grad()
def packed_logits(model: GPT, rows: Mapping[str, Tensor], apart: bool) -> Float[Tensor, "rows T V"]:
    """The GPT's logits for packed rows. If `apart`, attention stays within each conversation, and positions restart in each conversation."""
    T = rows["ids"].shape[1]
    keep = torch.ones(T, T, dtype=torch.bool).tril()[None]
    if apart:
        keep = keep & (rows["segments"][:, :, None] == rows["segments"][:, None])
    positions = rows["positions"] if apart else torch.arange(T)
    x = model.token(rows["ids"]) + model.position.weight[positions]
    for layer in model.layers:
        x = layer(x, keep)
    return model.norm(x) @ model.token.weight.T


@torch.no_grad()
def packing_error(
    model: GPT, conversations: Sequence[tuple[list[int], list[int]]], rows: Mapping[str, Tensor]
) -> dict[str, float]:
    """By how much the logits of the first packed row differ from those of its separate conversations (ids, labels); printed, and returned."""
    alone = torch.cat([model(torch.tensor([ids])).logits[0] for ids, _ in conversations])
    errors = {
        name: (packed_logits(model, rows, apart)[0, : len(alone)] - alone).abs().max().item()
        for name, apart in (("packed, with boundaries", True), ("packed, without boundaries", False))
    }
    for name, error in errors.items():
        print(f"{name}: logits differ from those of the separate conversations by up to {error:.0e}")
    return errors


@torch.no_grad()
def logits_apart(model: nn.Module, other: nn.Module, questions: Questions) -> float:
    """The largest difference between the logits of two models on some questions."""
    asked = questions.asked[:COMPARED]
    return (model(asked).logits - other(asked).logits).abs().max().item()


def start_alike(theirs: nn.Module, ours: nn.Module) -> None:
    """Give our low-rank updates the initial weights of a model of the library PEFT."""
    with torch.no_grad():
        for path, weight in theirs.named_parameters():
            if "lora_" in path:
                layer = ours.get_submodule(path.removeprefix("base_model.model.").partition(".lora_")[0])
                weight.copy_(layer.A if "lora_A" in path else layer.B)


def add_lora(
    model: nn.Module, layer: Callable[[nn.Linear, int, float], nn.Module], rank: int = 8, alpha: float = 16.0
) -> list[nn.Parameter]:
    """Wrap the query and value projections of all layers of SmolLM2; return the trainable parameters.

    A projection that is already wrapped is wrapped anew, so that a second call starts again from the original model.
    """
    model.requires_grad_(False)
    for block in model.model.layers:
        for name in ("q_proj", "v_proj"):
            projection = getattr(block.self_attn, name)
            setattr(block.self_attn, name, layer(getattr(projection, "base", projection), rank, alpha))
    return [weight for weight in model.parameters() if weight.requires_grad]


def five_steps(
    model: nn.Module,
    loss_of: Callable[[nn.Module, Questions], Tensor],
    questions: Questions,
    lr: float = 3e-3,
) -> list[float]:
    """The losses of five training steps on the first questions."""
    optimiser = torch.optim.AdamW(trained(model), lr=lr)
    losses = []
    for step in range(5):
        loss = loss_of(model, questions[32 * step : 32 * step + 32])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def trained(model: nn.Module) -> list[nn.Parameter]:
    """The trainable parameters of a model."""
    return [weight for weight in model.parameters() if weight.requires_grad]


def count(weights: Sequence[Tensor]) -> int:
    """The number of entries of all weights."""
    return sum(weight.numel() for weight in weights)


@dataclass(frozen=True)
class TuningRuns:
    """Recorded runs of every way of tuning; `forgotten` is the loss gained on plain sentences, in nats per word."""

    table: pd.DataFrame

    @cached_property
    def rate(self) -> dict[str, float]:
        """For each method, the lowest learning rate whose validation accuracy is within one point of the best (one seed)."""
        swept = self.table[self.table["seed"] == 0]
        return {
            method: runs.loc[runs["validation"] >= runs["validation"].max() - 0.01, "lr"].min()
            for method, runs in swept.groupby("method", sort=False)
        }

    def over_seeds(self, method: str, lr: float) -> pd.DataFrame:
        """The runs of a method at a learning rate, by seed."""
        runs = self.table[(self.table["method"] == method) & (self.table["lr"] == lr)]
        return runs.sort_values("seed")

    @property
    def at_rate(self) -> dict[str, pd.DataFrame]:
        """The runs of each method at its chosen learning rate."""
        return {method: self.over_seeds(method, lr) for method, lr in self.rate.items()}

    @property
    def lower(self) -> pd.DataFrame:
        """The runs of full tuning at the learning rate below the chosen one."""
        return self.over_seeds("full", 1e-3)


def recorded_tuning(base_paid: float) -> TuningRuns:
    """The recorded runs; `base_paid` is the base model's loss above the bound."""
    table = read_table("results/assistant_tuning.csv")
    return TuningRuns(table.assign(forgotten=table["above_bound"] - base_paid))


def recorded_leaks() -> pd.DataFrame:
    """The recorded runs of training on questions of a test (`python -m experiments assistant_contamination`)."""
    return read_table("results/assistant_contamination.csv")


def most_frequent(questions: Questions) -> float:
    """The accuracy of always answering with the most frequent topic."""
    return (torch.bincount(questions.topic).max() / len(questions)).item()


@dataclass(frozen=True)
class Tuned:
    """What a tuned model has gained, what it has lost, and how exactly its updates were merged."""

    right: float
    paid: float
    """Nats per word above the bound on plain sentences."""
    merged_error: float


def measure_tuned(model: GPT, merged: GPT, questions: Questions) -> Tuned:
    """Accuracy on the questions, loss on plain sentences, and the difference from the merged model."""
    return Tuned(
        float(instructions.right(model, questions).mean()),
        instructions.above_bound(model),
        logits_apart(merged, model, questions),
    )
