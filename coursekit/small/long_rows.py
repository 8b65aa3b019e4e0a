"""The trained encoder layers on rows of random words of any length, without position embeddings (notebook 06)."""

from time import perf_counter

import torch
from jaxtyping import Float
from torch import Tensor

from coursekit.small.bert import BERT, SEP

Vectors = Float[Tensor, "1 T D"]


def random_row(bert: BERT, T: int, seed: int) -> Vectors:
    """The vectors of T random words."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(SEP + 1, bert.config.vocabulary, (1, T), generator=generator)
    return bert.embeddings.norm(bert.embeddings.token(drawn)).detach()


def first_word_matters(bert: BERT, T: int, seed: int) -> float:
    """The norm of the derivative of the last word's vector with respect to the first word's vector."""
    x, everywhere = random_row(bert, T, seed), torch.ones(1, T, dtype=torch.bool)

    def last(first: Float[Tensor, " D"]) -> Float[Tensor, " D"]:
        return bert.encode(torch.cat([first[None, None], x[:, 1:]], dim=1), everywhere)[-1][0, -1]

    return torch.autograd.functional.jacobian(last, x[0, 0], vectorize=True).norm().item()


def first_word_left(bert: BERT, draws: int = 8) -> list[float]:
    """For several draws: the size of this derivative with 64 words, divided by that with 2 words."""
    return [first_word_matters(bert, 64, seed) / first_word_matters(bert, 2, seed) for seed in range(draws)]


@torch.no_grad()
def one_layer_ms(bert: BERT, T: int) -> float:
    """The time that the first layer takes in milliseconds, measured after a short row as warm-up."""
    bert.layers[0](random_row(bert, 16, 0), torch.ones(1, 1, 16, dtype=torch.bool))
    x, keep = random_row(bert, T, 0), torch.ones(1, 1, T, dtype=torch.bool)
    start = perf_counter()
    bert.layers[0](x, keep)
    return 1000 * (perf_counter() - start)
