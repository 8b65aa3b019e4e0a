"""What a training function has achieved, from what `training.trained` has seen of it: arrays in, a code of BELOW_UNIGRAM out.

This is computed where the verdict is made. The model of the weights that came back is evaluated here, on a held-out text
that the training function has never had, and the losses are computed once more from the weights before each of the last
steps. Any of the arrays may be made up.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from coursekit.project.training import DIM, LATE, MOST_TOKENS, log_probabilities, new_gpt
from coursekit.small.gpt import GPT

FINE, UNREADABLE = 0, 1
ALIKE = 0.9
"""Cosine of two gradients that point in the same direction."""
UNCHANGED = 1e-6
"""Initial weights differ by less from processor to processor."""


@dataclass(frozen=True)
class Seen:
    """What `trained` returns, with shapes and numbers that can be computed with; `batches` are the ids of each call."""

    weights: Float[Tensor, " P"]
    late: Float[Tensor, "L P"]
    batches: list[Int[Tensor, "B T"]]  # none if they were too large to be handed over
    calls: int
    losses: Tensor
    scored: Float[Tensor, " window"]
    logits: Float[Tensor, "R T V"]
    gradient: Float[Tensor, " V*D"]
    left: Float[Tensor, " V*D"]


def measured(arrays: Mapping[str, np.ndarray], case: Mapping) -> dict[str, np.ndarray]:
    """The code of what `trained` returned for a case. "_held_out" are ids of the case's language that it did not get."""
    seen = _read(arrays, case)
    with torch.random.fork_rng(devices=[]):
        return {"training": np.array([UNREADABLE if seen is None else _code(seen, case)])}


def _read(arrays: Mapping[str, np.ndarray], case: Mapping) -> Seen | None:
    """The arrays as `Seen`; None if they are not as `trained` makes them."""
    parts = {
        "weights": 1,
        "late": 2,
        "sizes": 2,
        "read": 1,
        "scored": 1,
        "logits": 3,
        "gradient": 2,
        "left": 2,
    }
    if set(arrays) != {*parts, "losses"}:
        return None
    floats = {
        name: torch.from_numpy(arrays[name].astype(np.float32))
        for name in {*parts, "losses"} - {"sizes", "read"}
    }
    for name, axes in parts.items():
        if arrays[name].size and arrays[name].ndim != axes:
            return None
    sizes, read = arrays["sizes"], arrays["read"]
    V, T, P = case["V"], case["window"], sum(one.numel() for one in _model(case).parameters())
    if sizes.dtype.kind != "i" or read.dtype.kind != "i" or (sizes.size and sizes.shape[1] != 2):
        return None
    if sizes.size and (sizes.min() < 1 or sizes.max() > MOST_TOKENS or sizes[:, 1].max() > T):
        return None
    if read.size and (read.min() < 0 or read.max() >= V):
        return None
    products = [int(rows) * int(tokens) for rows, tokens in sizes.reshape(-1, 2)]
    if len(read) != (sum(products) if sum(products) <= MOST_TOKENS else 0):
        return None
    calls, ids = len(products), torch.from_numpy(read.astype(np.int64))
    batches = (
        [one.view(-1, int(tokens)) for one, (_, tokens) in zip(ids.split(products), sizes, strict=True)]
        if read.size
        else []
    )
    shapes = {"weights": (P,), "scored": (T,)} | ({"late": (min(calls, LATE), P)} if calls else {})
    if any(arrays[name].shape != shape for name, shape in shapes.items()):
        return None
    if any(floats[name].numel() not in (0, V * DIM) for name in ("gradient", "left")):
        return None
    flat = {name: floats[name].flatten() for name in ("gradient", "left")}
    return Seen(batches=batches, calls=calls, **(floats | flat))


def _model(case: Mapping, weights: Float[Tensor, " P"] | None = None) -> GPT:
    """The GPT of a case, with its initial weights or with these."""
    model = new_gpt(case["V"], dim=DIM, layers=1, window=case["window"], seed=case["seed"])
    if weights is not None:
        nn.utils.vector_to_parameters(weights, model.parameters())
    return model.eval()


@torch.no_grad()
def _code(seen: Seen, case: Mapping) -> int:
    """FINE if the model is better than the baseline and everything else is as asked; else what BELOW_UNIGRAM explains."""
    untrained = _model(case)
    if (nn.utils.parameters_to_vector(untrained.parameters()) - seen.weights).abs().max() < UNCHANGED:
        return 2
    if seen.calls != case["steps"]:
        return 8 if seen.calls > case["steps"] else 12
    if not seen.batches:
        return 17
    if _added_up(seen):
        return 13
    if seen.scored.mean() < 0.5:
        return 14
    if not _from_everywhere(case["ids"], seen.batches):
        return 7
    return _of_the_model(seen, case, untrained)


