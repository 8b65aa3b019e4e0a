"""An encoder whose lower layers are frozen: their output is computed once, and a small model is trained on it (notebook 10)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import BertModel

HALF = 3
"""Half of MiniLM's six layers."""


@torch.no_grad()
def read_by(encoder: BertModel, rows: Mapping[str, Tensor], layers: int) -> Float[Tensor, "N T D"]:
    """The output of the first `layers` layers, computed only once because they are frozen."""
    parts = []
    for start in range(0, len(rows["input_ids"]), 32):
        some = {name: rows[name][start : start + 32] for name in ("input_ids", "token_type_ids")}
        hidden = encoder.embeddings(**some)
        for layer in encoder.encoder.layer[:layers]:
            hidden = layer(hidden, hide(rows["attention_mask"][start : start + 32].bool()))
        parts.append(hidden)
    return torch.cat(parts)


def hide(keep: Bool[Tensor, "B T"]) -> Float[Tensor, "B 1 1 T"]:
    """The mask that is added to the attention scores, so that no token attends to padding."""
    lowest = torch.finfo(torch.float32).min
    return torch.zeros(keep.shape).masked_fill(~keep, lowest)[:, None, None]


@dataclass
class Rows:
    """The frozen layers' output, a mask of the tokens, the labels, and additional inputs that a task needs (`more`)."""

    H: Float[Tensor, "N T D"]
    keep: Bool[Tensor, "N T"]
    labels: Tensor
    more: Tensor | None = None

    def __getitem__(self, some: Int[Tensor, " B"]) -> "Rows":
        T = int(self.keep[some].sum(dim=1).max())  # as long as the longest sequence
        labels = self.labels[some] if self.labels.ndim == 1 else self.labels[some, :T]
        more = None if self.more is None else self.more[some, :T]
        return Rows(self.H[some, :T], self.keep[some, :T], labels, more)


def part(table: pd.DataFrame, split: str) -> Int[Tensor, " rows"]:
    """The row numbers of a split."""
    return torch.from_numpy(np.flatnonzero(table["split"] == split))


def linear_probe(
    x: Float[Tensor, "n D"], y: Int[Tensor, " n"], train: int = 320, decay: float = 1e-3
) -> Float[Tensor, " tested"]:
    """Train a linear layer on the first vectors; which of its predictions for the others are correct (1 or 0)."""
    x = x - x[:train].mean(dim=0)
    layer = torch.nn.Linear(x.shape[1], 2)
    optimiser = torch.optim.LBFGS(layer.parameters(), max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimiser.zero_grad()
        loss = cross_entropy(layer(x[:train]), y[:train]) + decay * layer.weight.square().sum()
        loss.backward()
        return loss

    optimiser.step(closure)
    return (layer(x[train:]).argmax(dim=1) == y[train:]).float()
