"""What the checks of notebook 09 run: a miniature of an encoder, and short runs of the student's functions on it or on a few numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

Case = dict[str, Any]


class Miniature(nn.Module):
    """The parts of an encoder: V words, width D, feed-forward width F, L layers, C classes. It does not process text."""

    def __init__(self, V: int, D: int, F: int, L: int, C: int, tied: bool):
        super().__init__()
        self.embeddings = nn.ModuleDict({"token": nn.Embedding(V, D), "norm": nn.LayerNorm(D)})
        self.layers = nn.ModuleList(
            nn.ModuleDict({"widen": nn.Linear(D, F), "narrow": nn.Linear(F, D), "norm": nn.LayerNorm(D)})
            for _ in range(L)
        )
        self.norm, self.pooler, self.head = nn.LayerNorm(D), nn.Linear(D, D), nn.Linear(D, C)
        self.register_buffer("places", torch.arange(V))
        if tied:
            self.words = nn.Linear(D, V, bias=False)
            self.words.weight = self.embeddings["token"].weight


def miniature(case: Case) -> Miniature:
    """A miniature in which some parameters are already frozen."""
    V, D, F, L, C = case["sizes"]
    model = Miniature(V, D, F, L, C, case["tied"])
    for weight, frozen in zip(model.parameters(), case["frozen"], strict=True):
        weight.requires_grad_(not frozen.item())
    return model


def frozen_by(case: Case, freeze: Callable) -> Bool[Tensor, " parameters"]:
    """Which parameters of the miniature are trainable after `freeze`."""
    model = miniature(case)
    freeze(model, case["names"])
    return torch.tensor([weight.requires_grad for weight in model.parameters()])


def settings(model: nn.Module, groups: list[dict]) -> dict[str, Tensor]:
    """The settings of an optimiser for each parameter; −1 for a parameter that is in no group."""
    optimiser = torch.optim.AdamW(groups)
    found = {
        id(weight): (float(group["lr"]), float(group["weight_decay"]))
        for group in optimiser.param_groups
        for weight in group["params"]
    }
    rows = torch.tensor([found.get(id(weight), (-1, -1)) for weight in model.parameters()]).float()
    return {"lr": rows[:, 0], "weight decay": rows[:, 1]}


def groups_of(case: Case, parameter_groups: Callable) -> dict[str, Tensor]:
    """The settings for the miniature."""
    model = miniature(case)
    groups = parameter_groups(model, case["lr"], case["decay"], case["weight_decay"])
    return settings(model, groups)


def difference_from_transformers(schedule: Callable, warmup: int = 30, total: int = 300) -> float:
    """The largest difference between a schedule(step, warmup, total) and the linear one of transformers."""
    from transformers import get_linear_schedule_with_warmup  # start-up: no check needs it

    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    theirs = get_linear_schedule_with_warmup(optimiser, warmup, total).lr_lambdas[0]
    return max(abs(theirs(step) - schedule(step, warmup, total)) for step in range(total + 20))


def run_adam(case: Case, adam_step: Callable) -> dict[str, Tensor]:
    """w, m and v after one step for each gradient."""
    names = ("lr", "beta_1", "beta_2", "epsilon", "weight_decay")
    w, numbers = case["w"].clone(), [case[name] for name in names]
    m, v = torch.zeros_like(w), torch.zeros_like(w)
    for step, gradient in enumerate(case["gradients"], start=1):
        w, m, v = adam_step(w, gradient.clone(), m, v, step, *numbers)
    return {"w": w, "m": m, "v": v}


def step_lengths(adam_step: Callable, steps: int = 3000) -> Float[np.ndarray, " steps"]:
    """How far a weight moves in each step under a constant gradient of 1, in multiples of the learning rate."""
    w = m = v = torch.zeros(1, dtype=torch.float64)
    path, ones = [0.0], torch.ones(1, dtype=torch.float64)
    for step in range(1, steps + 1):
        w, m, v = adam_step(w, ones, m, v, step, 1.0, 0.9, 0.999, 1e-6, 0.0)
        path.append(w.item())
    return -np.diff(path)


def difference_from_adamw(adam_step: Callable, steps: int = 50) -> float:
    """The largest difference from the weights of torch.optim.AdamW after the same random gradients."""
    torch.manual_seed(0)
    weight, gradients = nn.Parameter(torch.randn(5)), torch.randn(steps, 5)
    reference = torch.optim.AdamW([weight], lr=0.01, eps=1e-6, weight_decay=0.01)
    w, m, v = weight.detach().clone(), torch.zeros(5), torch.zeros(5)
    for step, gradient in enumerate(gradients, start=1):
        w, m, v = adam_step(w, gradient, m, v, step, 0.01, 0.9, 0.999, 1e-6, 0.01)
        weight.grad = gradient.clone()
        reference.step()
    return (w - weight).abs().max().item()


def several_steps(case: Case, train_step: Callable) -> dict[str, Tensor]:
    """The losses and weights of a classifier, which starts in evaluation mode, after several steps.

    Like dropout, its first layer behaves differently in training: it normalises by the statistics of the batch.
    """
    C, D = case["W"].shape
    linear = nn.Linear(D, C)
    linear.weight.data, linear.bias.data = case["W"].clone(), case["b"].clone()
    model = nn.Sequential(nn.BatchNorm1d(D, affine=False), linear).eval()
    optimiser = getattr(torch.optim, case["kind"])(model.parameters(), lr=case["lr"])
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: case["shares"][step])
    losses = [
        train_step(
            model,
            optimiser,
            schedule,
            list(zip(x.split(case["sizes"]), y.split(case["sizes"]), strict=True)),
            case["max_norm"],
        )
        for x, y in zip(case["inputs"], case["labels"], strict=True)
    ]
    if None in losses:
        raise ValueError("train_step returned nothing; it should return the loss as a number.")
    return {
        "losses": torch.tensor([float(loss) for loss in losses]),
        "weight": linear.weight,
        "bias": linear.bias,
        "training": model.training,
    }


def plan(case: Case, unfreeze_at: Callable) -> Bool[Tensor, "epochs parts"]:
    """Which parts are trained in each epoch."""
    rows = [torch.as_tensor(unfreeze_at(epoch, case["L"])) for epoch in case["epochs"].tolist()]
    if len({row.shape for row in rows}) > 1:
        raise ValueError(
            "unfreeze_at returned results of different lengths; each should contain L + 2 truth values."
        )
    return torch.stack(rows)


def sorted_batches(case: Case, length_sorted: Callable) -> dict[str, Tensor]:
    """The lengths in the order of the batches, the size of each batch, and the sequences after their order was restored."""
    batches, back = length_sorted(case["lengths"], case["size"])
    batches = [torch.as_tensor(batch) for batch in batches]
    if not batches:
        raise ValueError("length_sorted returned no batches.")
    order = torch.cat([batch.flatten() for batch in batches])
    outside = order[(order < 0) | (order >= len(case["lengths"]))]
    if len(outside):
        raise ValueError(
            f"The batches should contain row numbers from 0 to {len(case['lengths']) - 1}; yours contain {int(outside[0])}."
        )
    return {
        "lengths": case["lengths"][order],
        "sizes": torch.tensor([batch.numel() for batch in batches]),
        "restored": order[torch.as_tensor(back)],
    }


def decisions(case: Case, stopper: type) -> dict[str, Tensor]:
    """For each curve, what `step` returned until it stopped (−1 after that), and the best epoch."""
    said = torch.full(case["curves"].shape, -1)
    best = []
    for curve, answers in zip(case["curves"].tolist(), said, strict=True):
        watcher = stopper(case["patience"], case["min_delta"])
        for epoch, loss in enumerate(curve):
            stop = watcher.step(loss)
            if stop is None:
                raise ValueError("step returned nothing; it should return True or False.")
            answers[epoch] = int(stop)
            if answers[epoch] == 1:
                break
        best.append(int(watcher.best_epoch))
    return {"stop": said, "best epoch": torch.tensor(best)}
