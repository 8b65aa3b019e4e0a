"""Four models read a sentence: the vector of one word at every layer, and how much attention adds to it from each other word."""

import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from typing import Protocol

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coursekit.models import Loaded, load
from coursekit.novels.shipped import load_elmo
from coursekit.small.bert import BOS, EOS
from coursekit.vectors import load_glove

MOST_WORDS = 40
"""Words of a sentence that are read, so that a picture never takes long."""


class NotInSentence(ValueError):
    """The sentence does not contain the word. The message is shown to the reader."""


@dataclass(frozen=True)
class Sentence:
    """A text, and the characters from `start` to `end` in it that are the word of interest."""

    text: str
    start: int
    end: int

    @property
    def words(self) -> list[tuple[int, int]]:
        """Start and end of everything between spaces."""
        return [found.span() for found in re.finditer(r"\S+", self.text)]

    @property
    def position(self) -> int:
        """Which of `words` is the word of interest."""
        return next(i for i, (_, end) in enumerate(self.words) if end > self.start)


def find_word(text: str, word: str) -> Sentence:
    """The sentence with the first occurrence of the word, or of its plural. Raises NotInSentence, also if the sentence is too long."""
    if len(text.split()) > MOST_WORDS:
        raise NotInSentence(f"The sentence has more than {MOST_WORDS} words. Please shorten it.")
    found = re.search(rf"\b{re.escape(word)}(?:e?s)?\b", text, re.IGNORECASE)
    if not found:
        raise NotInSentence(f"The sentence does not contain the word “{word}”.")
    return Sentence(text, *found.span())


