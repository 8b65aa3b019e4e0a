"""What the words on each side of a gap are worth, exactly and to the small models, and which side a vector depends on (notebook 06)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from coursekit.language import Language
from coursekit.small.bert import BERT, MASK, PAD, SEP, single
from coursekit.small.elmo import ELMo, Spelling, both_losses
from coursekit.small.gpt import GPT


@torch.no_grad()
def distributions_at(
    language: Language, bert: BERT, words: str, place: int
) -> dict[str, Float[np.ndarray, " V"]]:
    """Three distributions of the word at a position: exact given the left side, exact given both sides, and BERT's.

    Positions are counted from 1.
    """
    ids = language.encode(words)[None]
    masked = np.zeros(ids.shape, dtype=bool)
    masked[0, place] = True
    hidden = single(torch.from_numpy(ids)).masked_fill(torch.from_numpy(masked), MASK)
    return {
        "exact, given the words before": language.next_word(ids)[0, place],
        "exact, given both sides": language.masked_word(ids, masked)[0, place],
        "small BERT": bert(hidden).logits[0, place].softmax(dim=-1).numpy(),
    }


@dataclass(frozen=True)
class RightContext:
    """Losses in nats at every word of some sentences: `nats` by prediction; `following` is the number of words to its right."""

    nats: dict[str, Float[np.ndarray, " words"]]
    following: Int[np.ndarray, " words"]

    @property
    def worth(self) -> Float[np.ndarray, " words"]:
        """The worth of the right-hand context by the exact distributions, in nats."""
        return self.nats["exact, left"] - self.nats["exact, both"]

    @property
    def measured(self) -> float:
        """The difference between the mean losses of the two trained models, in nats."""
        return (self.nats["GPT, left"] - self.nats["BERT, both"]).mean()

    def worth_before(self, words: int) -> float:
        """The mean worth at words that are followed by so many others."""
        return self.worth[self.following == words].mean()


@torch.no_grad()
def right_context(
    language: Language, ids: Int[np.ndarray, "sentences tokens"], gpt: GPT, bert: BERT
) -> RightContext:
    """Mask one word at a time and predict it from the left side and from both sides, exactly and with the two models."""
    sentence_of, place_of = np.nonzero(ids > SEP)  # every word once
    target = torch.from_numpy(ids[sentence_of, place_of])
    one_hidden = np.zeros((len(target), ids.shape[1]), dtype=bool)
    one_hidden[np.arange(len(target)), place_of] = True
    next_words = gpt(torch.from_numpy(ids)).logits[sentence_of, place_of - 1]
    read = single(torch.from_numpy(ids[sentence_of])).masked_fill(torch.from_numpy(one_hidden), MASK)
    top = bert.encode(bert.embeddings(read, torch.zeros_like(read)), read != PAD)[-1]
    filled = bert.masked_word(top[torch.from_numpy(one_hidden)], bert.embeddings.token.weight)
    nats = {
        "exact, left": language.log_loss_next(ids)[sentence_of, place_of],
        "exact, both": language.log_loss_masked(ids[sentence_of], one_hidden)[one_hidden],
        "GPT, left": torch.nn.functional.cross_entropy(next_words, target, reduction="none").numpy(),
        "BERT, both": torch.nn.functional.cross_entropy(filled, target, reduction="none").numpy(),
    }
    return RightContext(nats, (ids[sentence_of] > SEP).sum(1) - place_of)


Encode = Callable[[Float[Tensor, "1 T D"], Tensor], Float[Tensor, "layers 1 T M"]]


def coordinates_that_depend(
    language: Language, elmo: ELMo, bert: BERT, words: str, place: int
) -> dict[str, dict[str, float]]:
    """The fractions of the coordinates of a word's last vector that depend on its left side, its right side, and both."""
    row = torch.from_numpy(language.encode(words, pad=False))[None]
    of_elmo = elmo.token(Spelling().of_ids(row)).detach()
    of_bert = bert.embeddings(single(row), torch.zeros_like(row)).detach()
    return {"ELMo": _sides(elmo.encode, of_elmo, place), "BERT": _sides(bert.encode, of_bert, place)}


def _sides(encode: Encode, x: Float[Tensor, "1 T D"], place: int) -> dict[str, float]:
    real = torch.ones(x.shape[:2], dtype=torch.bool)
    jacobian = torch.autograd.functional.jacobian(lambda x: encode(x, real)[-1][0, place], x)
    depends = jacobian[:, 0].abs().amax(dim=-1) > 0  # which coordinate depends on which word
    left, right = depends[:, :place].any(dim=1), depends[:, place + 1 :].any(dim=1)
    sides = {"its left": left, "its right": right, "both": left & right}
    return {name: side.float().mean().item() for name, side in sides.items()}


@torch.no_grad()
def elmo_losses(
    language: Language, elmo: ELMo, ids: Int[np.ndarray, "sentences tokens"]
) -> tuple[float, float, float]:
    """ELMo's losses per word, of the next word and of the previous word, and the entropy of the next word, in nats."""
    rows = torch.from_numpy(ids)
    one_way = both_losses(elmo.run(elmo.token(Spelling().of_ids(rows)), rows != PAD), rows)
    tokens = (rows != PAD).sum().item() - len(rows)
    forward, backward = (losses.sum().item() / tokens for losses in one_way)
    return forward, backward, language.log_loss_next(ids).sum() / tokens
