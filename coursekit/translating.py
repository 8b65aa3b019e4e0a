"""Translators run, trained and compared with the functions that students write in notebook 04."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.stats import binomtest
from torch import Tensor, nn

from coursekit.datasets import read_table
from coursekit.intervals import bootstrap
from coursekit.language import BOS, EOS, PAD
from coursekit.seq2seq import Seq2Seq
from coursekit.translator import (
    LONGEST,
    DecoderLayer,
    Pairs,
    Translator,
    WithTeacher,
    learning_rate,
    load_code,
    sample_pairs,
    token_loss,
    trimmed,
)
from coursekit.writing import bleu

Inputs = Callable[[Int[Tensor, "B Tt"]], Int[Tensor, "B Tt"]]
"""From a target to the input of the decoder."""
CrossMask = Callable[[Tensor, Tensor], Bool[Tensor, "B Tt Ts"]]


@torch.no_grad()
def translate(
    greedy_translate: Callable[..., Int[Tensor, "B longest"]], model: nn.Module, source: Int[Tensor, "B Ts"]
) -> Int[Tensor, "B longest"]:
    """Translations of some sentences by the student's `greedy_translate`."""
    encoded, source_keep = model.encode(source), source != PAD

    def next_logits(ids: Int[Tensor, "B t"]) -> Float[Tensor, "B t V"]:
        keep = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
        return model.decode(ids, encoded, source_keep, keep)

    return greedy_translate(next_logits, len(source), LONGEST, BOS, EOS, PAD)


def exactly_right(guesses: Int[Tensor, "B T"], target: Int[Tensor, "B T"]) -> float:
    """The fraction of sentences in which every token is correct."""
    return (guesses == target).all(dim=1).float().mean().item()


def exact_by_seed(name: str) -> Float[np.ndarray, " seed"]:
    """The share of 4,000 held-out sentences that a recorded model, such as "seq2seq_dot", translates exactly, for each seed."""
    rows = read_table(f"results/small_{name}.csv")
    return rows[rows.measure == "held-out: exactly right"].sort_values("seed").value.to_numpy()


@torch.no_grad()
def difference_from_layer(
    block: nn.Module,
    model: Translator,
    source: Int[Tensor, "B Ts"],
    cross_attention: Callable[..., tuple[Tensor, Tensor]],
    decoder_mask: Callable[[int], Bool[Tensor, "T T"]],
) -> float:
    """The largest difference between a block and the first layer of a model's decoder, for random inputs of 9 tokens."""
    layer: DecoderLayer = model.decoder[0]
    x = torch.randn(len(source), 9, layer.W_q.shape[0])
    encoded, source_keep = model.encode(source), source != PAD
    theirs = layer(x, encoded, source_keep, decoder_mask(9), cross_attention)
    return (block(x, encoded, decoder_mask(9)[None], source_keep) - theirs).abs().max().item()


# --- training ---


def translator_with(cross_attention: Callable[..., tuple[Tensor, Tensor]]) -> Translator:
    """An untrained transformer that uses the student's cross-attention."""
    model = Translator()
    model.cross = cross_attention
    return model


def additive_with(attention: Callable[..., tuple[Tensor, Tensor]]) -> Seq2Seq:
    """An untrained recurrent translator that uses the student's additive attention."""
    model = Seq2Seq("additive")
    model.attend = attention
    return model