@dataclass(frozen=True, eq=False)
class Attended:
    """What the attention of every layer adds to one word's vector.

    weights   of each token, from the word's query; averaged over the word's own tokens
    values    of each layer, with one slice for each head that has its own values
    outputs   of each layer, the matrix that maps the heads' results to the vector
    owner     the word of each token; the number of words for [CLS], [SEP] and their like
    """

    weights: Float[Tensor, "L H T"]
    values: list[Float[Tensor, "T _"]]
    outputs: list[Float[Tensor, "D Hd"]]
    owner: Int[Tensor, " T"]

    def along(self, directions: Float[Tensor, "L P D"]) -> Float[Tensor, "L H T P"]:
        """Attention × value: weight times value of each token in each head, along given directions of each layer's vectors."""
        L, H, T = self.weights.shape
        moved = []
        for weights, value, output, direction in zip(
            self.weights, self.values, self.outputs, directions, strict=True
        ):
            size = output.shape[1] // H
            value = value.view(T, -1, size).repeat_interleave(H * size // value.shape[1], dim=1)  # T H d
            heads = (direction @ output).view(-1, H, size)  # P H d
            moved.append(torch.einsum("ht,thd,phd->htp", weights, value, heads))
        return torch.stack(moved)


@dataclass(frozen=True, eq=False)
class Reading:
    """What a model computes for one word of a sentence: its vector at every layer (layer 0 is the input), and its attention if it has one."""

    vectors: Float[Tensor, "L+1 D"]
    attended: Attended | None = None


class Reader(Protocol):
    """A model that reads sentences."""

    name: str
    how: str
    """Which words its vector of a word depends on, in a few words."""

    def __call__(self, sentence: Sentence) -> Reading:
        """Vectors, and attention if there is any, of the sentence's word."""
        ...


class GloVe:
    """One vector per word, whatever the sentence."""

    name, how = "GloVe", "one vector per word"

    def __init__(self) -> None:
        self.table = load_glove()

    def __call__(self, sentence: Sentence) -> Reading:
        """The same vector in every sentence."""
        return Reading(self.of(sentence.text[sentence.start : sentence.end].lower())[None])

    def of(self, word: str) -> Float[Tensor, " D"]:
        """The vector of a word, or zeros for a word that has none."""
        return self.table[word] if word in self.table else torch.zeros(self.table.vectors.shape[1])


class ELMo:
    """The course's ELMo, trained on novels: characters, then two layers of LSTMs in both directions."""

    name, how = "ELMo", "words on both sides, by LSTMs"

    def __init__(self) -> None:
        self.model, self.spelling = load_elmo()

    @torch.no_grad()
    def __call__(self, sentence: Sentence) -> Reading:
        """The token's vector and two layers."""
        split = self.spelling.split
        position = 1 + len(split(sentence.text[: sentence.start]))
        words = self.spelling.of_words(split(sentence.text))
        first, last = self.spelling.of_ids(torch.tensor([BOS, EOS])).split(1)
        characters = torch.cat([first, words, last])[None]  # 1 T C
        real = torch.ones(characters.shape[:2], dtype=torch.bool)
        hidden = self.model.encode(self.model.token(characters), real)  # L+1 1 T 2D
        return Reading(hidden[:, 0, position])


class Transformer:
    """A pre-trained transformer whose attention can be read: hidden states, attention weights, and values from hooks.

    `norms` are the layer norms of a post-norm model, through which what attention adds passes on its way to the next layer. A layer norm
    divides by a number that depends on the vector; here this number is taken as given.
    """

    def __init__(
        self, loaded: Loaded, name: str, how: str, layers: list[nn.Module],
        value: str, output: str, norms: Sequence[str] = (),
    ):  # fmt: skip
        self.name, self.how, self.model, self.tokenizer = name, how, loaded.model, loaded.tokenizer
        self._outputs = [layer.get_submodule(output).weight.detach() for layer in layers]  # L of D × Hd
        self._values: list[Float[Tensor, "T _"]] = []
        self._norms = [[layer.get_submodule(norm) for norm in norms] for layer in layers]
        self._normed: dict[nn.Module, Float[Tensor, "T D"]] = {}
        for layer, within in zip(layers, self._norms, strict=True):
            layer.get_submodule(value).register_forward_hook(
                lambda _, read, made: self._values.append(made[0])
            )
            for norm in within:
                norm.register_forward_hook(lambda norm, read, made: self._normed.update({norm: read[0][0]}))

    @torch.no_grad()
    def __call__(self, sentence: Sentence) -> Reading:
        """Means over the subwords of the word."""
        batch = self.tokenizer(sentence.text, return_tensors="pt", return_offsets_mapping=True)
        spans = batch.pop("offset_mapping")[0].tolist()
        self._values.clear()
        read = self.model(**batch, output_hidden_states=True, output_attentions=True)
        here = torch.tensor([start < sentence.end and end > sentence.start for start, end in spans])
        vectors = torch.stack(read.hidden_states)[:, 0, here].mean(dim=1)
        weights = torch.stack(read.attentions)[:, 0][:, :, here].mean(dim=2)  # L H T
        outputs = [
            self._through(norms, output, here)
            for norms, output in zip(self._norms, self._outputs, strict=True)
        ]
        return Reading(
            vectors, Attended(weights, list(self._values), outputs, _owners(spans, sentence.words))
        )

    def _through(
        self, norms: Sequence[nn.Module], output: Float[Tensor, "D Hd"], here: Bool[Tensor, " T"]
    ) -> Float[Tensor, "D Hd"]:
        for norm in norms:
            spread = self._normed[norm][here].std(dim=-1, correction=0).mean()
            output = norm.weight[:, None] * (output - output.mean(dim=0)) / spread
        return output


def _owners(spans: list[list[int]], words: list[tuple[int, int]]) -> Int[Tensor, " T"]:
    """The word of each token; len(words) for special tokens, which belong to none."""
    return torch.tensor(
        [
            next((i for i, (first, last) in enumerate(words) if start < last and end > first), len(words))
            for start, end in spans
        ]
    )


def _minilm() -> Reader:
    minilm = load("all-MiniLM-L6-v2", attentions=True)
    return Transformer(
        minilm, MINILM, "words on both sides, by attention", list(minilm.model.encoder.layer),
        "attention.self.value", "attention.output.dense", ("attention.output.LayerNorm", "output.LayerNorm"),
    )  # fmt: skip


def _smollm2() -> Reader:
    smollm2 = load("SmolLM2-135M-Instruct", attentions=True)
    return Transformer(
        smollm2, SMOLLM2, "only the words before it", list(smollm2.model.layers), "self_attn.v_proj", "self_attn.o_proj"
    )  # fmt: skip


MINILM, SMOLLM2 = "BERT (MiniLM)", "Decoder (SmolLM2)"
MAKERS: dict[str, Callable[[], Reader]] = {"GloVe": GloVe, "ELMo": ELMo, MINILM: _minilm, SMOLLM2: _smollm2}
MODELS = tuple(MAKERS)
"""The names of the models, in the order in which they are shown."""


@cache
def reader_of(name: str) -> Reader:
    """One of MODELS, loaded once (a few seconds). Raises ValueError for other names; PackageUnusable or ModelMissing in a sentence."""
    if name not in MAKERS:
        raise ValueError(f"There is no model “{name}” here. Choose from {', '.join(MODELS)}.")
    with redirect_stdout(StringIO()):  # the notes on the models, which stand where a notebook works with them
        return MAKERS[name]()


def all_readers() -> tuple[Reader, ...]:
    """GloVe, ELMo, MiniLM and SmolLM2."""
    return tuple(map(reader_of, MODELS))
