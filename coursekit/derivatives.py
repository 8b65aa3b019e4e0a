"""How strongly each word of a model's input influences each word of its output, measured by derivatives of whole vectors."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def influence(
    run: Callable[[Float[Tensor, "N T D"]], Float[Tensor, "N U M"]], x: Float[Tensor, "T D"]
) -> Float[Tensor, "U T"]:
    """How strongly each input vector (column) influences each output vector (row).

    An entry is the size of a derivative: the root of the sum of the squares of all M · D partial derivatives. `run` processes a
    batch whose items do not affect one another; x is one item. Each of M equal items corresponds to one coordinate of the output,
    so that one backward pass is enough for all coordinates of a vector.
    """
    coordinates = run(x[None]).shape[-1]
    copies = x.detach().repeat(coordinates, 1, 1).requires_grad_()  # M T D
    outputs = run(copies).diagonal(dim1=0, dim2=2)  # U M: coordinate m of copy m
    slopes = [torch.autograd.grad(vector.sum(), copies, retain_graph=True)[0] for vector in outputs]
    return torch.stack(slopes).square().sum(dim=(1, 3)).sqrt()