@dataclass(frozen=True)
class Teacher:
    """Trains translators with the student's `training_step` and `decoder_mask`, and shows their progress with `greedy_translate`."""

    training_step: Callable[..., float]
    decoder_mask: Callable[[int], Bool[Tensor, "T T"]]
    greedy_translate: Callable[..., Int[Tensor, "B longest"]]

    def train(
        self,
        new_model: Callable[[], nn.Module],
        steps: int,
        inputs_of: Inputs,
        mask: CrossMask | None = None,
        seed: int = 0,
        show_at: Sequence[int] = (),
        shown: Int[Tensor, "1 Ts"] | None = None,
    ) -> tuple[nn.Module, list[float]]:
        """A translator trained on `steps` batches of 32 pairs, and its losses. After each step in `show_at`, it translates `shown`.

        `inputs_of` returns the input of the decoder for a target. `mask` replaces the mask of the cross-attention.
        """
        torch.manual_seed(seed)
        model, rng, losses = new_model(), np.random.default_rng(seed), []
        taught = WithTeacher(model, self.decoder_mask, mask)
        optimiser = torch.optim.Adam(model.parameters(), foreach=True)
        for step in range(steps):
            pairs = sample_pairs(32, rng)
            pairs = trimmed(pairs) if mask is None else pairs
            batch = (pairs, inputs_of(pairs.target)), pairs.target, pairs.target != PAD
            rate = learning_rate(step, steps)
            losses.append(self.training_step(taught, batch, optimiser, rate, 1.0))
            if step + 1 in show_at:
                written = load_code().decode(translate(self.greedy_translate, model, shown)[0])
                print(f"step {step + 1:>3}   loss {losses[-1]:.2f}   {written[:60]}")
        return model.eval(), losses

    @torch.no_grad()
    def held_out_loss(
        self, model: Translator, mask: CrossMask, pairs: Pairs, inputs: Int[Tensor, "B Tt"]
    ) -> float:
        """The loss in nats per token with this mask of the cross-attention."""
        logits = WithTeacher(model, self.decoder_mask, mask)((pairs, inputs))
        return token_loss(logits, pairs.target).item()


# --- free decoding and teacher forcing ---


@dataclass(frozen=True)
class Decodings:
    """Tokens predicted after correct prefixes ("forced") and after the model's own output ("free").

    token_share     the fraction of correct tokens of each kind
    behind_share    the same after the first error of a sentence in free decoding
    whole           for each kind, in which sentences every token is correct
    gaps            by how much the fraction of correct tokens is lower in free decoding, with its 95 % interval over sentences:
                    for "all tokens", and for those "after the first error"
    agree           the fraction of sentences that are entirely correct in both ways or in neither
    """

    token_share: dict[str, float]
    behind_share: dict[str, float]
    whole: dict[str, Bool[Tensor, " B"]]
    gaps: dict[str, tuple[float, float, float]]
    agree: float


def compare_decodings(
    forced: Bool[Tensor, "B Tt"], free: Bool[Tensor, "B Tt"], real: Bool[Tensor, "B Tt"]
) -> Decodings:
    """Compare where the predicted token is correct in the two ways; `real` is False at padding."""
    hits = {"forced": forced, "free": free}
    whole = {how: (hit | ~real).all(dim=1) for how, hit in hits.items()}
    first_error = (~free & real).int().argmax(dim=1)  # of sentences that have one
    behind = real & ~whole["free"][:, None] & (torch.arange(real.shape[1]) > first_error[:, None])

    def per_sentence(mask: Bool[Tensor, "B Tt"]) -> Int[np.ndarray, "B 3"]:
        return torch.stack([(hit & mask).sum(1) for hit in (forced, free, torch.ones_like(free))], 1).numpy()

    def gap(rows: Int[np.ndarray, "B 3"]) -> float:
        right_forced, right_free, count = rows.sum(axis=0)
        return (right_forced - right_free) / count

    counted = {"all tokens": per_sentence(real), "after the first error": per_sentence(behind)}
    return Decodings(
        {how: hit[real].float().mean().item() for how, hit in hits.items()},
        {how: hit[behind].float().mean().item() for how, hit in hits.items()},
        whole,
        {where: (gap(rows), *bootstrap(rows, gap)) for where, rows in counted.items()},
        (whole["forced"] == whole["free"]).float().mean().item(),
    )


# --- attention weights ---


@torch.no_grad()
def weights_of_attend(
    model: Seq2Seq, attention: Callable[..., tuple[Tensor, Tensor]], pairs: Pairs, inputs: Int[Tensor, "B Tt"]
) -> Float[Tensor, "B Tt Ts"]:
    """The weights of the student's attention in a recurrent translator at each token, given the inputs of the decoder."""
    seen: list[Tensor] = []
    model.attend = _recording(attention, seen)
    model(pairs.source, inputs)
    model.attend = attention
    return torch.stack(seen, dim=1)


