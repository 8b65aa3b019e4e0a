"""Small models with given weights, which the checks of notebooks 04 and 05 pass to the student's functions."""

from collections.abc import Callable, Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor

Case = Mapping[str, Tensor]
Layer = Callable[[Float[Tensor, "B T D"]], Float[Tensor, "B T D"]]


def parts_of(
    case: Case, highway: Callable[..., Tensor]
) -> tuple[list[tuple[Tensor, Tensor]], Callable[[Float[Tensor, "N F"]], Float[Tensor, "N D"]]]:
    """The character filters of a case as pairs (kernel, bias), and the function applied after them."""
    filters = [(case[f"K_{w}"], case[f"b_{w}"]) for w in case["widths"].tolist()]
    gates = [case[name] for name in ("W_high", "b_high", "W_gate", "b_gate")]
    return filters, lambda features: highway(features, *gates) @ case["W_proj"] + case["b_proj"]


def toy_model(case: Case) -> Callable[[Float[Tensor, "T D"]], Float[Tensor, "T K"]]:
    """A model in which some words have no influence on some outputs."""
    return lambda x: torch.tanh(case["mix"] @ x @ case["W"] + case["b"])


def toy_layers(W_x: Float[Tensor, "L D D"], W_h: Float[Tensor, "L D D"]) -> list[Layer]:
    """Simple recurrent layers, each from left to right. A layer raises ValueError for vectors of another size than D."""

    def layer(number: int) -> Layer:
        def read(x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
            if x.shape[-1] != W_x.shape[1]:
                raise ValueError(
                    f"A layer expects vectors of size {W_x.shape[1]}, but received size {x.shape[-1]}. "
                    "Does the layer read both directions?"
                )
            return _states(x, W_x[number], W_h[number])

        return read

    return [layer(number) for number in range(len(W_x))]


def toy_rnn(case: Case) -> Callable[[Float[Tensor, "B T I"]], Float[Tensor, "B T H"]]:
    """The network of a task: one simple recurrent layer."""
    return lambda x: _states(x, case["W_x"], case["W_h"])


def toy_bilm(
    case: Case,
) -> tuple[Callable[[list[str]], Tensor], Callable[[Tensor], Tensor], list[Layer], list[Layer]]:
    """The four parts of a biLM in which the vector of a word is the mean of its letters' vectors."""

    def spell(words: list[str]) -> Int[Tensor, "T C"]:
        codes = [[1 + ord(letter) % 40 for letter in word][:10] for word in words]
        return torch.tensor([code + [0] * (10 - len(code)) for code in codes])

    def token(chars: Int[Tensor, "B T C"]) -> Float[Tensor, "B T D"]:
        real = (chars > 0)[..., None]
        return (case["table"][chars] * real).sum(dim=-2) / real.sum(dim=-2)

    forward, backward = (toy_layers(case[f"{side}_x"], case[f"{side}_h"]) for side in ("forward", "backward"))
    return spell, token, forward, backward


def output_and_gradients(use: Callable[..., Tensor], case: Case) -> dict[str, Tensor]:
    """The output of `use`, and the gradients of its sum of squares with respect to x, R, s and gamma."""
    given = {name: case[name].clone().requires_grad_() for name in ("x", "R", "s", "gamma")}
    output = use(*given.values(), toy_rnn(case), case["draws"], case["p"])
    given["R"].requires_grad_()  # R may also be frozen with requires_grad_(False)
    total = output.square().sum() + sum(0 * part.sum() for part in given.values())
    gradients = torch.autograd.grad(total, list(given.values()))
    return {"output": output} | {f"gradient for {name}": g for name, g in zip(given, gradients, strict=True)}


def _states(
    x: Float[Tensor, "B T I"], W_x: Float[Tensor, "I H"], W_h: Float[Tensor, "H H"]
) -> Float[Tensor, "B T H"]:
    """All states of a simple recurrent layer without biases."""
    h, states = x.new_zeros(len(x), W_h.shape[0]), []
    for t in range(x.shape[1]):
        h = torch.tanh(x[:, t] @ W_x + h @ W_h)
        states.append(h)
    return torch.stack(states, dim=1)


def toy_decoder(case: Case) -> Callable[[Int[Tensor, "B t"]], Float[Tensor, "B t V"]]:
    """A decoder of tables: its logits are sums of entries for the sentence, the position and all tokens so far."""

    def next_logits(ids: Int[Tensor, "B t"]) -> Float[Tensor, "B t V"]:
        t, longest = ids.shape[1], case["longest"]
        if t > longest:
            raise ValueError(f"The decoder was called with {t} columns; it accepts up to {longest}.")
        return case["scores"][:, :t] + case["words"][ids].cumsum(dim=1)

    return next_logits
