"""A translator from the generated English into a code with a different word order, and the code itself.

    pairs = sample_pairs(1000, np.random.default_rng(0), split="held_out")     # source and target ids
    model = load_translator()
    logits = model(pairs.source, shifted_target)                              # B Tt V

The code is a language with explicit rules, so each sentence has exactly one correct translation:

- every word has its own stem; an ambiguous word has one for each of its senses, and a noun and a verb with the same form have two;
- verbs are at the end of their clause; prepositions, adjectives and determiners follow their noun;
- nouns take -o for "the" (nothing for "a"), -r in the plural and -n as an object; verbs take -ta in the past and -s in the third person.

`python -m coursekit.pretrain --models translator --record data` trains the model of `data/models` again.
"""

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from safetensors.torch import save_file
from torch import Tensor, nn

from coursekit.language import BOS, EOS, PAD, Grammar, Language, Sentences, load_language
from coursekit.language.inflection import past, plural, third_person
from coursekit.language.kinds import productions
from coursekit.language.notation import KINDS
from coursekit.stored import trained

SUFFIXES = ("-r", "-o", "-n", "-ta", "-s")
PLURAL, DEFINITE, OBJECT, PAST, THIRD = SUFFIXES
OPENS_CLAUSE = {"that", "who", "where", "when", "and"}
LONGEST = 28
"""Tokens of the longest target for a sentence of 15 words, including [EOS]; `sample_pairs` fails if a target needs more."""


# ----------------------------------------------------------------------------------------- the code


class Word(NamedTuple):
    """A source word: its part of speech, its sense ("cell#prison" or "") and its position in the sentence."""

    word: str
    tag: str
    sense: str
    place: int


Token = tuple[str, int]
"""A target token and the position of the word that it translates; -1 for a suffix."""
NOUN_PHRASE = ("DET", "ADJ", "NOUN")


@dataclass(frozen=True, eq=False)
class Code:
    """The target language: its tokens, and the token of each English word for each part of speech."""

    vocabulary: tuple[str, ...]
    stems: dict[tuple[str, str], str] = field(repr=False)  # ("cells", "NOUN") or ("cell#prison", "") -> stem
    lemmas: dict[tuple[str, str], str] = field(repr=False)

    @functools.cached_property
    def id_of(self) -> dict[str, int]:
        """The id of each target token."""
        return {token: i for i, token in enumerate(self.vocabulary)}

    def translate(self, words: list[str], tags: list[str], senses: list[str]) -> list[Token]:
        """The translation of one sentence. `senses` contains a sense such as "cell#prison" at the ambiguous word and "" elsewhere."""
        result, clause = [], []
        for place, (word, tag, sense) in enumerate(zip(words, tags, senses, strict=True)):
            item = Word(word, tag, sense, place)
            if word in OPENS_CLAUSE and tag != "DET":
                result += [*self._clause(clause), self._stem(item)]
                clause = []
            else:
                clause.append(item)
        return result + self._clause(clause)

    def decode(self, ids: list[int] | Int[Tensor, " T"]) -> str:
        """Target ids as text: suffixes are joined to their stem, special tokens are left out, and the text ends at [EOS]."""
        tokens = []
        for i in map(int, ids):
            if i == EOS:
                break
            if i not in (PAD, BOS):
                tokens.append(self.vocabulary[i])
        return " ".join(tokens).replace(" -", "-")

    def _stem(self, item: Word) -> Token:
        key = (item.sense, "") if item.sense else (item.word, item.tag)
        return self.stems[key], item.place

    def _clause(self, items: list[Word]) -> list[Token]:
        """One clause: noun phrases with their words reordered, each followed by its preposition, and the verbs at the end."""
        phrases, verbs, i = [], [], 0
        preposition, after_verb = [], False
        while i < len(items):
            item = items[i]
            if item.tag in ("VERB", "AUX"):
                verbs += self._verb(item)
                after_verb = True
            elif item.tag in ("ADP", "PART"):
                phrases += preposition
                preposition = [self._stem(item)]
            elif item.tag in NOUN_PHRASE:
                end = i + 1
                while end < len(items) and items[end].tag in NOUN_PHRASE and items[end].tag != "DET":
                    end += 1
                phrases += (
                    self._noun_phrase(items[i:end], is_object=after_verb and not preposition) + preposition
                )
                preposition, i = [], end - 1
            else:
                phrases += [self._stem(item), *preposition]
                preposition = []
            i += 1
        return phrases + preposition + verbs

    def _noun_phrase(self, items: list[Word], is_object: bool) -> list[Token]:
        nouns = [item for item in items if item.tag == "NOUN"]
        others = [item for item in items if item.tag != "NOUN"]
        result: list[Token] = []
        for number, noun in enumerate(nouns):
            result.append(self._stem(noun))
            result += [(PLURAL, -1)] if noun.word != self.lemmas[noun.word, "NOUN"] else []
            if number == len(nouns) - 1:
                result += [(DEFINITE, -1)] if any(item.word == "the" for item in others) else []
                result += [(OBJECT, -1)] if is_object else []
        return result + [self._stem(item) for item in reversed(others) if item.word not in ("the", "a", "an")]

    def _verb(self, item: Word) -> list[Token]:
        lemma = self.lemmas[item.word, item.tag]
        if item.word == lemma:
            return [self._stem(item)]
        return [self._stem(item), (PAST if item.word in (past(lemma), "was", "were") else THIRD, -1)]


