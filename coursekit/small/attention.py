"""Multi-head attention and the feed-forward network (Vaswani et al., 2017, sections 3.2 and 3.3)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Every token asks, and is answered by the tokens that `keep` lets it see (section 3.2.2)."""

    def __init__(self, dim: int, heads: int):
        super().__init__()
        if dim % heads:
            raise ValueError(f"{heads} heads cannot share {dim} dimensions evenly.")
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(dim, dim) for _ in range(3))
        self.output = nn.Linear(dim, dim)

    def forward(self, x: Float[Tensor, "B T D"], keep: Bool[Tensor, "#B #T T"]) -> Float[Tensor, "B T D"]:
        """`keep[b, i, j]`: token i of sentence b may see token j. Every token must see at least one."""
        queries, keys, values = (self.split(project(x)) for project in (self.query, self.key, self.value))
        scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5  # B H T T
        weights = scores.masked_fill(~keep[:, None], float("-inf")).softmax(dim=-1)  # B H T T
        return self.output((weights @ values).transpose(1, 2).flatten(2))  # B T D

    def split(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B H T d"]:
        """Each head its own slice of the projection."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class FeedForward(nn.Module):
    """Two linear maps with a GELU between them, for each token alone (section 3.3; GELU as in GPT and BERT)."""

    def __init__(self, dim: int, inner: int):
        super().__init__()
        self.widen, self.narrow = nn.Linear(dim, inner), nn.Linear(inner, dim)

    def forward(self, x: Float[Tensor, "*B T D"]) -> Float[Tensor, "*B T D"]:
        return self.narrow(nn.functional.gelu(self.widen(x)))


def causal_mask(tokens: int) -> Bool[Tensor, "1 T T"]:
    """Token i may see tokens 0 to i."""
    return torch.ones(1, tokens, tokens, dtype=torch.bool).tril()
