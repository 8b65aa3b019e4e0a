"""The best policies for a preference for long words, and what DPO changes, over all two-word continuations (notebook 14).

`best_policy` is the student's: (log-probabilities of the reference, rewards, beta) -> log-probabilities.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from coursekit import instructions
from coursekit.datasets import read_table
from coursekit.language import load_language
from coursekit.small import GPT

BestPolicy = Callable[[Float[Tensor, " N"], Float[Tensor, " N"], float], Float[Tensor, " N"]]
Best = tuple[str, float, float, list[tuple[str, float]]]
"""The name of a policy, its mean reward, its KL to the reference in nats, and its most probable continuations."""


def best_of(best_policy: BestPolicy, log_ref: Float[Tensor, "V V"], beta: float) -> Float[Tensor, "V V"]:
    """log π* of every two-word continuation."""
    rewards = instructions.all_rewards()
    return best_policy(log_ref.flatten(), rewards.flatten(), beta).view_as(log_ref)


def by_beta(best_policy: BestPolicy, log_ref: Float[Tensor, "V V"], betas: Sequence[float]) -> list[Best]:
    """The reference and the best policy for each beta."""
    policies = {"reference": log_ref} | {
        f"β = {beta:g}": best_of(best_policy, log_ref, beta) for beta in betas
    }
    return [
        (
            name,
            (log_p.exp() * instructions.all_rewards()).sum().item(),
            instructions.kl(log_p, log_ref),
            most_probable(log_p),
        )
        for name, log_p in policies.items()
    ]


def most_probable(log_p: Float[Tensor, "V V"], count: int = 4) -> list[tuple[str, float]]:
    """The most probable continuations, with their probabilities."""
    vocabulary, top = load_language().vocabulary, log_p.flatten().topk(count)
    texts = [
        f"{vocabulary[i // len(vocabulary)]} {vocabulary[i % len(vocabulary)]}" for i in top.indices.tolist()
    ]
    return list(zip(texts, top.values.exp().tolist(), strict=True))


def displaced(
    policy: GPT, best_policy: BestPolicy, tables: Sequence[Float[Tensor, "V V"]]
) -> dict[str, Float[np.ndarray, " pairs"]]:
    """By how much log p of the chosen answers of training differs from that of the reference, after DPO and for π* (beta 1)."""
    prompts, chosen, _ = instructions.preferred(list(tables), 2000, torch.Generator().manual_seed(0))
    changes: dict[str, list[Tensor]] = {"DPO": [], "π*": []}
    for number, (prompt, log_ref) in enumerate(zip(instructions.prompt_ids(), tables, strict=True)):
        here = tuple(chosen[prompts == number].T)
        changes["DPO"].append((instructions.two_words(policy, prompt) - log_ref)[here])
        changes["π*"].append((best_of(best_policy, log_ref, 1.0) - log_ref)[here])
    return {name: torch.cat(parts).numpy() for name, parts in changes.items()}


def recorded_preferences(lr: float = 3e-4) -> pd.DataFrame:
    """The recorded runs of DPO at one learning rate (`python -m experiments assistant_preferences`)."""
    table = read_table("results/assistant_preferences.csv")
    return table[table["lr"] == lr]
