"""The components of a transformer (Vaswani et al., 2017), which the small models use and which students write in 03.

Parameters have the names that 03 prescribes, so that weights can be exchanged.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, relu, scaled_dot_product_attention

ACTIVATIONS = {"relu": relu, "gelu": gelu, "gelu_tanh": lambda x: gelu(x, approximate="tanh")}
"""GELU (Hendrycks and Gimpel, 2016), exact as in BERT and in its approximation with tanh as in GPT-2."""


class MultiHeadAttention(nn.Module):
    """Multi-head self-attention; every token attends to the tokens that `keep` allows (section 3.2.2)."""

    def __init__(self, dim: int, heads: int):
        super().__init__()
        if dim % heads:
            raise ValueError(f"{heads} heads cannot share {dim} dimensions evenly.")
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(dim, dim) for _ in range(3))
        self.output = nn.Linear(dim, dim)

    def forward(self, x: Float[Tensor, "B T D"], keep: Bool[Tensor, "#B #T T"]) -> Float[Tensor, "B T D"]:
        """`keep[b, i, j]` is True where token i of sentence b may attend to token j. Every token must attend to at least one token."""
        queries, keys, values = (self.split(project(x)) for project in (self.query, self.key, self.value))
        attended = scaled_dot_product_attention(queries, keys, values, attn_mask=keep[:, None])  # B H T d
        return self.output(attended.transpose(1, 2).flatten(2))  # B T D

    def split(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B H T d"]:
        """A separate slice of the projection for each head."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class FeedForward(nn.Module):
    """Two linear maps with an activation between them, applied to each token separately (section 3.3)."""

    def __init__(self, dim: int, inner: int, activation: str = "gelu"):
        super().__init__()
        self.widen, self.narrow = nn.Linear(dim, inner), nn.Linear(inner, dim)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Float[Tensor, "*B T D"]) -> Float[Tensor, "*B T D"]:
        """Transform the vector of each token separately: widen, activate, narrow (equation 2 of the paper)."""
        return self.narrow(self.activation(self.widen(x)))


class Dropout(nn.Module):
    """In training, each activation is set to 0 with probability p and otherwise multiplied by 1/(1 − p) (Srivastava et al., 2014)."""

    def __init__(self, p: float):
        super().__init__()
        self.p = p

    def forward(
        self, x: Float[Tensor, "*N"], draws: Float[Tensor, "*N"] | None = None
    ) -> Float[Tensor, "*N"]:
        """`draws` contains a uniform number between 0 and 1 for each activation, which becomes 0 where the draw is below p. By default, new draws are generated."""
        if not self.training:
            return x
        draws = torch.rand_like(x) if draws is None else draws
        return torch.where(draws < self.p, 0.0, x / (1 - self.p))


class Block(nn.Module):
    """Attention, then the feed-forward network, each with a residual connection; normalised after the sum or before the component.

    Post-norm as in 2017 and in BERT; with `norm_first` pre-norm, as in GPT-2. Dropout is applied to the output of each component.
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        inner: int,
        norm_first: bool = False,
        activation: str = "gelu",
        eps: float = 1e-5,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(dim, heads)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.dropout = Dropout(dropout)

    def forward(self, x: Float[Tensor, "B T D"], keep: Bool[Tensor, "#B #T T"]) -> Float[Tensor, "B T D"]:
        """The vectors after attention and the feed-forward network.

        `keep[b, i, j]` is True where token i of sequence b may attend to token j. Every token must attend to at least one token.
        """
        if self.norm_first:
            x = x + self.dropout(self.attention(self.norm_attention(x), keep))  # B T D
            return x + self.dropout(self.feed_forward(self.norm_feed_forward(x)))  # B T D
        x = self.norm_attention(x + self.dropout(self.attention(x, keep)))  # B T D
        return self.norm_feed_forward(x + self.dropout(self.feed_forward(x)))  # B T D


class Embeddings(nn.Module):
    """A learned vector for each token of the vocabulary, and a sinusoid for its position (section 3.5)."""

    def __init__(self, vocabulary: int, tokens: int, dim: int):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.register_buffer("position", sinusoid(tokens, dim))

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """The sum of token and position vectors that the first layer reads."""
        return self.token(ids) + self.position[: ids.shape[1]]


def sinusoid(tokens: int, dim: int) -> Float[Tensor, "T D"]:
    """Columns 2i and 2i + 1 contain the sine and the cosine of p / 10000^(2i/D)."""
    angle = torch.arange(tokens)[:, None] * 10_000.0 ** (-torch.arange(0, dim, 2) / dim)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def causal_mask(tokens: int) -> Bool[Tensor, "1 T T"]:
    """Token i may attend to tokens 0 to i."""
    return torch.ones(1, tokens, tokens, dtype=torch.bool).tril()


def collate(rows: Sequence[Sequence[int]]) -> tuple[Int[Tensor, "B T"], Bool[Tensor, "B T"]]:
    """Rows of ids as one batch, padded with zeros to the length of the longest row, and a mask that is True at the ids."""
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
    return ids, torch.arange(longest) < torch.tensor([len(row) for row in rows])[:, None]


def training_step(
    model: nn.Module,
    batch: tuple[Int[Tensor, "B T"], Int[Tensor, "B T"], Bool[Tensor, "B T"]],
    optimiser: torch.optim.Optimizer,
    rate: float,
    most: float,
) -> float:
    """Take one training step, and return the loss of the batch before it: the mean cross-entropy in nats where `counts` is True.

    `batch` contains the input of `model`, the targets, and a mask of the targets that count. `most` is the maximum norm of the gradient.
    """
    model.train()
    ids, targets, counts = batch
    loss = cross_entropy(model(ids)[counts], targets[counts])
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    return loss.item()
