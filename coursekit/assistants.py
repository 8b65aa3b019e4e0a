"""How the checks of notebook 14 run a student's code."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from coursekit.growing import NOTHING, build, run_module


def without_change(function: Callable[[list], Any], given: list) -> Any:
    """The result of a function applied to these lists. Raises ValueError if the function has changed them."""
    before = copy.deepcopy(given)
    answer = function(given)
    if given != before:
        raise ValueError(
            "Your function has changed the lists that it was given, which are still needed: `ids += …` extends the list that "
            "`ids` refers to. Start with a new list, such as `ids = []`."
        )
    return answer


def turns_of(case: Mapping[str, Any]) -> list[tuple[str, list[int]]]:
    """A conversation from the arrays of a case."""
    ends = np.cumsum(case["lengths"]).tolist()
    ids = case["ids"].tolist()
    return [
        (role, ids[end - int(n) : end])
        for role, n, end in zip(case["roles"], case["lengths"], ends, strict=True)
    ]


def conversations_of(case: Mapping[str, Any]) -> list[tuple[list[int], list[int]]]:
    """Ids and labels of each conversation from the arrays of a case."""
    ends = np.cumsum(case["lengths"]).tolist()
    ids, labels = case["ids"].tolist(), case["labels"].tolist()
    return [
        (ids[end - int(n) : end], labels[end - int(n) : end])
        for n, end in zip(case["lengths"], ends, strict=True)
    ]


def wrapped(cls: type[nn.Module]) -> Callable[..., nn.Module]:
    """A function that builds a layer with a low-rank update from its sizes."""

    def make(inputs: int, outputs: int, rank: int, alpha: float, bias: bool) -> nn.Module:
        return cls(nn.Linear(inputs, outputs, bias=bias), rank, alpha)

    return make


def try_lora(cls: type[nn.Module], case: Mapping[str, Any]) -> dict[str, Tensor]:
    """Registered weights, output, gradients, and whether the layer changes anything before training."""
    answers = run_module(wrapped(cls), case, "x", gradient=True, back_to=["x"])
    answers.setdefault("gradient of base.bias", NOTHING)  # every case has the same parts
    with torch.random.fork_rng():
        torch.manual_seed(0)
        fresh = wrapped(cls)(**case["config"])
    answers["changes something before training"] = answers["A begins with random numbers"] = NOTHING
    if _complete(answers):
        with torch.no_grad():
            change = fresh(case["x"]) - fresh.base(case["x"])
        answers["changes something before training"] = (change.abs() > 1e-6).any()
        answers["A begins with random numbers"] = torch.tensor(_are_random(fresh.A))
    return answers


def _are_random(table: Tensor) -> bool:
    """Whether the numbers are small and mostly distinct."""
    return len(table.unique()) > table.numel() / 2 and bool(table.abs().max() < 8)


def _complete(answers: Mapping[str, Tensor]) -> bool:
    return bool((answers["registered"][:-1] > 0).all())


def try_merge(
    cls: type[nn.Module], merge: Callable[[nn.Module], nn.Module], case: Mapping[str, Any]
) -> dict[str, Tensor]:
    """The merged weight and bias, the weight of a second merge, and the layer's own weight afterwards."""
    layer, _ = build(wrapped(cls), case)
    merged, again = merge(layer), merge(layer)
    bias = NOTHING if merged.bias is None else merged.bias.detach()
    return {
        "weight": merged.weight.detach(),
        "bias": bias,
        "merged again": again.weight.detach(),
        "base afterwards": layer.base.weight.detach(),
        "parameters": torch.tensor(sum(weight.numel() for weight in merged.parameters())),
    }


def try_steps(step: Callable[..., float], case: Mapping[str, Any]) -> dict[str, Tensor]:
    """Two steps on tables of logits that still have old gradients: the losses, and both tables afterwards."""
    policy, reference = (
        nn.Embedding.from_pretrained(case[name].clone(), freeze=False) for name in ("policy", "reference")
    )
    policy.weight.grad = torch.ones_like(policy.weight)
    optimiser = torch.optim.SGD(policy.parameters(), lr=case["rate"])
    pairs = [(case[name], case[f"{name} labels"]) for name in ("chosen", "rejected")]
    losses = [float(step(policy, reference, *pairs, optimiser, case["beta"])) for _ in range(2)]
    left = reference.weight.grad
    return {
        "losses": torch.tensor(losses),
        "policy": policy.weight.detach(),
        "reference": reference.weight.detach(),
        "gradient in the reference": torch.zeros(()) if left is None else left.abs().sum(),
    }


def try_unloading(
    cls: type[nn.Module], unload: Callable[[nn.Module], nn.Module], case: Mapping[str, Any]
) -> dict[str, Tensor]:
    """The output of a model with such layers at three depths after unloading, and the number of layers of each kind that remain."""
    D = case["x"].shape[-1]

    def layer(name: str) -> nn.Module:
        made = cls(nn.Linear(D, D), case["A"].shape[1], case["alpha"])
        with torch.no_grad():
            number = ("first", "second", "third").index(name)
            for place, value in (
                (made.base.weight, case["weight"]),
                (made.A, case["A"]),
                (made.B, case["B"]),
            ):
                place.copy_(value[number])
            made.base.bias.zero_()
        return made

    model = nn.ModuleDict({
        "first": layer("first"),
        "body": nn.Sequential(layer("second"), nn.Tanh(), nn.Sequential(nn.Linear(D, D), layer("third"))),
    })  # fmt: skip
    with torch.no_grad():
        plain = model["body"][2][0]
        plain.weight.copy_(case["plain"])
        plain.bias.zero_()
        back = unload(model)
        if not isinstance(back, nn.Module):
            raise TypeError(f"Your function returned a {type(back).__name__}. Return the model itself.")
        output = back["body"](back["first"](case["x"]))
    kinds = [sum(isinstance(part, kind) for part in back.modules()) for kind in (cls, nn.Linear)]
    return {
        "output": output,
        "layers left": torch.tensor(kinds),
        "the model itself": torch.tensor(back is model),
    }
