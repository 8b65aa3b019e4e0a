"""The GPT of the project: its sizes, how many steps fit into some minutes, and what is seen of a training function."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from coursekit.small.gpt import GPT, GPTConfig, GPTOutput

WINDOW = 64
"""Tokens that the GPT of the project reads at a time."""

Train = Callable[[GPT, Tensor, int], Tensor]
"""train(model, ids, steps): changes the model and returns the loss of each step."""

DIM = 16
"""Of the GPT with which a training function is tried."""
LATE = 10
"""Of the last calls, the weights are kept."""
MOST_TOKENS = 1_000_000
"""That the model reads in a check. Sixteen windows in each step are 40,000."""
MOST_ROWS = 32
"""Windows whose gradients at the logits are kept."""


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
    """What a training function does with a small GPT, as plain tensors: what `measuring` judges, where no student's code runs.

    The case contains "ids" of a made-up language with V tokens, "V", "window", "steps" and "seed". Of the model with P
    parameters and windows of T tokens, the result has:

    weights    (P) after the training
    late       (at most LATE, P) before each of the last calls
    sizes      (calls, 2): how many windows the model reads in each call, and how many tokens of each
    read       the tokens of all calls, one after the other; empty from MOST_TOKENS on
    losses     what the function returns; empty if that is no tensor
    scored     (T): at each position, the share of windows in which the loss has a gradient at the logits
    logits     (at most MOST_ROWS, tokens, V): the gradient at the logits of the last step
    gradient   (V, D): that of the last step at the token embeddings
    left       (V, D): what is left of their gradients after the training; empty if nothing is
    """
    model = new_gpt(case["V"], dim=DIM, layers=1, window=case["window"], seed=case["seed"])
    seen = Seen(case["window"])
    first = next(model.parameters())
    watching = (
        model.register_forward_hook(seen.call, with_kwargs=True),
        first.register_hook(lambda gradient: setattr(seen, "gradient", gradient.clone())),
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(case["seed"])
        losses = train(model, case["ids"].clone(), case["steps"])
    for one in watching:
        one.remove()
    nothing = torch.zeros(0)
    return {
        "weights": _flat(model),
        "late": torch.stack([*seen.late]) if seen.late else nothing,
        "sizes": torch.tensor(seen.sizes, dtype=torch.long).view(-1, 2),
        "read": torch.cat(seen.read).short() if seen.read and seen.tokens <= MOST_TOKENS else nothing.short(),
        "losses": losses.detach().clone()
        if isinstance(losses, Tensor) and losses.numel() <= MOST_TOKENS
        else nothing,
        "scored": seen.with_gradient / max(1, seen.backward),
        "logits": seen.logits,
        "gradient": seen.gradient,
        "left": nothing if first.grad is None else first.grad.clone(),
    }


@dataclass
class Seen:
    """What is seen of a training function from inside a model with windows of so many tokens."""

    window: int
    sizes: list[tuple[int, ...]] = field(default_factory=list)
    read: list[Tensor] = field(default_factory=list)
    late: deque[Tensor] = field(default_factory=lambda: deque(maxlen=LATE))
    tokens: int = 0
    backward: int = 0  # calls through whose logits a gradient has come back
    logits: Tensor = field(default_factory=lambda: torch.zeros(0))
    gradient: Tensor = field(default_factory=lambda: torch.zeros(0))
    with_gradient: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.with_gradient = torch.zeros(self.window)

    def call(self, model: GPT, inputs: tuple, named: Mapping[str, Tensor], output: GPTOutput) -> None:
        """A forward hook."""
        ids = (*inputs, *named.values())[0]
        self.sizes.append(tuple(ids.shape))
        self.tokens += ids.numel()
        if self.tokens <= MOST_TOKENS:
            self.read.append(ids.flatten().clone())
        self.late.append(_flat(model))
        if output.logits.requires_grad:
            output.logits.register_hook(self.back)

    def back(self, gradient: Tensor) -> None:
        """A hook of the logits."""
        self.backward += 1
        self.with_gradient[: gradient.shape[1]] += gradient.any(dim=-1).float().mean(dim=0)
        self.logits = gradient[:MOST_ROWS].clone()


def _flat(model: GPT) -> Float[Tensor, " P"]:
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()
