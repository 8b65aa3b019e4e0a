"""A toy problem for a mixture of experts."""

from collections.abc import Callable

import torch
from torch import Tensor


def train_experts(
    route: Callable[[Tensor, int], tuple[Tensor, Tensor]], balance: float, seed: int, steps: int = 400, E: int = 8, D: int = 8
) -> dict[str, float]:  # fmt: skip
    """Train a router and E linear experts; return the largest share of the choices that one expert receives, and the final error.

    Each point, in D dimensions, belongs to one of E groups with a linear map of its own. route(scores, k) returns the weights of the
    experts and the load-balancing loss, whose weight is `balance`.
    """
    draw = torch.Generator().manual_seed(seed)
    centres, maps = 3 * torch.randn(E, D, generator=draw), torch.randn(E, D, D, generator=draw)
    router, experts = (torch.randn(*shape, generator=draw) * D**-0.5 for shape in ((D, E), (E, D, D)))
    parameters = [router.requires_grad_(), experts.requires_grad_()]
    optimiser = torch.optim.Adam(parameters, lr=0.02, fused=True)
    for _ in range(steps):
        group = torch.randint(E, (256,), generator=draw)
        x = centres[group] + torch.randn(256, D, generator=draw)
        target = torch.einsum("td,tde->te", x, maps[group])
        weights, loss = route(x @ router, 2)
        output = torch.einsum("te,td,edo->to", weights, x, experts)
        error = (output - target).square().mean() / target.square().mean()
        optimiser.zero_grad()
        (error + balance * loss).backward()
        optimiser.step()
    used = (weights > 0).float().mean(dim=0) / 2
    return {"largest share": used.max().item(), "error": error.item()}
