"""The GPT of the project: its sizes, how many steps fit into some minutes, and what a training function has achieved."""

import time
from collections.abc import Callable, Mapping

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from coursekit.small.gpt import GPT, GPTConfig

WINDOW = 64
"""Tokens that the GPT of the project reads at a time."""

Train = Callable[[GPT, Tensor, int], Tensor]
"""train(model, ids, steps): changes the model and returns the loss of each step."""

FINE_FROM = 100


def new_gpt(vocabulary: int, dim: int = 96, layers: int = 3, window: int = WINDOW, seed: int = 0) -> GPT:
    """An untrained GPT from the course's own code."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return GPT(GPTConfig(vocabulary, window, dim=dim, layers=layers, heads=4, feed_forward=4 * dim))


def steps_in(minutes: float, train: Train, ids: Int[Tensor, " N"], vocabulary: int) -> int:
    """How many steps take so many minutes of one core here, from the time of five steps with a copy of the model."""
    model = new_gpt(vocabulary)
    train(model, ids, 1)
    began = time.process_time()
    train(model, ids, 5)
    return max(20, int(60 * minutes / ((time.process_time() - began) / 5)))


@torch.no_grad()
def log_probabilities(model: GPT, ids: Int[Tensor, " N"]) -> Float[Tensor, " N-1"]:
    """log p of each token but the first, in chunks of the model's window, whose first token is the last of the one before."""
    window = model.config.tokens
    found = []
    for start in range(0, len(ids) - 1, window):
        chunk = ids[start : start + window + 1]
        logits = model(chunk[None, :-1]).logits[0]
        found.append(logits.log_softmax(dim=-1).gather(1, chunk[1:, None])[:, 0])
    return torch.cat(found)


def trained(train: Train, case: Mapping[str, Tensor | int]) -> dict[str, Tensor]:
    """What a training function achieves with a small GPT, as a code of `codes.BELOW_UNIGRAM` or the number of tokens scored.

    The case contains "ids" and "held_out" (ids of a made-up language with V tokens), "V", "window", "steps" and "seed".
    """
    model = new_gpt(case["V"], dim=16, layers=1, window=case["window"], seed=case["seed"])
    before = _by_offset(model, case["held_out"])
    weights = {name: weight.clone() for name, weight in model.state_dict().items()}
    calls: list[float] = []
    watching = model.register_forward_hook(lambda *_: calls.append(0.0))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(case["seed"])
        losses = train(model, case["ids"].clone(), case["steps"])
    watching.remove()
    unchanged = all(torch.equal(weights[name], weight) for name, weight in model.state_dict().items())
    code = 2 if unchanged else _code(model.eval(), case, losses, len(calls), before)
    return {"training": torch.tensor([code or FINE_FROM + len(case["held_out"])])}


@torch.no_grad()
def _by_offset(model: GPT, ids: Int[Tensor, " N"]) -> dict[int, float]:
    """The mean loss in nats if the target at position t were the token at t + offset, for four offsets."""
    T = model.config.tokens
    rows = ids[: len(ids) // T * T].view(-1, T)
    log_p = model(rows).logits.log_softmax(dim=-1)[:, 1 : T - 2]  # B T-3 V
    return {
        offset: -log_p.gather(2, rows[:, 1 + offset : T - 2 + offset, None]).mean().item()
        for offset in (-1, 0, 1, 2)
    }


@torch.no_grad()
def _code(model: GPT, case: Mapping, losses: Tensor, calls: int, before: Mapping[int, float]) -> int:
    """0 if the model is below the baseline and everything else is as asked; otherwise a code of `codes.BELOW_UNIGRAM`."""
    ids, held_out, T = case["ids"], case["held_out"], case["window"]
    loss = -log_probabilities(model, held_out).mean().item()
    counts = torch.bincount(ids, minlength=case["V"]) + 1.0
    unigram = -(counts / counts.sum()).log()[held_out].mean().item()
    by_offset = _by_offset(model, held_out)
    best = min(by_offset, key=by_offset.get)
    if best != 1 and by_offset[best] < min(unigram, before[best] - 0.5, 1.0):
        return {0: 4, -1: 5, 2: 6}[best]
    known, rest = ids[: 4 * T], ids[len(ids) // 2 :]
    known_loss = -log_probabilities(model, known).mean().item()
    if loss > unigram / 2 and known_loss < min(1.0, -log_probabilities(model, rest).mean().item() - 0.4):
        return 7
    if loss > np.log(case["V"]) + 0.3:
        return 3
    if loss >= unigram:
        return 11
    if calls != case["steps"]:
        return 8 if calls > case["steps"] else 12
    if not isinstance(losses, Tensor) or losses.shape != (case["steps"],):
        return 9
    late = losses[-max(3, case["steps"] // 10) :].float().mean().item()
    return 10 if abs(late - loss) > 0.5 * (unigram - loss) else 0