@torch.no_grad()
def weights_of_cross(
    model: Translator,
    cross_attention: Callable[..., tuple[Tensor, Tensor]],
    pairs: Pairs,
    inputs: Int[Tensor, "B Tt"],
    keep: Bool[Tensor, "Tt Tt"],
) -> Float[Tensor, "layer B Tt Ts"]:
    """The weights of the student's cross-attention in each layer of a transformer's decoder, given its inputs."""
    seen: list[Tensor] = []
    model.cross = _recording(cross_attention, seen)
    model(pairs.source, inputs, keep)
    model.cross = cross_attention
    return torch.stack(seen)


def _recording(
    attention: Callable[..., tuple[Tensor, Tensor]], seen: list[Tensor]
) -> Callable[..., tuple[Tensor, Tensor]]:
    def recorded(*arguments: Tensor) -> tuple[Tensor, Tensor]:
        output, weights = attention(*arguments)
        seen.append(weights)
        return output, weights

    return recorded


def share_found(weights: Float[Tensor, "B Tt Ts"], origin: Int[Tensor, "B Tt"]) -> float:
    """The fraction of stems whose largest weight lies on the word that they translate. Suffixes and [EOS], which have no source
    word of their own, have the origin −1."""
    return (weights.argmax(-1) == origin)[origin >= 0].float().mean().item()


# --- search ---


@dataclass(frozen=True)
class Searches:
    """Greedy decoding compared with beam search on the same sentences.

    same            for each method, in which sentences every token is correct (1 or 0)
    scored          the BLEU of each method (0 to 1)
    nats            −log of the probability that the model assigns to each translation: of both methods, and of the correct one
    more_probable   in which sentences the beam's translation is more probable than the greedy one
    model_errors    in which sentences the greedy translation is more probable than the correct one
    only            the numbers of sentences that only the beam, and only greedy decoding, translates exactly
    mcnemar         the p-value of the exact McNemar test on these two
    """

    same: dict[str, Float[Tensor, " B"]]
    scored: dict[str, float]
    nats: dict[str, Float[Tensor, " B"]]
    more_probable: Bool[Tensor, " B"]
    model_errors: Bool[Tensor, " B"]
    only: tuple[int, int]
    mcnemar: float


@torch.no_grad()
def compare_searches(
    greedy: Int[Tensor, "B Tt"],
    beam: Int[Tensor, "B Tt"],
    target: Int[Tensor, "B Tt"],
    logits_of: Callable[[Int[Tensor, "B Tt"]], Float[Tensor, "B Tt V"]],
) -> Searches:
    """Compare two sets of translations. `logits_of` returns the model's logits for given targets after correct prefixes."""
    written = {"greedy": greedy, "beam of 4": beam}

    def nats_of(ids: Int[Tensor, "B Tt"]) -> Float[Tensor, " B"]:
        logits = logits_of(ids).transpose(1, 2)
        return nn.functional.cross_entropy(logits, ids, ignore_index=PAD, reduction="none").sum(dim=1)

    same = {how: (ids == target).all(dim=1).float() for how, ids in written.items()}
    nats = {how: nats_of(ids) for how, ids in (written | {"the correct translation": target}).items()}
    only_beam = int((same["beam of 4"] > same["greedy"]).sum())
    only_greedy = int((same["greedy"] > same["beam of 4"]).sum())
    differ = only_beam + only_greedy
    return Searches(
        same,
        {how: bleu(ids, target) for how, ids in written.items()},
        nats,
        nats["beam of 4"] < nats["greedy"] - 1e-3,
        nats["greedy"] < nats["the correct translation"] - 1e-3,
        (only_beam, only_greedy),
        binomtest(only_beam, differ).pvalue if differ else 1.0,
    )