def load_code(language: Language | None = None) -> Code:
    """The code for a language (by default the course's), built on the first call."""
    return _code(language or load_language())


@functools.cache
def _code(language: Language) -> Code:
    lemma_of = _lemmas(language.grammar)
    lemmas = {
        (word, tag): lemma_of.get((word, tag), word)
        for word, tags in language.parts_of_speech_of.items()
        for tag in tags
    }
    meanings = sorted({(lemma, tag) for (_, tag), lemma in lemmas.items()}) + [
        (sense, "") for sense in language.senses
    ]
    names = dict(zip(meanings, _stems(len(meanings)), strict=True))
    stems = {(word, tag): names[lemma, tag] for (word, tag), lemma in lemmas.items()}
    stems |= {(sense, ""): names[sense, ""] for sense in language.senses}
    vocabulary = ("[PAD]", "[BOS]", "[EOS]", *SUFFIXES, *sorted(set(names.values())))
    return Code(vocabulary, stems, lemmas)


def _lemmas(grammar: Grammar) -> dict[tuple[str, str], str]:
    """The base form of each inflected noun and verb that the grammar's slots can produce."""
    text = "\n".join(dict.fromkeys(rule.pattern for rule in productions(grammar)))
    result = {(form, "AUX"): "be" for form in ("is", "are", "was", "were")}
    result |= {(form, "VERB"): "be" for form in ("is", "are", "was", "were")}
    for kind, words in re.findall(r"\{([a-z]+)\d?~? ([^}]*)\}", text):
        tag = KINDS[kind]
        for word in words.split():
            written = (
                grammar.lists[word[1:]].split()
                if word.startswith("@")
                else [word.split("#")[0].split("/")[0]]
            )
            for lemma in written:
                if lemma != "be" and tag in ("NOUN", "VERB"):
                    inflections = (plural,) if tag == "NOUN" else (third_person, past)
                    for form in (lemma, *(inflect(lemma) for inflect in inflections)):
                        if form == lemma or (form, tag) not in result:
                            result[form, tag] = lemma
    return result


def _stems(n: int) -> list[str]:
    """n different stems of two or three syllables, the same in every call."""
    rng, stems = np.random.default_rng(1954), {}
    consonants, vowels = list("bdfgjklmnprstvz"), list("aeiu")
    while len(stems) < n:
        syllables = 2 + (rng.random() < 0.4)
        stem = "".join(rng.choice(consonants) + rng.choice(vowels) for _ in range(syllables))
        stems[stem] = None
    return list(stems)


# ----------------------------------------------------------------------------------------- pairs


