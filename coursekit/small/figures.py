"""Evaluation of a small model against the exact bounds: losses, word senses and next-sentence prediction."""

import functools
from collections.abc import Callable
from dataclasses import asdict, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from coursekit.batches import by_length
from coursekit.exam import QUESTIONS, Accuracy, nearest_sense, sense_exam
from coursekit.language import PAD, Language, Sentences, load_language
from coursekit.language.bounds import choose_masked
from coursekit.small.bert import BERT, MASK, pair, single
from coursekit.small.elmo import ELMo, Spelling, both_losses
from coursekit.small.gpt import GPT, next_word_losses
from coursekit.translator import Pairs, Translator, exactly_right, sample_pairs, share_exactly_right

SENTENCES, SEED = 4_000, 4_099
"""The seed of the final results. Recipes were chosen on other sentences (with another seed)."""
ROWS = 500
"""The number of sentences that a model processes at a time."""
LENGTHS = (5, 6), (7, 7), (8, 8), (9, 9), (10, 10), (11, 11), (12, 15)
"""Groups of sentence lengths in words; each group has over 200 of the 4,000 held-out sentences."""
MORE_LABELS = 6_000, 96_000
"""Numbers of labelled sentences in two other tests: a quarter and four times those of the scoreboard."""


@torch.no_grad()
def measure(name: str, model: nn.Module, sentences: int = SENTENCES, seed: int = SEED) -> dict[str, float]:
    """All results of a model, under their names on its card."""
    language, rng = load_language(), np.random.default_rng(seed)
    if name.startswith("seq2seq"):
        return _by_length(model, held_out_pairs(sentences, seed))
    if name == "translator":
        pairs = sample_pairs(sentences, rng, "held_out")
        right = sum(len(rows) * share_exactly_right(model, rows) for rows in in_parts(pairs)) / len(pairs)
        return {"held-out: exactly right": right} | _senses(model)
    figures = {}
    for side, text in (("held_out", "held-out"), ("train", "fresh training-side")):
        sample = language.sample(sentences, rng, side)
        figures |= LOSSES[name](model, language, sample, rng, text)
        if name != "bert":
            gain = language.split_gain(sample, side).sum() / (sample.lengths - 1).sum()
            figures[f"{text}: gain per token from knowing the split"] = float(gain)
    if name == "bert":
        figures |= next_sentence(model, language, sentences, rng)
    return figures | _senses(model)


@functools.cache
def held_out_pairs(n: int, seed: int) -> Pairs:
    """Held-out sentences with their translations."""
    return sample_pairs(n, np.random.default_rng(seed), "held_out")


def _by_length(model: nn.Module, pairs: Pairs) -> dict[str, float]:
    """The fraction of sentences translated exactly, for all lengths and for each group of lengths."""
    right = torch.cat([exactly_right(model, rows) for rows in in_parts(pairs)]).float()
    words = (pairs.source != PAD).sum(dim=1) - 2  # [BOS] and [EOS] are not words
    figures = {"held-out: exactly right": right.mean().item()}
    for low, high in LENGTHS:
        figures[length_figure(low, high)] = right[(words >= low) & (words <= high)].mean().item()
    return figures


def length_figure(low: int, high: int) -> str:
    """The name of the fraction of exactly translated sentences in a group of lengths."""
    return f"held-out: exactly right, {low if low == high else f'{low} to {high}'} words"


def in_parts(rows):
    """The rows in groups of ROWS."""
    return (rows[begin : begin + ROWS] for begin in range(0, len(rows), ROWS))


def gpt_loss(model: GPT, language: Language, sample: Sentences, rng, text: str) -> dict[str, float]:
    """Nats per token, and the excess over the bound on the same sentences."""
    ids = torch.from_numpy(sample.ids)
    total = sum(next_word_losses(model(rows), rows).sum().item() for rows in ids.split(ROWS))
    return compare(
        f"{text}: next word", total, language.log_loss_next(sample.ids), (sample.lengths - 1).sum()
    )


def elmo_loss(model: ELMo, language: Language, sample: Sentences, rng, text: str) -> dict[str, float]:
    """Nats per token in each direction, and the excess over the bound of that direction."""
    spelling, totals = Spelling(language.vocabulary), np.zeros(2)
    for rows in torch.from_numpy(sample.ids).split(ROWS):
        output = model(spelling.of_ids(rows), rows != 0)
        totals += [losses.sum().item() for losses in both_losses(output, rows)]
    count = (sample.lengths - 1).sum()
    after, before = language.log_loss_next(sample.ids), language.log_loss_previous(sample.ids)
    return compare(f"{text}: next word", totals[0], after, count) | compare(
        f"{text}: word before", totals[1], before, count
    )


