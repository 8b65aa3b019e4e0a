"""The GPT of the project: its sizes, how many steps fit into some minutes, and what a training function has achieved."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from coursekit.small.gpt import GPT, GPTConfig, GPTOutput

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
    seen = Seen()
    watching = (
        model.register_forward_hook(seen.call, with_kwargs=True),
        next(model.parameters()).register_hook(seen.gradients.append),
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(case["seed"])
        losses = train(model, case["ids"].clone(), case["steps"])
    for one in watching:
        one.remove()
    if all(torch.equal(weights[name], weight) for name, weight in model.state_dict().items()):
        code = 2
    elif _added_up(next(model.parameters()).grad, seen.gradients):
        code = 13
    elif np.mean(seen.scored or [1.0]) < 0.5:
        code = 14
    elif not _from_everywhere(case["ids"], seen.batches):
        code = 7
    else:
        code = _code(model.eval(), case, losses, seen.losses, before)
    return {"training": torch.tensor([code or FINE_FROM + len(case["held_out"])])}


@dataclass
class Seen:
    """What is seen of a training function from inside the model: one entry of each list for each step."""

    batches: list[Tensor] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)  # of the next tokens within the batch, in nats
    scored: list[float] = field(default_factory=list)  # fraction of positions whose logits have a gradient
    gradients: list[Tensor] = field(default_factory=list)  # of the first parameter

    def call(self, _: GPT, inputs: tuple, named: Mapping[str, Tensor], output: GPTOutput) -> None:
        """A forward hook."""
        ids, logits = (*inputs, *named.values())[0].clone(), output.logits
        self.batches.append(ids)
        self.losses.append(cross_entropy(logits.detach()[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).item())
        if logits.requires_grad:
            logits.register_hook(lambda each: self.scored.append(each.any(dim=-1).float().mean().item()))


def _added_up(left: Tensor | None, gradients: list[Tensor]) -> bool:
    """Whether what is left as a gradient points elsewhere than that of the last step, so that earlier ones are part of it."""
    if left is None or not gradients or not left.any():
        return False
    return torch.cosine_similarity(left.flatten(), gradients[-1].flatten(), dim=0).item() < 0.9


def _from_everywhere(ids: Int[Tensor, " N"], batches: list[Tensor]) -> bool:
    """Whether windows come from the first and the last fifth of a text, and are not the same ones at each step.

    A window that occurs several times in the text may come from any of these places.
    """
    width = batches[0].shape[1]
    rows = torch.cat([batch for batch in batches if batch.shape[1] == width])
    digits = torch.randint(2**40, (width,), generator=torch.Generator().manual_seed(0))
    of_text, of_rows = (ids.unfold(0, width, 1) * digits).sum(dim=1), (rows * digits).sum(dim=1)
    places = of_rows[:, None] == of_text  # R N
    places = places[places.any(dim=1)].byte()
    if len(places) < len(rows) / 2:
        return True  # the windows are not pieces of the text, which the losses show
    earliest, latest = places.argmax(dim=1), len(of_text) - 1 - places.flip(1).argmax(dim=1)
    spread = earliest.max() > 0.8 * len(of_text) and latest.min() < 0.2 * len(of_text)
    return bool(spread) and len(of_rows.unique()) > min(2 * len(batches[0]), 600)


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
def _code(model: GPT, case: Mapping, losses: Tensor, seen: list[float], before: Mapping[int, float]) -> int:
    """0 if the model is below the baseline and everything else is as asked; otherwise a code of `codes.BELOW_UNIGRAM`."""
    ids, held_out = case["ids"], case["held_out"]
    loss = -log_probabilities(model, held_out).mean().item()
    counts = torch.bincount(ids, minlength=case["V"]) + 1.0
    unigram = -(counts / counts.sum()).log()[held_out].mean().item()
    by_offset = _by_offset(model, held_out)
    best = min(by_offset, key=by_offset.get)
    if best != 1 and by_offset[best] < min(unigram, before[best] - 0.5, 1.0):
        return {0: 4, -1: 5, 2: 6}[best]
    if loss > np.log(case["V"]) + 0.3:
        return 3
    if loss >= unigram:
        return 11
    if len(seen) != case["steps"]:
        return 8 if len(seen) > case["steps"] else 12
    if not isinstance(losses, Tensor) or losses.shape != (case["steps"],):
        return 9
    late, expected = (torch.as_tensor(each)[-10:].float().mean().item() for each in (losses, seen))
    return 10 if abs(late - expected) > 0.25 * expected else 0
