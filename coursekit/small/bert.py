"""BERT: an encoder that sees both sides (Devlin et al., 2019).

model = load("bert")
ids, segments = pair(first, second)          # [CLS] a [SEP] b [SEP] [PAD] ...
output = model(ids, segments)
output.logits                                # [B, T, V]: which word is (or was) at this position
output.next_sentence                         # [B, 2]: column 0 "b continues a", column 1 "it does not"
output.hidden                                # [L+1, B, T, D]: the embeddings, then each layer
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coursekit.modules import Block

PAD, BOS, EOS, MASK, UNK, CLS, SEP = range(7)  # as in coursekit.language.tables
UNCHOSEN = -100
"""The label of a token that is not to be predicted, as in Hugging Face."""


@dataclass(frozen=True)
class BERTConfig:
    """Sizes. A pair of the course's longest sentences has 29 tokens."""

    vocabulary: int
    tokens: int
    dim: int = 64
    layers: int = 2
    heads: int = 4
    feed_forward: int = 224


@dataclass(frozen=True)
class BERTOutput:
    """The logits for both pre-training objectives, and the hidden states: `hidden[0]` contains the embeddings."""

    logits: Float[Tensor, "B T V"]
    next_sentence: Float[Tensor, "B 2"]
    hidden: Float[Tensor, "layers B T D"]


class BERT(nn.Module):
    """Three embeddings summed, a stack of encoder layers, and a head for each of the two objectives."""

    def __init__(self, config: BERTConfig):
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(
            Block(config.dim, config.heads, config.feed_forward) for _ in range(config.layers)
        )
        self.masked_word = MaskedWordHead(config)
        self.next_sentence = NextSentenceHead(config)

    def forward(self, ids: Int[Tensor, "B T"], segments: Int[Tensor, "B T"] | None = None) -> BERTOutput:
        """No token attends to padding (id 0). Without `segments`, all tokens belong to the first sentence."""
        segments = torch.zeros_like(ids) if segments is None else segments
        return self.run(self.embeddings(ids, segments), ids != PAD)

    def run(self, x: Float[Tensor, "B T D"], real: Bool[Tensor, "B T"]) -> BERTOutput:
        """The model after the embeddings, for gradients with respect to them. `real` is False at padding."""
        hidden = self.encode(x, real)
        logits = self.masked_word(hidden[-1], self.embeddings.token.weight)
        return BERTOutput(logits, self.next_sentence(hidden[-1]), hidden)

    def encode(self, x: Float[Tensor, "B T D"], real: Bool[Tensor, "B T"]) -> Float[Tensor, "layers B T D"]:
        """Only the hidden states; in training, only the chosen tokens are passed to the masked-word head."""
        keep = real[:, None, :]  # B 1 T: every token may attend to every real token
        hidden = [x]
        for layer in self.layers:
            hidden.append(layer(hidden[-1], keep))  # B T D
        return torch.stack(hidden)  # L+1 B T D


class Embeddings(nn.Module):
    """token + segment + position, then layer norm (figure 2 of the paper)."""

    def __init__(self, config: BERTConfig):
        super().__init__()
        self.token = nn.Embedding(config.vocabulary, config.dim)
        self.segment = nn.Embedding(2, config.dim)
        self.position = nn.Embedding(config.tokens, config.dim)
        self.norm = nn.LayerNorm(config.dim)
        for table, std in ((self.token, 0.2), (self.segment, 0.02), (self.position, 0.02)):
            # The word vectors dominate the sum; otherwise training takes longer.
            nn.init.normal_(table.weight, std=std)

    def forward(self, ids: Int[Tensor, "B T"], segments: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """The vectors that the first layer reads. Raises ValueError when there are more tokens than positions."""
        tokens = ids.shape[1]
        if tokens > len(self.position.weight):
            raise ValueError(
                f"This BERT has {len(self.position.weight)} positions, but the sequence has {tokens} tokens."
            )
        summed = self.token(ids) + self.segment(segments) + self.position.weight[:tokens]  # B T D
        return self.norm(summed)


class MaskedWordHead(nn.Module):
    """A linear map, GELU and layer norm; then the shared token table, with a bias for each word."""

    def __init__(self, config: BERTConfig):
        super().__init__()
        self.transform, self.norm = nn.Linear(config.dim, config.dim), nn.LayerNorm(config.dim)
        self.bias = nn.Parameter(torch.zeros(config.vocabulary))

    def forward(self, x: Float[Tensor, "*N D"], table: Float[Tensor, "V D"]) -> Float[Tensor, "*N V"]:
        """Logits over the vocabulary for each vector; `table` contains the token embeddings, shared with the input."""
        return self.norm(nn.functional.gelu(self.transform(x))) @ table.T + self.bias


class NextSentenceHead(nn.Module):
    """[CLS] through a linear map and tanh (the "pooler"), then two logits."""

    def __init__(self, config: BERTConfig):
        super().__init__()
        self.pooler, self.classify = nn.Linear(config.dim, config.dim), nn.Linear(config.dim, 2)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B 2"]:
        """Logits of "continues" (0) and "does not" (1), from the vector of [CLS] in the top layer."""
        return self.classify(torch.tanh(self.pooler(x[:, 0])))  # B 2


def single(ids: Int[Tensor, "B T"]) -> Int[Tensor, "B T"]:
    """Rows of the language, `[BOS] words [EOS]`, as BERT reads one sentence: `[CLS] words [SEP]`."""
    return ids.masked_fill(ids == BOS, CLS).masked_fill(ids == EOS, SEP)


def pair(
    first: Int[Tensor, "B T"], second: Int[Tensor, "B T"]
) -> tuple[Int[Tensor, "B 2T-1"], Int[Tensor, "B 2T-1"]]:
    """Two rows of the language as `[CLS] a [SEP] b [SEP] [PAD] ...`, and segments: 0 to the first [SEP], then 1."""
    a, b = single(first), single(second)[:, 1:]
    joined, segments = torch.cat([a, b], dim=1), torch.cat([torch.zeros_like(a), torch.ones_like(b)], dim=1)
    order = (joined == PAD).int().argsort(dim=1, stable=True)  # B 2T-1: padding goes to the end
    joined, segments = joined.gather(1, order), segments.gather(1, order)
    return joined, segments.masked_fill(joined == PAD, 0)


def corrupt(
    ids: Int[Tensor, "B T"],
    vocabulary: int,
    generator: torch.Generator,
    share: float = 0.15,
    masked: float = 0.8,
    replaced: float = 0.1,
    mask: int = MASK,
    special: int = SEP + 1,
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    """Choose 15 % of the words; of these, 80 % become [MASK], 10 % become a random word and 10 % stay (section 3.1).

    Returns the corrupted ids, and labels that are UNCHOSEN except at chosen words. Special tokens, with ids below `special`, are never chosen and never inserted.
    """
    choice, change = (torch.rand(ids.shape, generator=generator) for _ in range(2))
    chosen = (choice < share) & (ids >= special)
    labels = ids.masked_fill(~chosen, UNCHOSEN)
    random_words = torch.randint(special, vocabulary, ids.shape, generator=generator)
    corrupted = torch.where(chosen & (change < masked), mask, ids)
    of_chance = chosen & (change >= masked) & (change < masked + replaced)
    return torch.where(of_chance, random_words, corrupted), labels
