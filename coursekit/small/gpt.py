"""GPT: a causal decoder (Radford et al., 2018; pre-norm, as in GPT-2, 2019).

model = load("gpt")
output = model(ids)              # ids [B, T], rows `[BOS] words [EOS] [PAD] ...`
output.logits                    # [B, T, V]: position t predicts the word at t + 1
output.hidden                    # [L+1, B, T, D]: the embeddings, then each layer
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from coursekit.modules import Block


@dataclass(frozen=True)
class GPTConfig:
    """Sizes. The course's language has 1,795 words and sentences of at most 17 tokens."""

    vocabulary: int
    tokens: int
    dim: int = 64
    layers: int = 2
    heads: int = 4
    feed_forward: int = 256


@dataclass(frozen=True)
class GPTOutput:
    """`logits[b, t]` predicts token t + 1; `hidden[0]` are the embeddings, `hidden[l]` is the output of layer l.

    The last of `hidden` is taken after the final layer norm; the logits are computed from it.
    """

    logits: Float[Tensor, "B T V"]
    hidden: Float[Tensor, "layers B T D"]


class GPT(nn.Module):
    """Token and position embeddings, a stack of decoder layers, and the token table as the output matrix."""

    def __init__(self, config: GPTConfig):
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocabulary, config.dim)
        self.position = nn.Embedding(config.tokens, config.dim)
        self.layers = nn.ModuleList(
            Block(config.dim, config.heads, config.feed_forward, norm_first=True)
            for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(config.dim)
        for table in (self.token, self.position):
            nn.init.normal_(table.weight, std=0.05)

    def forward(self, ids: Int[Tensor, "B T"]) -> GPTOutput:
        """Logits of each next token, and all hidden states. Raises ValueError if there are too many tokens."""
        return self.run(self.embed(ids))

    def embed(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """The input of the first layer: token + position."""
        if ids.shape[1] > self.config.tokens:
            raise ValueError(
                f"This GPT has {self.config.tokens} positions, but the sequence has {ids.shape[1]} tokens."
            )
        return self.token(ids) + self.position.weight[: ids.shape[1]]  # B T D

    def run(self, x: Float[Tensor, "B T D"]) -> GPTOutput:
        """The model after the embeddings, for gradients with respect to them."""
        hidden = self.encode(x)
        return GPTOutput(hidden[-1] @ self.token.weight.T, hidden)  # B T V, L+1 B T D

    def encode(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "layers B T D"]:
        """Only the hidden states, because the logits take most of the time."""
        tokens = x.shape[1]
        keep = torch.ones(1, tokens, tokens, dtype=torch.bool).tril()  # 1 T T
        hidden = [x]
        for layer in self.layers:
            hidden.append(layer(hidden[-1], keep))  # B T D
        hidden[-1] = self.norm(hidden[-1])
        return torch.stack(hidden)


def next_word_losses(output: GPTOutput, ids: Int[Tensor, "B T"], padding: int = 0) -> Float[Tensor, "B T-1"]:
    """-log p of each next word in nats, 0 where it is padding; column t belongs to the word at t + 1."""
    predicted, targets = output.logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()  # B(T-1) V, B(T-1)
    losses = nn.functional.cross_entropy(predicted, targets, ignore_index=padding, reduction="none")
    return losses.view(len(ids), -1)
