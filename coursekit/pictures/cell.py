"""A published encoder in one's own code, and what its layers know of the two senses of *cell* (notebook 06)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import BatchEncoding, PreTrainedTokenizerBase

from coursekit.models import Loaded

PRISON = (
    "the guard locked the prisoner in his cell",
    "he spent a night in a cell of the jail",
    "a narrow cell with one barred window",
    "the convict paced up and down his cell",
    "the warden opened the door of the cell",
)
BIOLOGY = (
    "the biologist stained the cell",
    "a virus enters the cell through its membrane",
    "each cell has a nucleus",
    "the cell divides into two daughters",
    "under the microscope we saw a living cell",
)
OTHER_EPS = 1e-5
"""The epsilon of PyTorch's layer norm, which is not that of BERT."""


def ten_sentences(tokenizer: PreTrainedTokenizerBase) -> BatchEncoding:
    """PRISON and BIOLOGY as one padded batch."""
    return tokenizer([*PRISON, *BIOLOGY], padding=True, return_tensors="pt")


def differences(loaded: Loaded, own: nn.Module, batch: BatchEncoding) -> tuple[float, float]:
    """Print and return the largest difference, at real tokens, between the last hidden states of a published model and of `own`.

    The second number is that with OTHER_EPS in every norm of `own`; the norms get their own epsilon back.
    """
    norms = [module for module in own.modules() if isinstance(module, nn.LayerNorm)]
    eps = [norm.eps for norm in norms]
    from_transformers = _largest_difference(loaded, own, batch)
    for norm in norms:
        norm.eps = OTHER_EPS
    with_another_eps = _largest_difference(loaded, own, batch)
    for norm, its_own in zip(norms, eps, strict=True):
        norm.eps = its_own
    print(f"{loaded.name}: {sum(w.numel() for w in own.parameters()):,} parameters in your code")
    print(f"largest difference between the last hidden states: {from_transformers:.0e}")
    print(f"largest difference with ε = 1e-5 in every norm:    {with_another_eps:.0e}")
    return from_transformers, with_another_eps


@torch.no_grad()
def _largest_difference(loaded: Loaded, own: nn.Module, batch: BatchEncoding) -> float:
    real = batch["attention_mask"].bool()
    states, _ = own(batch["input_ids"], batch["token_type_ids"], real)
    theirs = loaded.model(**batch).last_hidden_state
    return (states[-1] - theirs)[real].abs().max().item()


@torch.no_grad()
def cosines_by_sense(
    own: nn.Module, batch: BatchEncoding, tokenizer: PreTrainedTokenizerBase
) -> tuple[Float[Tensor, "layers 20"], Float[Tensor, "layers 25"]]:
    """Cosines between the vectors of *cell* in pairs of the ten sentences: with the same sense, and with different senses."""
    cell = tokenizer.convert_tokens_to_ids("cell")
    states, _ = own(batch["input_ids"], batch["token_type_ids"], batch["attention_mask"].bool())
    of_cell = nn.functional.normalize(states[:, batch["input_ids"] == cell], dim=-1)  # L+1 10 D
    cosines = of_cell @ of_cell.transpose(1, 2)  # L+1 10 10
    about_prison = torch.arange(len(PRISON) + len(BIOLOGY)) < len(PRISON)
    one_sense = about_prison[:, None] == about_prison
    once = torch.ones_like(one_sense).triu(1)  # each pair once
    return cosines[:, once & one_sense], cosines[:, once & ~one_sense]
