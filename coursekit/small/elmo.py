"""ELMo: two language models, one in each direction (Peters et al., 2018).

model = load("elmo")
spelling = Spelling()                              # words as characters, including unseen words
output = model(spelling.of_ids(ids), ids != 0)     # characters [B, T, C]; which tokens are real [B, T]
output.forward_logits                              # [B, T, V]: position t predicts the word at t + 1
output.backward_logits                             # [B, T, V]: position t predicts the word at t - 1
output.hidden                                      # [L+1, B, T, 2D]: h_0 = [x; x], h_l = [forward; backward]
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence


@dataclass(frozen=True)
class ELMoConfig:
    """Sizes. The original model has 512 dimensions, 4,096 LSTM units and 2,048 character filters."""

    vocabulary: int
    characters: int
    dim: int = 52
    layers: int = 2
    character_dim: int = 12
    filters: tuple[tuple[int, int], ...] = ((1, 12), (2, 24), (3, 30), (4, 30))  # (width, number)
    highways: int = 1


@dataclass(frozen=True)
class ELMoOutput:
    """The logits of both directions, and the L+1 representations of each token, with the forward half first."""

    forward_logits: Float[Tensor, "B T V"]
    backward_logits: Float[Tensor, "B T V"]
    hidden: Float[Tensor, "layers B T 2D"]


class ELMo(nn.Module):
    """One character network and one softmax for both directions, and a separate stack of LSTMs for each."""

    def __init__(self, config: ELMoConfig):
        super().__init__()
        self.config = config
        self.token = CharacterCNN(config)
        self.forward_stack, self.backward_stack = Stack(config), Stack(config)
        self.softmax = nn.Linear(config.dim, config.vocabulary)

    def forward(self, characters: Int[Tensor, "B T C"], real: Bool[Tensor, "B T"]) -> ELMoOutput:
        """Both directions' logits and representations, from the characters of each token. `real` is False at padding."""
        return self.run(self.token(characters), real)

    def run(self, x: Float[Tensor, "B T D"], real: Bool[Tensor, "B T"]) -> ELMoOutput:
        """The model after the character network, for gradients with respect to the word vectors."""
        hidden = self.encode(x, real)
        left, right = hidden[-1].chunk(2, dim=-1)  # B T D each
        return ELMoOutput(self.softmax(left), self.softmax(right), hidden)

    def encode(self, x: Float[Tensor, "B T D"], real: Bool[Tensor, "B T"]) -> Float[Tensor, "layers B T 2D"]:
        """The representations: the backward stack reads each row from its last real token to its first."""
        order, row = reading_order(real), torch.arange(len(real))[:, None]  # B T, B 1
        left, right = self.forward_stack(x), self.backward_stack(x[row, order])  # L+1 B T D
        right = right[:, row, order]  # and back: the order is its own inverse
        return torch.cat([left, right], dim=-1)  # L+1 B T 2D


class CharacterCNN(nn.Module):
    """A word's vector from its characters: convolutions, maximum over places, highway, projection."""

    def __init__(self, config: ELMoConfig):
        super().__init__()
        total = sum(count for _, count in config.filters)
        self.character = nn.Embedding(config.characters, config.character_dim, padding_idx=0)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(config.character_dim, count, width) for width, count in config.filters
        )
        self.highways = nn.ModuleList(Highway(total) for _ in range(config.highways))
        self.projection = nn.Linear(total, config.dim)

    def forward(self, characters: Int[Tensor, "*B T C"]) -> Float[Tensor, "*B T D"]:
        """One vector per token, from the ids of its characters (padded with 0 to a common length C)."""
        found = self.features(characters.flatten(0, -2))  # N F
        return self.projection(found).unflatten(0, characters.shape[:-1])  # *B T D

    def features(self, characters: Int[Tensor, "N C"]) -> Float[Tensor, "N F"]:
        """Everything before the projection."""
        letters = self.character(characters).transpose(1, 2)  # N c C
        found = [convolve(letters).amax(dim=-1) for convolve in self.convolutions]  # N filters, each width
        x = torch.relu(torch.cat(found, dim=-1))  # N F
        for highway in self.highways:
            x = highway(x)
        return x

    @torch.no_grad()
    def spread(self, characters: Int[Tensor, "N C"], size: float = 0.3) -> None:
        """Set the projection so that the vectors of these words are initially whitened: mean 0 and equal variance in every direction.

        `size` is the standard deviation of each coordinate. With a random projection, the vectors would have a large common component,
        and training would take longer. Requires at least as many filters as dimensions, and more words than filters.
        """
        x = self.features(characters)
        _, sizes, directions = torch.linalg.svd(x - x.mean(dim=0), full_matrices=False)
        scale = size * len(x) ** 0.5 / sizes.clamp(min=1e-3 * sizes[0])  # F
        dim = self.projection.out_features
        self.projection.weight.copy_((directions * scale[:, None])[:dim])  # D F
        self.projection.bias.copy_(-self.projection.weight @ x.mean(dim=0))


