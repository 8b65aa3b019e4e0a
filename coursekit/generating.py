"""Text from decoders: sentences of the language, and texts that larger models continue, with a student's functions for sampling."""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, pad

from coursekit.language import BOS, EOS, PAD, Language
from coursekit.models.loading import Loaded

Sample = Callable[[Tensor, Tensor, float, int], tuple[Tensor, Tensor]]
"""sample(logits, draws, temperature, k) returns the probabilities and a token for each row."""
TopP = Callable[[Tensor, float], Tensor]
"""top_p(probabilities, p) returns the probabilities of the nucleus."""


def cost_of_generating(build: Callable[..., nn.Module], T: int, cached: bool) -> tuple[int, float]:
    """The number of token passes through an untrained decoder, and the time in milliseconds, for generating T tokens."""
    model = build(vocabulary=100, tokens=T, dim=64, layers=4, heads=4, inner=256).eval()
    model.reset(cached)
    ids = new = torch.zeros(1, 1, dtype=torch.long)
    start, passes = perf_counter(), 0
    with torch.no_grad():
        for _ in range(T):
            read = new if cached else ids
            new = model(read)[:, -1:].argmax(dim=-1)
            passes, ids = passes + read.shape[1], torch.cat([ids, new], dim=1)
    return passes, 1000 * (perf_counter() - start)


@torch.no_grad()
def one_sentence(model: nn.Module, language: Language, seed: int = 0) -> str:
    """A sentence sampled from a model with a cache."""
    generator, ids = torch.Generator().manual_seed(seed), [BOS]
    model.reset(cached=True)
    while ids[-1] != EOS and len(ids) < language.max_length:
        probabilities = model(torch.tensor([ids[-1:]]))[0, -1].softmax(dim=-1)
        ids.append(torch.multinomial(probabilities, 1, generator=generator).item())
    model.reset()
    return language.decode(ids)


@torch.no_grad()
def write_sentences(
    model: nn.Module, n: int, temperature: float = 1.0, k: int = 0, p: float = 1.0, seed: int = 0,
    *, language: Language, sample: Sample, top_p: TopP,
) -> Int[Tensor, "n T"]:  # fmt: skip
    """n sentences generated with `sample`, `top_p` and the model's cache, padded after [EOS]; k = 0 keeps all tokens."""
    generator, ids = torch.Generator().manual_seed(seed), torch.full((n, 1), BOS)
    ended = torch.zeros(n, dtype=torch.bool)
    model.reset(cached=True)
    while ids.shape[1] < language.max_length and not ended.all():
        logits, draws = model(ids[:, -1:])[~ended, -1], torch.rand(n, generator=generator)[~ended]
        most, tokens = k or logits.shape[1], torch.full((n,), PAD)
        if p < 1:
            logits = top_p((logits / temperature).softmax(dim=-1), p).log() * temperature
            most = min(most, int((logits > -torch.inf).sum(dim=1).max()))
        tokens[~ended] = sample(logits, draws, temperature, most)[1]
        ids, ended = torch.cat([ids, tokens[:, None]], dim=1), ended | (tokens == EOS)
    model.reset()
    return pad(ids, (0, language.max_length - ids.shape[1]), value=PAD)


def are_possible(language: Language, ids: Int[Tensor, "n T"]) -> Bool[np.ndarray, " n"]:
    """Which sentences end and have a positive probability in the language."""
    return np.isfinite(language.log_probability(ids.numpy())) & (ids == EOS).any(dim=1).numpy()


def possible_and_varied(
    language: Language, draws: Sequence[Int[Tensor, "n T"]]
) -> Float[np.ndarray, "draws 2"]:
    """For each draw, the fraction of sentences that are possible in the language, and the number of different words."""
    return np.array([(are_possible(language, ids).mean(), len(ids.unique())) for ids in draws])


def true_sentences(language: Language, n: int, seed: int) -> Int[Tensor, "n T"]:
    """Sentences of the language."""
    return torch.from_numpy(language.sample(n, np.random.default_rng(seed)).ids)


def words_above_the_line(
    drawn: Mapping[str, Float[np.ndarray, "draws 2"]], name: str
) -> Float[np.ndarray, " draws"]:
    """For each draw, the number of words minus the number at the temperature with the same fraction of possible sentences.

    `drawn` contains `possible_and_varied` for each setting; the line joins the temperatures, whose names are numbers.
    """
    line = np.array([runs for setting, runs in drawn.items() if not setting.startswith("top")])  # t draws 2
    return np.array([
        words - np.interp(-share, -line[:, draw, 0], line[:, draw, 1])
        for draw, (share, words) in enumerate(drawn[name])
    ])  # fmt: skip


