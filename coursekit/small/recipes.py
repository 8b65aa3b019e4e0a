"""How the small models are trained: the data and objective of each, the number of steps, and the learning rates."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from coursekit.language import PAD, Language
from coursekit.seq2seq import Seq2Seq
from coursekit.small.bert import BERT, MASK, SEP, UNCHOSEN, BERTConfig, corrupt, pair
from coursekit.small.elmo import ELMo, ELMoConfig, Spelling
from coursekit.small.gpt import GPT, GPTConfig, next_word_losses
from coursekit.translator import Translator, translator_losses

WARM_UP = 200
BLOCK = 32
"""Batches sampled at a time, because a large sample costs hardly more than a small one."""


@dataclass(frozen=True)
class Recipe:
    """How a model is trained. `losses` yields the loss of one fresh batch after another, in nats."""

    build: Callable[[Language], nn.Module]
    losses: Callable[[nn.Module, Language, int, int], Iterator[Tensor]]
    steps: int
    batch: int
    learning_rate: float
    weight_decay: float = 0.1
    decay_until: float = 1.0
    """The fraction of the steps with weight decay. Short weight vectors rotate further at each step, which helps at first; towards the end,
    decay would limit the weights of rare words."""
    slower: tuple[str, float] = ("", 1.0)
    """A part of the model, given by the prefix of its weights' names, and its fraction of the learning rate."""
    held_out: str = ""
    """The split of the text on which the curve is also measured; `losses` then accepts `split`."""

    def decay(self, step: int) -> float:
        """The weight decay at a step."""
        return self.weight_decay if step < self.decay_until * self.steps else 0.0


def new_model(recipe: Recipe, language: Language, seed: int) -> nn.Module:
    """The untrained model of a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return recipe.build(language)


def schedule(step: int, steps: int) -> float:
    """The fraction of the full learning rate at a step: a linear increase, then a cosine decay."""
    warm_up = min(WARM_UP, steps // 10 + 1)
    return min(1.0, (step + 1) / warm_up) * 0.5 * (1 + math.cos(math.pi * step / steps))


def weight_groups(model: nn.Module, recipe: Recipe) -> list[dict]:
    """Weight decay applies to matrices, but not to biases and layer norms. `share` is each group's fraction of the learning rate."""
    prefix, share = recipe.slower
    parts: dict[float, list[nn.Parameter]] = {}
    for name, weight in model.named_parameters():
        parts.setdefault(share if name.startswith(prefix) else 1.0, []).append(weight)
    return [
        {
            "params": [weight for weight in weights if (weight.ndim > 1) == decays],
            "share": share,
            "decays": decays,
        }
        for share, weights in parts.items()
        for decays in (True, False)
    ]


def set_rates(groups: list[dict], recipe: Recipe, step: int) -> None:
    """Learning rate and weight decay of each group at a step."""
    for group in groups:
        group["lr"] = recipe.learning_rate * group["share"] * schedule(step, recipe.steps)
        group["weight_decay"] = recipe.decay(step) if group["decays"] else 0.0


def sentences(language: Language, batch: int, seed: int) -> Iterator[Int[Tensor, "B T"]]:
    """An endless stream of new training sentences, each batch truncated to its longest sentence."""
    rng = np.random.default_rng(seed)
    while True:
        ids = torch.from_numpy(language.sample(BLOCK * batch, rng, "train").ids)
        yield from (cut(rows) for rows in ids.split(batch))


def cut(ids: Int[Tensor, "B T"]) -> Int[Tensor, "B T"]:
    """The rows without the columns that are padding in every row."""
    return ids[:, : int((ids != PAD).sum(dim=1).max())]


# --- GPT: the next word ---


def _build_gpt(language: Language) -> GPT:
    return GPT(GPTConfig(len(language.vocabulary), language.max_length))


def _gpt_losses(model: GPT, language: Language, batch: int, seed: int) -> Iterator[Tensor]:
    for ids in sentences(language, batch, seed):
        yield next_word_losses(model(ids), ids).sum() / (ids[:, 1:] != PAD).sum()


# --- ELMo: the next word and the word before ---


FILTERS = ((1, 8), (2, 16), (3, 48), (4, 64), (5, 64), (6, 64), (7, 64))
"""The filters of the character network: width and number. Wide filters see whole stems, as in the original."""


def _build_elmo(language: Language) -> ELMo:
    spelling = Spelling(language.vocabulary)
    sizes = {"dim": 128, "character_dim": 16, "filters": FILTERS}
    model = ELMo(ELMoConfig(len(language.vocabulary), spelling.characters, **sizes))
    model.token.spread(spelling.table)
    return model