class Highway(nn.Module):
    """A gate that decides for each feature how much is transformed and how much is passed through (Srivastava et al., 2015)."""

    def __init__(self, dim: int):
        super().__init__()
        self.transform, self.gate = nn.Linear(dim, dim), nn.Linear(dim, dim)
        nn.init.constant_(self.gate.bias, -1.0)  # at first, most passes

    def forward(self, x: Float[Tensor, "N F"]) -> Float[Tensor, "N F"]:
        """g · relu(W x) + (1 − g) · x with the gate g = σ(W' x): equation 3 of the paper."""
        gate = torch.sigmoid(self.gate(x))
        return gate * torch.relu(self.transform(x)) + (1 - gate) * x


class Stack(nn.Module):
    """One direction: LSTM layers, with a residual connection around each layer from the second on."""

    def __init__(self, config: ELMoConfig):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.LSTM(config.dim, config.dim, batch_first=True) for _ in range(config.layers)
        )
        for layer in (
            self.layers
        ):  # the order of the gates is input, forget, cell, output; at first, little is forgotten
            nn.init.constant_(layer.bias_ih_l0[config.dim : 2 * config.dim], 1.0)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "layers B T D"]:
        """The input vectors, then the output of each layer, for a sequence in this direction's reading order."""
        hidden = [x]
        for number, layer in enumerate(self.layers):
            out, _ = layer(hidden[-1])  # B T D
            hidden.append(out + hidden[-1] if number else out)
        return torch.stack(hidden)  # L+1 B T D


def reading_order(real: Bool[Tensor, "B T"]) -> Int[Tensor, "B T"]:
    """For each position, the token that the backward model reads there: the words in reverse order, padding unchanged."""
    places = torch.arange(real.shape[1]).expand(real.shape)
    lengths = real.sum(dim=1, keepdim=True)
    return torch.where(places < lengths, lengths - 1 - places, places)


def encode_words(
    model: ELMo, spelling: "Spelling", rows: Sequence[Sequence[str]]
) -> Float[Tensor, "layers B T 2D"]:
    """The representations of rows of words, padded to the longest row; each distinct word is spelt once."""
    number = {word: i for i, word in enumerate(dict.fromkeys(word for row in rows for word in row))}
    words = model.token(spelling.of_words(list(number)))  # V D
    numbers = [torch.tensor([number[word] for word in row]) for row in rows]
    ids = pad_sequence(numbers, batch_first=True, padding_value=-1)  # B T
    return model.encode(words[ids], ids >= 0)


def both_losses(
    output: ELMoOutput, ids: Int[Tensor, "B T"], padding: int = 0
) -> tuple[Float[Tensor, "B T-1"], Float[Tensor, "B T-1"]]:
    """-log p in nats, 0 at padding: forward of the tokens 1, 2, ..., backward of the tokens 0, 1, ....

    The last real token has no successor to be predicted from, so both directions predict as many tokens.
    """
    predicted = ids[:, 1:] != padding  # B T-1: at t, that the token t + 1 exists
    forward_loss = nn.functional.cross_entropy(
        output.forward_logits[:, :-1][predicted], ids[:, 1:][predicted], reduction="none"
    )
    backward_loss = nn.functional.cross_entropy(
        output.backward_logits[:, 1:][predicted], ids[:, :-1][predicted], reduction="none"
    )
    empty = torch.zeros(predicted.shape)
    return empty.masked_scatter(predicted, forward_loss), empty.masked_scatter(predicted, backward_loss)


class Spelling:
    """Words as characters: `<` letters `>` and padding. Unseen words are spelt like any others.

    Each special token ([BOS], [EOS], ...) is a single character of its own between the two marks.
    """

    LETTERS = "<>abcdefghijklmnopqrstuvwxyz'-?"
    LONGEST = 16

    def __init__(self, vocabulary: tuple[str, ...] | None = None):
        """The words of the ids; by default, those of the course's language."""
        if vocabulary is None:
            from coursekit.language import load_language  # start-up: not needed where the words are given

            vocabulary = load_language().vocabulary
        self.special = [word for word in vocabulary if word.startswith("[")]
        self.table = torch.stack([self.of_word(word) for word in vocabulary])  # V C

    @property
    def characters(self) -> int:
        """The number of different characters, including padding."""
        return 1 + len(self.LETTERS) + len(self.special)

    def of_ids(self, ids: Int[Tensor, "*B"]) -> Int[Tensor, "*B C"]:
        """The characters of words of the vocabulary."""
        return self.table[ids]

    def of_words(self, words: list[str]) -> Int[Tensor, "T C"]:
        """The characters of any words."""
        return torch.stack([self.of_word(word) for word in words])

    def of_word(self, word: str) -> Int[Tensor, " C"]:
        """The characters of one word. Unknown letters become "?", and a word that is too long is truncated."""
        if word in self.special:
            inside = [1 + len(self.LETTERS) + self.special.index(word)]
        else:
            unknown = self.LETTERS.index("?")
            places = [self.LETTERS.find(letter) for letter in word.lower()[: self.LONGEST - 2]]
            inside = [1 + (place if place > 1 else unknown) for place in places]
        codes = [1, *inside, 2]
        return torch.tensor(codes + [0] * (self.LONGEST - len(codes)))