@dataclass(frozen=True, eq=False)
class Pairs:
    """Sentences with their translations. Sources are rows [BOS] words [EOS] [PAD] …, targets words [EOS] [PAD] …

    `origin` holds the position in the source row of the word that a target token translates; -1 for suffixes,
    [EOS] and padding.
    """

    source: Int[Tensor, "B Ts"]
    target: Int[Tensor, "B Tt"]
    origin: Int[Tensor, "B Tt"]

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, rows: slice | Tensor) -> "Pairs":
        return Pairs(self.source[rows], self.target[rows], self.origin[rows])


def sample_pairs(
    n: int,
    rng: np.random.Generator,
    split: str = "train",
    language: Language | None = None,
) -> Pairs:
    """n sentences from one split of the language, with their only correct translations."""
    language = language or load_language()
    return translated(language.sample(n, rng, split=split), language)


def translated(sentences: Sentences, language: Language | None = None) -> Pairs:
    """Sentences of the language with their translations."""
    language = language or load_language()
    code = load_code(language)
    target = torch.full((len(sentences), LONGEST), PAD)
    origin = torch.full_like(target, -1)
    for row, (ids, tags, senses, length) in enumerate(
        zip(sentences.ids, sentences.parts_of_speech, sentences.senses, sentences.lengths, strict=True)
    ):
        inside = slice(1, int(length) - 1)
        tokens = code.translate(
            [language.vocabulary[i] for i in ids[inside]],
            [language.parts_of_speech[tag] for tag in tags[inside]],
            [language.senses[sense] if sense >= 0 else "" for sense in senses[inside]],
        )
        target[row, : len(tokens) + 1] = torch.tensor([code.id_of[token] for token, _ in tokens] + [EOS])
        places = torch.tensor([place for _, place in tokens])
        origin[row, : len(tokens)] = torch.where(places < 0, -1, places + 1)
    return Pairs(torch.from_numpy(sentences.ids), target, origin)


# ----------------------------------------------------------------------------------------- the model


