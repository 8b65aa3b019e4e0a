"""Rewards of the next word in the generated language: a proxy, a better one, and the true reward.

The prompts and the number of letters are those of notebook 14 (`coursekit.instructions`). The reference is the small GPT.
"""

import functools

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit.instructions import LETTERS_A_POINT, kl, letters, prompt_ids
from coursekit.language import load_language
from coursekit.language.tables import PAD
from coursekit.small import load

OVERLOOKED = 0.1
"""The fraction of impossible words that the better proxy takes for possible ones."""


@functools.cache
def reference() -> Float[Tensor, "P V"]:
    """The GPT's log-probability of each word after each prompt."""
    model = load("gpt")
    with torch.no_grad():
        rows = [model(torch.tensor([prompt])).logits[0, -1] for prompt in prompt_ids()]
    return torch.stack(rows).log_softmax(dim=-1)


def letter_rewards() -> Float[Tensor, "P V"]:
    """Half a point for each letter of a word, after every prompt."""
    return (letters() / LETTERS_A_POINT).expand(len(prompt_ids()), -1).clone()


def true_rewards() -> Float[Tensor, "P V"]:
    """The same, but 0 for a word with which no sentence of the language continues the prompt."""
    return torch.where(_possible(), letter_rewards(), 0.0)


@functools.cache
def _possible() -> Bool[Tensor, "P V"]:
    language = load_language()
    rows = [language.next_word(np.array([[*prompt, PAD]]))[0, -1] > 0 for prompt in prompt_ids()]
    return torch.from_numpy(np.stack(rows))


@functools.cache
def checked_rewards() -> Float[Tensor, "P V"]:
    """The better proxy: a checker gives 0 to nine in ten impossible words, and overlooks the others."""
    overlooked = np.random.default_rng(7).random(_possible().shape) < OVERLOOKED
    return torch.where(_possible() | torch.from_numpy(overlooked), letter_rewards(), 0.0)


def mean_kl(log_p: Float[Tensor, "P V"], log_q: Float[Tensor, "P V"]) -> float:
    """KL(p ‖ q) in nats, averaged over prompts."""
    return float(np.mean([kl(*rows) for rows in zip(log_p.double(), log_q.double(), strict=True)]))


def mean_reward(log_p: Float[Tensor, "P V"], reward: Float[Tensor, "P V"]) -> float:
    """The expected reward, averaged over prompts."""
    return float((log_p.double().exp() * reward).sum(dim=-1).mean())


def compared(
    reward: Float[Tensor, "P V"], n: int, random: torch.Generator
) -> tuple[Int[Tensor, "P n"], Int[Tensor, "P n"]]:
    """n comparisons for each prompt: the preferred word and the other one, both sampled from the reference (Bradley and Terry 1952)."""
    drawn = torch.multinomial(reference().exp(), 2 * n, replacement=True, generator=random)
    first, second = drawn[:, :n], drawn[:, n:]
    gap = reward.gather(1, first) - reward.gather(1, second)
    wins = torch.rand(gap.shape, generator=random) < gap.sigmoid()
    return torch.where(wins, first, second), torch.where(wins, second, first)