def _of_the_model(seen: Seen, case: Mapping, untrained: GPT) -> int:
    """The same for what the weights show."""
    model, (ids, held_out) = (
        _model(case, seen.weights),
        (torch.from_numpy(case[name]) for name in ("ids", "_held_out")),
    )
    loss = -log_probabilities(model, held_out).mean().item()
    counts = torch.bincount(ids, minlength=case["V"]) + 1.0
    unigram = -(counts / counts.sum()).log()[held_out].mean().item()
    before, after = (_by_offset(each, held_out) for each in (untrained, model))
    best = min(after, key=after.__getitem__)
    if best != 1 and after[best] < min(unigram, before[best] - 0.5, 1.0):
        return {0: 4, -1: 5, 2: 6}[best]
    if not loss <= np.log(case["V"]) + 0.3:
        return 3
    if not _minimises_cross_entropy(seen, case):
        return 15
    if loss >= unigram:
        return 11
    if not (seen.scored > 0).all():
        return 16
    if seen.losses.shape != (case["steps"],):
        return 9
    batches = seen.batches[-LATE:]
    recomputed = np.mean(
        [_loss(_model(case, one), batch) for one, batch in zip(seen.late, batches, strict=True)]
    )
    return FINE if abs(seen.losses[-LATE:].mean().item() - recomputed) <= 0.25 * recomputed else 10


def _loss(model: GPT, batch: Int[Tensor, "B T"]) -> float:
    """The mean cross-entropy of the next tokens within the windows, in nats."""
    return cross_entropy(model(batch).logits[:, :-1].flatten(0, 1), batch[:, 1:].flatten()).item()


def _added_up(seen: Seen) -> bool:
    """Whether what is left as a gradient points elsewhere than that of the last step, so that earlier ones are part of it."""
    if not seen.left.any() or not seen.gradient.any():
        return False
    return torch.cosine_similarity(seen.left, seen.gradient, dim=0).item() < ALIKE


def _minimises_cross_entropy(seen: Seen, case: Mapping) -> bool:
    """Whether the gradient at the logits of the last step is that of the cross-entropy of the next tokens, but for a factor.

    The target of a window's last position is not known here.
    """
    batch = seen.batches[-1][: len(seen.logits)]
    if seen.logits.shape != (*batch.shape, case["V"]):
        return False
    logits = _model(case, seen.late[-1])(batch).logits
    expected = (logits.softmax(dim=-1)[:, :-1] - one_hot(batch[:, 1:], case["V"])).flatten()
    return torch.cosine_similarity(seen.logits[:, :-1].flatten(), expected, dim=0).item() > ALIKE


def _from_everywhere(ids: Int[np.ndarray, " N"], batches: list[Int[Tensor, "B T"]]) -> bool:
    """Whether windows come from the first and the last fifth of a text, and are not the same ones at each step.

    A window that occurs several times in the text may come from any of these places.
    """
    width = batches[0].shape[1]
    rows = torch.cat([batch for batch in batches if batch.shape[1] == width]).numpy()
    digits = np.random.default_rng(0).integers(2**40, size=width)
    of_text, of_rows = np.lib.stride_tricks.sliding_window_view(ids, width) @ digits, rows @ digits
    order = of_text.argsort(kind="stable")
    first, end = (of_text[order].searchsorted(of_rows, side) for side in ("left", "right"))
    found = end > first
    if found.mean() < 0.5:
        return True  # the windows are not pieces of the text, which the losses show
    earliest, latest = order[first[found]], order[end[found] - 1]
    spread = earliest.max() > 0.8 * len(of_text) and latest.min() < 0.2 * len(of_text)
    return bool(spread) and len(np.unique(of_rows)) > min(2 * len(batches[0]), 600)


def _by_offset(model: GPT, ids: Int[Tensor, " N"]) -> dict[int, float]:
    """The mean loss in nats if the target at position t were the token at t + offset, for four offsets."""
    T = model.config.tokens
    rows = ids[: len(ids) // T * T].view(-1, T)
    log_p = model(rows).logits.log_softmax(dim=-1)[:, 1 : T - 2]  # B T-3 V
    return {
        offset: -log_p.gather(2, rows[:, 1 + offset : T - 2 + offset, None]).mean().item()
        for offset in (-1, 0, 1, 2)
    }