def _elmo_losses(model: ELMo, language: Language, batch: int, seed: int) -> Iterator[Tensor]:
    spelling = Spelling(language.vocabulary)
    for ids in sentences(language, batch, seed):
        words, place = ids.unique(return_inverse=True)  # each word of the batch is spelt once
        vectors = model.token(spelling.of_ids(words))[place]  # B T D
        left, right = model.encode(vectors, ids != PAD)[-1].chunk(2, dim=-1)  # B T D each
        real = ids[:, 1:] != PAD  # B T-1
        following = nn.functional.cross_entropy(model.softmax(left[:, :-1][real]), ids[:, 1:][real])
        preceding = nn.functional.cross_entropy(model.softmax(right[:, 1:][real]), ids[:, :-1][real])
        yield following + preceding


# --- BERT: masked words, and whether the second sentence continues the first ---

ALONE = 0.2
"""The fraction of passages of which BERT reads only the first sentence, because it is later also given single sentences."""
MORE_MASKS = 0.2
"""The fraction of the words not chosen by the paper's 15 % that also become [MASK] and targets, so that each step has more to learn from."""


def _build_bert(language: Language) -> BERT:
    return BERT(BERTConfig(len(language.vocabulary), 2 * language.max_length - 1, dim=96, feed_forward=384))


def _bert_losses(model: BERT, language: Language, batch: int, seed: int) -> Iterator[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    for ids, segments, not_next in passages(language, batch, seed):
        corrupted, labels = corrupt(ids, len(language.vocabulary), generator)
        more = (torch.rand(ids.shape, generator=generator) < MORE_MASKS) & (ids > SEP) & (labels == UNCHOSEN)
        corrupted, labels = corrupted.masked_fill(more, MASK), torch.where(more, ids, labels)
        top = model.encode(model.embeddings(corrupted, segments), ids != PAD)[-1]  # B T D
        chosen = labels != UNCHOSEN  # B T: only these are passed on; the other logits are not needed
        logits = model.masked_word(top[chosen], model.embeddings.token.weight)
        masked_word = nn.functional.cross_entropy(logits, labels[chosen])
        yield masked_word + nn.functional.cross_entropy(model.next_sentence(top), not_next)


def passages(
    language: Language, batch: int, seed: int
) -> Iterator[tuple[Int[Tensor, "B T"], Int[Tensor, "B T"], Int[Tensor, " B"]]]:
    """New passages as ids, segments and labels (0 "continues", 1 "does not", UNCHOSEN where a stands alone)."""
    rng = np.random.default_rng(seed)
    while True:
        block = language.passages(BLOCK * batch, rng, "train")
        first, second = torch.from_numpy(block.first.ids), torch.from_numpy(block.second.ids)
        alone = torch.from_numpy(rng.random(len(block)) < ALONE)
        second = second.masked_fill(alone[:, None], PAD)
        not_next = torch.from_numpy(~block.continues).long().masked_fill(alone, UNCHOSEN)
        ids, segments = pair(first, second)
        for rows in torch.arange(len(ids)).split(batch):
            shorter = cut(ids[rows])
            yield shorter, segments[rows, : shorter.shape[1]], not_next[rows]


# --- the translator: each token of the translation, from the sentence and the tokens before it ---


def _build_translator(language: Language) -> Translator:
    return Translator(language=language)


# --- translators of one size and one training: what the decoder knows of the source ---


def _build_seq2seq_fixed(language: Language) -> Seq2Seq:
    return Seq2Seq("fixed", language=language)


def _build_seq2seq_additive(language: Language) -> Seq2Seq:
    return Seq2Seq("additive", language=language)


def _build_seq2seq_dot(language: Language) -> Seq2Seq:
    return Seq2Seq("dot", language=language)


COMPARED = {"steps": 4_000, "batch": 64, "learning_rate": 4e-3, "weight_decay": 0.0}

RECIPES = {
    "gpt": Recipe(_build_gpt, _gpt_losses, steps=6_000, batch=128, learning_rate=5e-3),
    "bert": Recipe(_build_bert, _bert_losses, steps=30_000, batch=64, learning_rate=3e-3, decay_until=0.5),
    "elmo": Recipe(
        _build_elmo,
        _elmo_losses,
        steps=20_000,
        batch=64,
        learning_rate=8e-3,
        weight_decay=0.01,
        slower=(
            "token.",
            0.1,
        ),  # all words share the character network, so each step changes every word vector
    ),
    "translator": Recipe(
        _build_translator, translator_losses, steps=5_000, batch=64, learning_rate=3e-3, weight_decay=0.0
    ),
    "seq2seq_fixed": Recipe(_build_seq2seq_fixed, translator_losses, **COMPARED),
    "seq2seq_additive": Recipe(_build_seq2seq_additive, translator_losses, **COMPARED),
    "seq2seq_dot": Recipe(_build_seq2seq_dot, translator_losses, **COMPARED),
    "seq2seq_transformer": Recipe(_build_translator, translator_losses, **COMPARED),
}