def bert_loss(model: BERT, language: Language, sample: Sentences, rng, text: str) -> dict[str, float]:
    """Nats per masked word, one sentence at a time, with all chosen words as [MASK], as the bound assumes."""
    masked = choose_masked(sample.ids, rng)
    ids, hidden = torch.from_numpy(sample.ids), torch.from_numpy(masked)
    total = 0.0
    for rows, chosen in zip(ids.split(ROWS), hidden.split(ROWS), strict=True):
        logits = model(single(rows).masked_fill(chosen, MASK)).logits[chosen]
        total += nn.functional.cross_entropy(logits, rows[chosen], reduction="sum").item()
    bound = language.log_loss_masked(sample.ids, masked)
    return compare(f"{text}: masked word", total, bound, masked.sum())


def compare(what: str, total: float, bound: np.ndarray, count: int) -> dict[str, float]:
    """A loss, its bound, and the relative excess of the loss over the bound."""
    best = float(bound.sum())
    return {
        f"{what}, loss": float(total / count),
        f"{what}, bound": best / float(count),
        f"{what}, above the bound": float(total / best - 1),
    }


def next_sentence(
    model: BERT, language: Language, passages: int, rng: np.random.Generator
) -> dict[str, float]:
    """The accuracy of next-sentence prediction, and the best possible accuracy."""
    sample = language.passages(passages, rng, "held_out")
    ids, segments = pair(torch.from_numpy(sample.first.ids), torch.from_numpy(sample.second.ids))
    answers = torch.cat([
        model(a, b).next_sentence.argmax(dim=1) for a, b in zip(ids.split(ROWS), segments.split(ROWS), strict=True)
    ])  # fmt: skip
    best = language.continuation_posterior(sample.first.ids, sample.second.ids)
    return {
        "held-out: next sentence, accuracy": float(np.mean((answers.numpy() == 0) == sample.continues)),
        "held-out: next sentence, best possible accuracy": float(np.maximum(best, 1 - best).mean()),
    }


def _senses(model: nn.Module) -> dict[str, float]:
    """Accuracy on the course's test of word senses (1-NN, cosine) with the vectors of each layer; layer 0 is the embeddings.

    The top layer is also tested with fewer and with more labelled sentences than the scoreboard uses.
    """
    exam = sense_exam()
    labelled, held_out = sense_vectors(model, exam.labelled), sense_vectors(model, exam.held_out)
    figures = {}
    for layer, vectors in enumerate(labelled):
        figures |= by_name(sense_figure(layer), nearest_sense(exam, vectors, held_out[layer]))
    top = len(labelled) - 1
    for count in MORE_LABELS:
        more = load_language().sample(count, np.random.default_rng(count), "train")
        more = more[more.position >= 0]
        accuracy = nearest_sense(replace(exam, labelled=more), sense_vectors(model, more)[top], held_out[top])
        figures |= by_name(sense_figure(top, count), accuracy)
    return figures


def sense_figure(layer: int, labels: int | None = None) -> str:
    """The beginning of the name of a sense-test result, with this number of labelled sentences or that of the scoreboard."""
    return f"sense{f' with {labels:,} labels' if labels else ''}, layer {layer}"


def by_name(exam: str, accuracy: Accuracy) -> dict[str, float]:
    """The accuracies in a test, one for each kind of question."""
    return {f"{exam}, {QUESTIONS[kind]}": share for kind, share in asdict(accuracy).items()}


@torch.no_grad()
def sense_vectors(model: nn.Module, sentences: Sentences) -> Float[Tensor, "layers sentences D"]:
    """The vector of each sentence's ambiguous word at every layer."""
    hidden_of = hidden_states(model, sentences.vocabulary)
    ids, position = torch.from_numpy(sentences.ids), torch.from_numpy(sentences.position)
    lengths = (ids != PAD).sum(dim=1)

    def read(rows: Int[Tensor, " b"]) -> Float[Tensor, "layers b D"]:
        hidden = hidden_of(ids[rows, : lengths[rows].max()])  # layers b T D
        return hidden[:, torch.arange(len(rows)), position[rows]]

    return by_length(read, lengths, ROWS, dim=1)


def hidden_states(
    model: nn.Module, vocabulary: tuple[str, ...] | None = None
) -> Callable[[Tensor], Float[Tensor, "layers B T D"]]:
    """A function from rows of the language, `[BOS] words [EOS]`, to the model's hidden states at the same positions.

    ELMo spells the words of the vocabulary (by default that of the course's language). If a model allows it, no logits are
    computed, because they take most of the time.
    """
    if isinstance(model, ELMo):
        spelling = Spelling(vocabulary)
        return lambda ids: model.encode(_spelt_once(model, spelling, ids), ids != PAD)
    if isinstance(model, BERT):
        return lambda ids: model.encode(model.embeddings(single(ids), torch.zeros_like(ids)), ids != PAD)
    if isinstance(model, Translator):
        return model.hidden
    return lambda ids: model.encode(model.embed(ids))


def _spelt_once(model: ELMo, spelling: Spelling, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
    """The word vectors; each distinct word is spelt once."""
    words, place = ids.unique(return_inverse=True)
    return model.token(spelling.of_ids(words))[place]


LOSSES = {"gpt": gpt_loss, "elmo": elmo_loss, "bert": bert_loss}
