"""An ELMo taken apart, so that the functions of notebook 05 can run it: its weights and layers as their arguments."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from coursekit.batches import by_length
from coursekit.language import PAD, Sentences, load_language
from coursekit.small.elmo import CharacterCNN, ELMo, Spelling, Stack

Layer = Callable[[Float[Tensor, "B T D"]], Float[Tensor, "B T D"]]
Features = Callable[[Float[Tensor, "N F"]], Float[Tensor, "N D"]]
WordVectors = Callable[[ELMo, Int[Tensor, "N C"]], Float[Tensor, "N D"]]
ROWS = 500
"""Sentences whose vectors are computed at a time."""


def weights_of(
    token: CharacterCNN, highway: Callable[..., Tensor]
) -> tuple[list[tuple[Tensor, Tensor]], Features]:
    """The filters (kernel, bias) of a character network, and the function after them, which applies `highway` and projects."""

    def onward(features: Float[Tensor, "N F"]) -> Float[Tensor, "N D"]:
        for layer in token.highways:
            parts = layer.transform, layer.gate
            features = highway(features, *(w for part in parts for w in (part.weight.T, part.bias)))
        return token.projection(features)

    return [(convolution.weight, convolution.bias) for convolution in token.convolutions], onward


def layers_of(stack: Stack) -> list[Layer]:
    """The LSTM layers of a stack as functions, without the residual connections."""

    def layer(lstm: torch.nn.LSTM) -> Layer:
        return lambda h: lstm(h)[0]

    return [layer(lstm) for lstm in stack.layers]


def stacks_of(model: ELMo) -> tuple[list[Layer], list[Layer]]:
    """The forward layers and the backward layers of a model."""
    return layers_of(model.forward_stack), layers_of(model.backward_stack)


def halves_of(model: ELMo) -> dict[str, slice]:
    """The coordinates of each direction in a vector of size 2D."""
    D = model.config.dim
    return {"forward half": slice(None, D), "backward half": slice(D, None), "both halves": slice(None)}


def word_vectors_with(
    char_cnn: Callable[..., Float[Tensor, "1 N D"]], highway: Callable[..., Tensor]
) -> WordVectors:
    """A function from a model and the characters of N words to their vectors (N, D), which applies the student's functions."""

    def word_vectors(model: ELMo, chars: Int[Tensor, "N C"]) -> Float[Tensor, "N D"]:
        return char_cnn(chars[None], model.token.character.weight, *weights_of(model.token, highway))[0]

    return word_vectors


def batch_vectors(
    word_vectors: WordVectors, model: ELMo, ids: Int[Tensor, "B T"], spelling: Spelling
) -> Float[Tensor, "B T D"]:
    """The word vectors of a batch; each distinct word is encoded only once."""
    different, place = ids.unique(return_inverse=True)
    return word_vectors(model, spelling.of_ids(different))[place]


def top_states(
    two_stacks: Callable[..., tuple[Tensor, Tensor]], model: ELMo, direction: int
) -> Callable[[Float[Tensor, "T D"]], Float[Tensor, "T D"]]:
    """A function from the word vectors of a sentence to the top states of one direction: 0 forward, 1 backward."""
    return lambda x: two_stacks(x[None], torch.tensor([len(x)]), *stacks_of(model))[direction][-1, 0]


@dataclass(frozen=True)
class Reader:
    """The student's functions, which compute all representations of words in sentences with the weights of any ELMo."""

    spelling: Spelling
    word_vectors: WordVectors
    two_stacks: Callable[..., tuple[Float[Tensor, "L B T D"], Float[Tensor, "L B T D"]]]
    representations: Callable[..., Float[Tensor, "L+1 B T 2*D"]]

    def with_spelling(self, spelling: Spelling) -> "Reader":
        """The same functions for a model that reads words with another spelling."""
        return replace(self, spelling=spelling)

    @torch.no_grad()
    def layers(self, model: ELMo, ids: Int[Tensor, "B T"]) -> Float[Tensor, "L+1 B T 2*D"]:
        """All representations of a batch, computed for `ROWS` sentences at a time."""
        x, lengths = batch_vectors(self.word_vectors, model, ids, self.spelling), (ids != PAD).sum(dim=1)
        parts = zip(x.split(ROWS), lengths.split(ROWS), strict=True)
        return torch.cat([self._states(model, *part) for part in parts], dim=1)

    @torch.no_grad()
    def exam_vectors(self, model: ELMo, sentences: Sentences) -> Float[Tensor, "L+1 sentences 2*D"]:
        """The vector of the ambiguous word in each sentence, at every layer."""
        ids, position = torch.from_numpy(sentences.ids), torch.from_numpy(sentences.position)
        lengths = (ids != PAD).sum(dim=1)
        x = batch_vectors(self.word_vectors, model, ids, self.spelling)

        def read(rows: Int[Tensor, " b"]) -> Float[Tensor, "L+1 b 2*D"]:
            states = self._states(model, x[rows, : lengths[rows].max()], lengths[rows])
            return states[:, torch.arange(len(rows)), position[rows]]

        return by_length(read, lengths, ROWS, dim=1)

    def vector(self, model: ELMo, text: str, word: str) -> Float[Tensor, "L+1 2*D"]:
        """The vector of a word in a sentence of the generated language, at every layer."""
        language = load_language()
        ids = torch.from_numpy(language.encode(text))[None]
        return self.layers(model, ids)[:, 0, ids[0].tolist().index(language.id_of[word])]

    @torch.no_grad()
    def sentences(
        self, model: ELMo, rows: list[list[str]]
    ) -> tuple[Float[Tensor, "L+1 B T 2*D"], Int[Tensor, " B"]]:
        """All representations of sentences of any words, between [BOS] and [EOS], and their lengths including these two."""
        chars, ids, lengths = spelt(rows, self.spelling)
        return self._states(model, self.word_vectors(model, chars)[ids], lengths), lengths

    def _states(
        self, model: ELMo, x: Float[Tensor, "B T D"], lengths: Int[Tensor, " B"]
    ) -> Float[Tensor, "L+1 B T 2*D"]:
        return self.representations(x, *self.two_stacks(x, lengths, *stacks_of(model)))


def spelt(
    rows: list[list[str]], spelling: Spelling
) -> tuple[Int[Tensor, "N C"], Int[Tensor, "B T"], Int[Tensor, " B"]]:
    """The characters of the different words of some sentences, the index of each word among them (0 at padding), and the lengths.

    [BOS] and [EOS] are added to each sentence.
    """
    rows = [["[BOS]", *row, "[EOS]"] for row in rows]
    number_of = {word: number for number, word in enumerate(sorted({word for row in rows for word in row}))}
    numbers = [torch.tensor([number_of[word] for word in row]) for row in rows]
    ids = torch.nn.utils.rnn.pad_sequence(numbers, batch_first=True)
    return spelling.of_words(list(number_of)), ids, torch.tensor([len(row) for row in rows])
