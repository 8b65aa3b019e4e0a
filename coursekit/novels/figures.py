"""How good the models of the novels are on authors not seen in training, compared with models that only count.

Across vocabularies, losses are compared in nats per character. Gaps are words that are a single subword in every
vocabulary, so all models predict the same words in the same sentences.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import BertForMaskedLM, PreTrainedTokenizerBase

from coursekit.novels import missing_head
from coursekit.novels.corpus import ROW, SPECIAL, WORDS, Corpus, Ragged
from coursekit.novels.kneser_ney import KneserNey
from coursekit.small.bert import BERT, BOS, CLS, EOS, MASK, PAD, SEP, UNK
from coursekit.small.elmo import ELMo, Spelling, both_losses
from coursekit.small.gpt import GPT, next_word_losses

BATCH = 32

LogitsAt = Callable[[Int[Tensor, "B T"], Int[Tensor, " B"]], Float[Tensor, "B V"]]
Side = Literal["both", "left", "right"]
"""What a model may read of a row: everything, or one side of the gap only."""
Found = tuple[Int[np.ndarray, " gaps"], Float[np.ndarray, " gaps"]]
"""For each gap, the number of words that are more probable than the correct one, and −log p of the correct one in nats."""


# --- losses ---


@torch.no_grad()
def losses_of_gpt(model: GPT, corpus: Corpus, split: str, rows: Sequence[int]) -> Float[np.ndarray, " rows"]:
    """-log p of each row, in nats."""
    found, pieces = [], corpus.rows(split)
    for numbers in _in_batches(rows):
        ids = torch.from_numpy(pieces.padded(numbers, BOS))
        found.append(next_word_losses(model(ids), ids).sum(dim=1))
    return torch.cat(found).numpy()


@torch.no_grad()
def losses_of_elmo(
    model: ELMo, spelling: Spelling, corpus: Corpus, split: str, rows: Sequence[int]
) -> tuple[Float[np.ndarray, "2 rows"], Float[np.ndarray, "2 rows"]]:
    """-log p of each row, in nats, from left to right and from right to left; words that it cannot predict are [UNK].

    First, the losses of the words alone, as for the models that count. Then each direction's loss for the end that it
    reaches ([EOS] or [BOS]): with this loss, the total is −log p of the row, and by the chain rule the lowest possible total
    is the same in both directions.
    """
    of_words, of_ends, words = [], [], corpus.word_rows(split)
    for numbers in _in_batches(rows):
        ids = torch.from_numpy(words.padded(numbers, BOS, EOS))
        targets = ids.masked_fill(ids >= model.config.vocabulary, UNK)
        losses = torch.stack(both_losses(model(spelling.of_ids(ids), ids != PAD), targets))  # 2 B T-1
        ends = torch.stack([targets[:, 1:] == EOS, targets[:, :-1] == BOS])
        of_words.append(losses.masked_fill(ends, 0.0).sum(dim=2))
        of_ends.append(losses.masked_fill(~ends, 0.0).sum(dim=2))
    return torch.cat(of_words, dim=1).numpy(), torch.cat(of_ends, dim=1).numpy()


def losses_of_counts(model: KneserNey, rows: Ragged, numbers: Sequence[int]) -> Float[np.ndarray, " rows"]:
    """-log p of each row, which begins with BOS."""
    return np.array([-model.log_p(np.append(BOS, rows[number]))[1:].sum() for number in numbers])


def stream(rows: Ragged, most: int | None = None) -> Int[np.ndarray, " N"]:
    """All rows in one, each preceded by BOS; ids of `most` and above are replaced by UNK."""
    places = np.arange(rows.values.size) + np.repeat(np.arange(1, len(rows) + 1), rows.lengths)
    whole = np.full(rows.values.size + len(rows), BOS, dtype=np.int64)
    values = np.asarray(rows.values, dtype=np.int64)
    whole[places] = values if most is None else np.where(values < most, values, UNK)
    return whole


# --- gaps ---


@dataclass(frozen=True)
class Gap:
    """A word that is removed from a row."""

    row: int
    place: int
    word: int


def draw_gaps(
    corpus: Corpus, split: str, count: int, fits: Callable[[str], bool], seed: int = 0
) -> list[Gap]:
    """Gaps at random words for which `fits` is true and that can be predicted; at most one in each row of text."""
    rng, rows = np.random.default_rng(seed), corpus.word_rows(split)
    found = []
    for row in rng.permutation(len(rows)):
        places = [
            place
            for place, word in enumerate(rows[row])
            if len(SPECIAL) <= word < WORDS and corpus.words[word].isalpha() and fits(corpus.words[word])
        ]
        if places:
            place = int(rng.choice(places))
            found.append(Gap(int(row), place, int(rows[row][place])))
        if len(found) == count:
            break
    return found


def cut_to(words: Sequence[str], place: int, side: Side) -> tuple[Sequence[str], int]:
    """The words of a row up to the gap, from the gap on, or all of them; and the position of the gap among these words."""
    if side == "left":
        return words[: place + 1], place
    return (words[place:], 0) if side == "right" else (words, place)


def with_gap(words: Sequence[str], place: int, pieces_of: Callable[[str], list[int]], mask: int) -> list[int]:
    """A row as subwords, with a mask for one of its words; if there are more than ROW subwords, those around the gap."""
    before = [piece for word in words[:place] for piece in pieces_of(word)]
    after = [piece for word in words[place + 1 :] for piece in pieces_of(word)]
    start = max(0, len(before) - max(ROW // 2, ROW - 1 - len(after)))
    return [*before[start:], mask, *after][:ROW]


@torch.no_grad()
def ranks_of_gaps(
    logits_at: LogitsAt,
    rows: Sequence[Sequence[int]],
    targets: Sequence[int],
    ends: tuple[int, int],
    mask: int,
) -> Found:
    """Ranks and nats of the missing words from `logits_at(ids, places)`: the logits at one position of each row."""
    found = []
    for numbers in _in_batches(range(len(rows))):
        whole = [torch.tensor([ends[0], *rows[number], ends[1]]) for number in numbers]
        ids = pad_sequence(whole, batch_first=True)
        log_p = logits_at(ids, (ids == mask).int().argmax(dim=1)).log_softmax(dim=1)
        found.append(found_by(log_p, torch.tensor([targets[number] for number in numbers])))
    return _joined(found)


def found_by(log_p: Float[Tensor, "B V"], right: Int[Tensor, " B"]) -> tuple[Tensor, Tensor]:
    """The number of words that are more probable than the correct one, and −log p of the correct one."""
    of_right = log_p.gather(1, right[:, None])
    return (log_p > of_right).sum(dim=1), -of_right[:, 0]


def _joined(batches: Sequence[tuple[Tensor, Tensor]]) -> Found:
    ranks, nats = zip(*batches, strict=True)
    return torch.cat(ranks).numpy(), torch.cat(nats).numpy()


def gaps_of_bert(model: BERT, corpus: Corpus, split: str, gaps: Sequence[Gap], side: Side = "both") -> Found:
    """Ranks and nats of our own BERT."""

    def logits_at(ids, places):
        top = model.encode(model.embeddings(ids, torch.zeros_like(ids)), ids != PAD)[-1]
        return model.masked_word(top[range(len(ids)), places], model.embeddings.token.weight)

    def pieces_of(word: str) -> list[int]:
        return corpus.tokenizer.encode(word, add_special_tokens=False).ids

    return of_gaps(corpus, split, gaps, logits_at, pieces_of, (CLS, SEP), MASK, side)


def gaps_of_minilm(
    model: BertForMaskedLM,
    tokenizer: PreTrainedTokenizerBase,
    corpus: Corpus,
    split: str,
    gaps: Sequence[Gap],
    side: Side = "both",
) -> Found:
    """Ranks and nats of MiniLM with its new head."""

    def logits_at(ids, places):
        top = model.bert(ids, attention_mask=(ids != 0).long()).last_hidden_state
        return model.cls(top[range(len(ids)), places])

    def pieces_of(word: str) -> list[int]:
        return tokenizer.encode(word, add_special_tokens=False)

    ends = (missing_head.CLS, missing_head.SEP)
    return of_gaps(corpus, split, gaps, logits_at, pieces_of, ends, missing_head.MASK, side)


def of_gaps(
    corpus: Corpus,
    split: str,
    gaps: Sequence[Gap],
    logits_at: LogitsAt,
    pieces_of: Callable[[str], list[int]],
    ends: tuple[int, int],
    mask: int,
    side: Side = "both",
) -> Found:
    """Ranks and nats of a model that reads subwords."""
    rows = corpus.word_rows(split)
    masked = [
        with_gap(*cut_to([corpus.words[word] for word in rows[gap.row]], gap.place, side), pieces_of, mask)
        for gap in gaps
    ]
    targets = [pieces_of(corpus.words[gap.word])[0] for gap in gaps]
    return ranks_of_gaps(logits_at, masked, targets, ends, mask)


@torch.no_grad()
def gaps_of_elmo(
    model: ELMo,
    spelling: Spelling,
    corpus: Corpus,
    split: str,
    gaps: Sequence[Gap],
    unigrams: Float[np.ndarray, " V"],
) -> dict[Side, Found]:
    """Ranks and nats of ELMo: of the forward stack ("left"), of the backward stack ("right"), and of "both".

    Neither stack reads the word of the gap. The two stacks are separate, so for "both" the probability is proportional to
    p(w | left) p(w | right) / p(w), as if the sides were independent given the word. `unigrams` contains log p(w) of all
    words; a word with −∞ is never predicted.
    """
    words, prior = corpus.word_rows(split), torch.from_numpy(unigrams).float()
    found: dict[Side, list[tuple[Tensor, Tensor]]] = {"both": [], "left": [], "right": []}
    for some in _in_batches(gaps):
        ids = torch.from_numpy(words.padded([gap.row for gap in some], BOS, EOS))
        at = torch.tensor([gap.place + 1 for gap in some])
        right_words = torch.tensor([gap.word for gap in some])
        left, right = model.encode(model.token(spelling.of_ids(ids)), ids != PAD)[-1].chunk(2, dim=-1)
        before = model.softmax(left[range(len(some)), at - 1]).log_softmax(dim=1)
        after = model.softmax(right[range(len(some)), at + 1]).log_softmax(dim=1)
        both = (before + after - prior).masked_fill(prior.isinf(), float("-inf")).log_softmax(dim=1)
        for side, log_p in (("both", both), ("left", before), ("right", after)):
            found[side].append(found_by(log_p, right_words))
    return {side: _joined(batches) for side, batches in found.items()}


def gaps_of_counts(
    model: KneserNey, corpus: Corpus, split: str, gaps: Sequence[Gap], side: Side = "both"
) -> Found:
    """Ranks and nats of n-grams of words: p(w | context) is proportional to the probability of the context with w in the gap."""
    rows, reach = corpus.word_rows(split), model.order - 1
    ranks, nats = [], []
    for gap in gaps:
        row = np.append(BOS, np.where(rows[gap.row] < WORDS, rows[gap.row], UNK)).astype(np.int64)
        place = gap.place + 1
        start = place if side == "right" else max(0, place - reach)
        around = row[start : place + 1 + (0 if side == "left" else reach)]
        candidates = np.repeat(around[None], WORDS, axis=0)
        at = place - start
        candidates[:, at] = np.arange(WORDS)
        log_p = model.log_p(candidates)[:, at:].sum(axis=1)
        log_p -= np.logaddexp.reduce(log_p)
        ranks.append((log_p > log_p[gap.word]).sum())
        nats.append(-log_p[gap.word])
    return np.array(ranks), np.array(nats)


def _in_batches(rows: Sequence[Any]) -> list[Sequence[Any]]:
    return [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]