class Translator(nn.Module):
    """An encoder and a decoder of two layers each, with pre-norm and single-head cross-attention.

    `cross` computes the cross-attention from (decoder states, encoder states, W_q, W_k, W_v, source_keep) and returns the output or a pair that begins with it; a notebook may replace it with its own function.
    """

    def __init__(
        self,
        dim: int = 64,
        feed_forward: int = 128,
        layers: int = 2,
        heads: int = 4,
        language: Language | None = None,
    ):
        super().__init__()
        language = language or load_language()
        self.source_words = nn.Embedding(len(language.vocabulary), dim)
        self.target_words = nn.Embedding(len(load_code(language).vocabulary), dim)
        self.source_places = nn.Embedding(language.max_length, dim)
        self.target_places = nn.Embedding(LONGEST, dim)
        self.encoder = nn.ModuleList(
            nn.TransformerEncoderLayer(
                dim, heads, feed_forward, dropout=0.0, batch_first=True, norm_first=True
            )
            for _ in range(layers)
        )
        self.decoder = nn.ModuleList(DecoderLayer(dim, feed_forward, heads) for _ in range(layers))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.cross = fused_cross_attention
        for table in (self.source_words, self.target_words, self.source_places, self.target_places):
            nn.init.normal_(table.weight, std=0.1)

    def encode(self, source: Int[Tensor, "B Ts"]) -> Float[Tensor, "B Ts D"]:
        """The encoder's output for each source token: the last layer of `hidden`."""
        return self.hidden(source)[-1]

    def hidden(self, source: Int[Tensor, "B Ts"]) -> Float[Tensor, "layers B Ts D"]:
        """The encoder's vectors: the embeddings, then the vectors of each layer; those of the last layer are normalised."""
        layers = [self.source_words(source) + self.source_places.weight[: source.shape[1]]]
        for layer in self.encoder:
            layers.append(layer(layers[-1], src_key_padding_mask=source == PAD))
        return torch.stack([*layers[:-1], self.encoder_norm(layers[-1])])

    def decode(
        self,
        inputs: Int[Tensor, "B Tt"],
        encoded: Float[Tensor, "B Ts D"],
        source_keep: Bool[Tensor, "B Ts"] | Bool[Tensor, "B Tt Ts"],
        keep: Bool[Tensor, "Tt Tt"],
    ) -> Float[Tensor, "B Tt V"]:
        """Logits of the token that follows each input. keep[i, j]: may position i see position j of the inputs?"""
        x = self.target_words(inputs) + self.target_places.weight[: inputs.shape[1]]
        for layer in self.decoder:
            x = layer(x, encoded, source_keep, keep, self.cross)
        return self.decoder_norm(x) @ self.target_words.weight.T

    def forward(
        self, source: Int[Tensor, "B Ts"], inputs: Int[Tensor, "B Tt"], keep: Bool[Tensor, "Tt Tt"]
    ) -> Float[Tensor, "B Tt V"]:
        """Logits of the token that follows each input. keep[i, j]: may position i see position j of the inputs?"""
        return self.decode(inputs, self.encode(source), source != PAD, keep)


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention to the source and a feed-forward network, each with a residual connection."""

    def __init__(self, dim: int, feed_forward: int, heads: int):
        super().__init__()
        self.own = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.randn(dim, dim) / dim**0.5) for _ in range(3))
        self.feed = nn.Sequential(nn.Linear(dim, feed_forward), nn.ReLU(), nn.Linear(feed_forward, dim))
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(3))

    def forward(self, x: Tensor, encoded: Tensor, source_keep: Tensor, keep: Tensor, cross) -> Tensor:
        """The target vectors after this layer, B Tt D.

        `encoded` is B Ts D. `source_keep` (B Ts, or B Tt Ts) and `keep` (Tt Tt) are True where attention is allowed,
        to the source and to the target. `cross` computes the cross-attention, as `Translator` describes.
        """
        y = self.norms[0](x)
        x = x + self.own(y, y, y, attn_mask=~keep, need_weights=False)[0]
        seen = cross(self.norms[1](x), encoded, self.W_q, self.W_k, self.W_v, source_keep)
        x = x + (seen[0] if isinstance(seen, tuple) else seen)
        return x + self.feed(self.norms[2](x))


def fused_cross_attention(
    dec: Tensor, enc: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, source_keep: Tensor
) -> Tensor:
    """PyTorch's own attention, without the weights. `source_keep` has the shape B Ts or B Tt Ts."""
    keep = source_keep if source_keep.ndim == 3 else source_keep[:, None, :]
    return nn.functional.scaled_dot_product_attention(dec @ W_q, enc @ W_k, enc @ W_v, attn_mask=keep)


# ----------------------------------------------------------------------------------------- training


RATE = 3e-3
"""For a short run, as in notebook 04."""


class WithTeacher(nn.Module):
    """A translator that also receives the correct prefix of the target, as in a training step.

    keep_of(Tt) returns the mask of the self-attention, Tt Tt. cross_mask(source_keep, target_keep) returns the mask of the
    cross-attention, B Tt Ts; by default, the source's words are visible. With cross_mask, the encoded source is padded with zeros to the
    width of the target.
    """

    def __init__(
        self,
        model: Translator,
        keep_of: Callable[[int], Bool[Tensor, "Tt Tt"]],
        cross_mask: Callable[[Tensor, Tensor], Tensor] | None = None,
    ):
        super().__init__()
        self.model, self.keep_of, self.cross_mask = model, keep_of, cross_mask

    def forward(self, read: tuple[Pairs, Int[Tensor, "B Tt"]]) -> Float[Tensor, "B Tt V"]:
        """Logits for the pairs and the inputs of the decoder."""
        pairs, inputs = read
        encoded, source_keep = self.model.encode(pairs.source), pairs.source != PAD
        if self.cross_mask is not None:
            wider = pairs.target.shape[1] - pairs.source.shape[1]
            encoded = nn.functional.pad(encoded, (0, 0, 0, wider))
            source_keep = self.cross_mask(nn.functional.pad(source_keep, (0, wider)), pairs.target != PAD)
        return self.model.decode(inputs, encoded, source_keep, self.keep_of(inputs.shape[1]))