def padded_with_end(labels_of: Callable[[Tensor, int], Tensor]) -> Callable[[Tensor], Tensor]:
    """A function from padded sequences to the labels that `labels_of` gives them if they are padded with [EOS] instead."""
    return lambda ids: labels_of(ids.masked_fill(ids == PAD, EOS), EOS)


@torch.no_grad()
def endings(model: nn.Module, held_out: Int[Tensor, "N T"], sampled: int = 200) -> dict[str, float]:
    """The loss per word, the loss per [EOS], and the fraction of sampled sentences that end within the maximum length."""
    target, ids = held_out[:, 1:], torch.full((sampled, 1), BOS)
    losses = cross_entropy(model(held_out)[:, :-1].transpose(1, 2), target, reduction="none")
    generator = torch.Generator().manual_seed(0)
    for _ in range(held_out.shape[1] - 1):
        probabilities = model(ids)[:, -1].softmax(dim=-1)
        ids = torch.cat([ids, torch.multinomial(probabilities, 1, generator=generator)], dim=1)
    return {
        "nats per word": losses[(target != PAD) & (target != EOS)].mean().item(),
        "nats per [EOS]": losses[target == EOS].mean().item(),
        "sentences that end": (ids == EOS).any(dim=1).float().mean().item(),
    }


@torch.no_grad()
def log_probabilities(model: nn.Module, ids: Int[Tensor, "n T"]) -> Float[Tensor, " n"]:
    """log p of each padded sentence under the model, in nats."""
    log_p = model(ids)[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
    return (log_p * (ids[:, 1:] != PAD)).sum(dim=1)


@torch.no_grad()
def continue_text(
    loaded: Loaded, text: str, tokens: int,
    settings: Sequence[tuple[float, int, float]] = ((1.0, 1, 1.0),), seed: int = 0,
    *, sample: Sample, top_p: TopP,
) -> list[str]:  # fmt: skip
    """One continuation of `text` for each (temperature, k, p), up to the end-of-text token; the library's cache is used."""
    words = loaded.tokenizer
    ids = torch.tensor([words(text, add_special_tokens=False).input_ids] * len(settings))
    generator, cache, written = torch.Generator().manual_seed(seed), None, []
    for _ in range(tokens):
        output = loaded.model(ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
        logits, cache = output.logits[:, -1], output.past_key_values
        draws = torch.rand(len(settings), generator=generator)
        chosen = []
        for row, point, (temperature, k, p) in zip(logits, draws, settings, strict=True):
            probabilities, token = sample(row[None], point[None], temperature, k)
            if p < 1:
                kept = top_p(probabilities, p)
                token = sample(kept.log(), point[None], 1.0, int((kept > 0).sum()))[1]
            chosen.append(token)
        ids = torch.stack(chosen)  # B 1: the next input
        written.append(ids)
        if (torch.cat(written, dim=1) == words.eos_token_id).any(dim=1).all():
            break
    rows = torch.cat(written, dim=1).tolist()
    ends = [[*row, words.eos_token_id].index(words.eos_token_id) for row in rows]
    return [words.decode(row[:end]) for row, end in zip(rows, ends, strict=True)]


def next_turn(continue_text: Callable[[str, int], list[str]], *turns: str, tokens: int = 40) -> str:
    """A chat model's next turn in a dialogue of user, assistant, user, …"""
    who = ("user", "assistant") * len(turns)
    marked = "".join(f"<|im_start|>{one}\n{text}<|im_end|>\n" for one, text in zip(who, turns, strict=False))
    answer = continue_text(f"{marked}<|im_start|>assistant\n", tokens)[0]
    return " ".join(answer.replace("<|im_end|>", " ").split())


@torch.no_grad()
def continue_novel(
    model: nn.Module, pieces: Any, text: str, tokens: int, temperature: float = 0.8, p: float = 0.9, seed: int = 0,
    *, sample: Sample, top_p: TopP,
) -> str:  # fmt: skip
    """The continuation of `text` by the novels' GPT and its tokeniser, with its cache and without special tokens."""
    ids = [BOS, *pieces.encode(text, add_special_tokens=False).ids][-(128 - tokens) :]
    new, written, generator = torch.tensor([ids]), [], torch.Generator().manual_seed(seed)
    model.reset(cached=True)
    for _ in range(tokens):
        logits = model(new)[:, -1]
        logits[:, : pieces.token_to_id("[SEP]") + 1] = -torch.inf
        kept = top_p(sample(logits, torch.zeros(1), temperature, logits.shape[1])[0], p)
        new = sample(kept.log(), torch.rand(1, generator=generator), 1.0, kept.shape[1])[1][:, None]
        written.append(new.item())
    model.reset()
    return pieces.decode(written)
