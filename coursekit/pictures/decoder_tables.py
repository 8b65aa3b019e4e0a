"""Numbers of notebook 13 in words: caches, costs and predictions."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor


def print_caches(numbers: Mapping[int, int], per_token_of: int = 100) -> None:
    """The cached numbers of an attention layer by heads of keys and values, and the size of SmolLM2's cache with as many.

    The numbers are those of `per_token_of` tokens; SmolLM2 has 30 layers, and a number takes two bytes.
    """
    for kv_heads, count in numbers.items():
        whole = 2 * 30 * 8192 * count / per_token_of
        print(
            f"heads of keys and values: {kv_heads}; {count / per_token_of:,.0f} numbers per token and layer, "
            f"{whole / 1e6:,.0f} MB for 8,192 tokens at 16 bits per number"
        )


def speculative(p: Float[Tensor, " V"], q: Float[Tensor, " V"]) -> tuple[float, Float[Tensor, " V"]]:
    """The probability that a token drafted from q is accepted, and the distribution of the token that is written.

    Of a token with the probability q, the share min(1, p / q) is accepted; the rest is drawn in proportion to max(p - q, 0)
    (Leviathan et al. 2023, algorithm 1).
    """
    accepted, missing = torch.minimum(p, q), (p - q).clamp(min=0)
    return accepted.sum().item(), accepted + (1 - accepted.sum()) * missing / missing.sum()


def print_speculative(p: Float[Tensor, " V"], q: Float[Tensor, " V"]) -> None:
    """How many drafted tokens are accepted, and how far the output's distribution is from that of the large model."""
    share, written = speculative(p, q)
    print(
        f"accepted: {share:.0%} of the drafted tokens; "
        f"largest difference between the distribution of the output and p: {(written - p).abs().max():.0e}"
    )


def print_costs(rows: Mapping[str, Mapping[str, Any]], counted: int) -> None:
    """Predicted and counted parameters and FLOPs of each model, and the FLOPs `counted` for token 128 of SmolLM2."""
    for name, row in rows.items():
        print(
            f"{name:>12}: {row['predicted']:,} parameters predicted, {row['built']:,} built; FLOPs per token "
            f"{row['short'] / 1e9:.2f} billion after 128 tokens, {row['long'] / 1e9:.2f} billion after 8,192"
        )
    print(
        f"SmolLM2 in your code, token 128: {counted:,} FLOPs counted by PyTorch, "
        f"{rows['SmolLM2 135M']['short']:,} predicted"
    )


def print_ratios(ratio: pd.Series, has_experts: pd.Series, of: int) -> None:
    """For which of the decoders a formula predicts the number of parameters, and the median of predicted / built."""
    close = (ratio - 1).abs() <= 0.01
    print(
        f"exact for {(ratio == 1).sum()} and within 1 % for {close.sum()} of {of} decoders: {', '.join(ratio.index[close])}"
    )
    print(
        f"median of predicted / built: {ratio[has_experts].median():.2f} for the {has_experts.sum()} with experts, "
        f"{ratio[~has_experts].median():.2f} for the {(~has_experts).sum()} others"
    )