def token_loss(logits: Float[Tensor, "B Tt V"], target: Int[Tensor, "B Tt"]) -> Tensor:
    """Mean cross-entropy of the target's tokens in nats, without padding."""
    return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)


def decoder_weights(layer: DecoderLayer) -> dict[str, Tensor]:
    """The weights of a decoder layer under the names of the `DecoderBlock` that students write in notebook 04."""
    own, state = layer.own, {name: getattr(layer, name).data for name in ("W_q", "W_k", "W_v")}
    for part in ("weight", "bias"):
        packed = getattr(own, f"in_proj_{part}").data.chunk(3)
        state |= {f"own.{name}.{part}": x for name, x in zip(("query", "key", "value"), packed, strict=True)}
        pairs = {"own.output": own.out_proj, "feed.widen": layer.feed[0], "feed.narrow": layer.feed[2]}
        pairs |= dict(zip(("norm_own", "norm_cross", "norm_feed"), layer.norms, strict=True))
        state |= {f"{name}.{part}": getattr(module, part).data for name, module in pairs.items()}
    return state


def teacher_forced(model: nn.Module, pairs: Pairs) -> Tensor:
    """The loss when each target token is predicted from the correct tokens before it."""
    inputs = torch.cat([torch.full((len(pairs), 1), BOS), pairs.target[:, :-1]], dim=1)
    tokens = inputs.shape[1]
    keep = torch.ones(tokens, tokens, dtype=torch.bool).tril()  # Tt Tt
    return token_loss(model(pairs.source, inputs, keep), pairs.target)


def translator_losses(model: Translator, language: Language, batch: int, seed: int) -> Iterator[Tensor]:
    """The loss of one fresh batch after another."""
    rng = np.random.default_rng(seed)
    while True:
        yield teacher_forced(model, trimmed(sample_pairs(batch, rng, "train", language)))


def trimmed(pairs: Pairs) -> Pairs:
    """The same pairs without columns that are padding in every row."""
    source, target = (int((ids != PAD).sum(dim=1).max()) for ids in (pairs.source, pairs.target))
    return Pairs(pairs.source[:, :source], pairs.target[:, :target], pairs.origin[:, :target])


def learning_rate(step: int, steps: int) -> float:
    """The learning rate: a linear increase over the first twentieth of the steps, then a cosine decay to 0."""
    rise = max(steps // 20, 1)
    return RATE * min((step + 1) / rise, 0.5 * (1 + np.cos(np.pi * step / steps)))


def load_translator() -> Translator:
    """The trained translator, ready to translate. Its weights are stored in half precision."""
    return trained(Translator(), "translator")


def save_translator(model: nn.Module, folder: Path, name: str) -> None:
    """Write the weights in half precision."""
    weights = {name: value.half().contiguous() for name, value in model.state_dict().items()}
    save_file(weights, folder / f"{name}.safetensors")


def share_exactly_right(model: nn.Module, pairs: Pairs) -> float:
    """Fraction of sentences whose greedy translation is correct in every token."""
    return float(exactly_right(model, pairs).float().mean())


@torch.no_grad()
def exactly_right(model: nn.Module, pairs: Pairs) -> Bool[Tensor, " B"]:
    """Whether the greedy translation of each sentence is correct in every token."""
    encoded, source_keep = model.encode(pairs.source), pairs.source != PAD
    ids = torch.full((len(pairs), 1), BOS)
    for _ in range(int((pairs.target != PAD).sum(dim=1).max())):
        T = ids.shape[1]
        logits = model.decode(ids, encoded, source_keep, torch.ones(T, T, dtype=torch.bool).tril())
        ids = torch.cat([ids, logits[:, -1:].argmax(-1)], dim=1)
    guesses = ids[:, 1:]
    wanted = pairs.target[:, : guesses.shape[1]]
    return ((guesses == wanted) | (wanted == PAD)).all(dim=1)
