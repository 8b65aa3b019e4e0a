"""The short training run of notebook 05."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from coursekit.language import Language

Losses = Callable[[Int[Tensor, "B T"]], tuple[Float[Tensor, ""], Float[Tensor, ""]]]


def train(
    model: torch.nn.Module, losses: Losses, language: Language, steps: int, batch: int = 32
) -> Float[np.ndarray, "step direction"]:
    """Minimise the sum of two losses, forward and backward, and return both at each step, in nats.

    Every batch consists of new sentences of the language. The learning rate decays to 0.
    """
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)
    slower = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.01, total_steps=steps, pct_start=0.03)
    rng, found = np.random.default_rng(0), []
    for _ in range(steps):
        ids = torch.from_numpy(language.sample(batch, rng, "train").ids)
        following, preceding = losses(ids)
        optimiser.zero_grad()
        (following + preceding).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimiser.step()
        slower.step()
        found.append((following.item(), preceding.item()))
    return np.array(found)
