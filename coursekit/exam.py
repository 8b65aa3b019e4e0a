"""The sense exam of the course: which sense has the ambiguous word of a held-out sentence?

    exam = sense_exam()                                   # the same sentences for every model
    accuracy = nearest_sense(exam, vectors_of(exam.labelled), vectors_of(exam.held_out))
    accuracy.order2, bounds().words_before.order2         # a model's share, and the best possible from the words before

Every model is asked the same way: an occurrence of the word takes the sense of its nearest labelled occurrence. The
questions are of four kinds, by what in the sentence tells the sense.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit.intervals import mean_and_half
from coursekit.language import SPECIAL_TOKENS, Language, Sentences, load_language, sense_bound
from coursekit.language.blind import order_blind_accuracy

LABELLED, HELD_OUT, SEED = 24_000, 6_000, 2013
"""Sentences that are drawn; those without an ambiguous word are left out."""
TIE = 1e-5
"""Cosines closer than this count as equal: the same vector computed twice may differ in its last bits."""
QUESTIONS = {
    "left": "cue on the left",
    "right": "cue only on the right",
    "order1": "order, one clause",
    "order2": "order, two clauses",
}
"""The kinds of question, and what they are called in pictures."""


@dataclass(frozen=True)
class Accuracy:
    """Shares of right answers by kind of question.

    left      words before the ambiguous one tell its sense;    right     only words after it do.
    order1    the words tell nothing without their order, in a sentence of one clause;    order2    of two.
    """

    left: float
    right: float
    order1: float
    order2: float

    def __getitem__(self, kind: str) -> float:
        return getattr(self, kind)

    def __str__(self) -> str:
        return ", ".join(f"{QUESTIONS[kind]} {share:.3f}" for kind, share in asdict(self).items())


@dataclass(frozen=True)
class Exam:
    """Sentences with one ambiguous word each: `labelled` to learn from, `held_out` to be asked about."""

    labelled: Sentences
    held_out: Sentences

    def count(self, kind: str) -> int:
        """How many questions of a kind there are."""
        return int((self.held_out.cue == kind).sum())


@dataclass(frozen=True)
class Bounds:
    """What the exam allows: shares of these questions, but `no_order`, which is exact over the whole language.

    majority        the most frequent sense of the word;    no_order          the best from all words, but not their order;
    words_before    the best from the words before it;      whole_sentence    the best from the whole sentence.
    """

    majority: Accuracy
    no_order: Accuracy
    words_before: Accuracy
    whole_sentence: Accuracy


@cache
def sense_exam() -> Exam:
    """The exam that every model of the course takes."""
    return sense_exam_of(load_language())


def sense_exam_of(language: Language, labelled: int = LABELLED, held_out: int = HELD_OUT) -> Exam:
    """An exam on another language, or of another size: labelled sentences from the training side of the split."""
    rng = np.random.default_rng(SEED)
    marked, asked = language.sample(labelled, rng, "train"), language.sample(held_out, rng, "held_out")
    return Exam(marked[marked.position >= 0], asked[np.isin(asked.cue, list(QUESTIONS))])


def nearest_sense(
    exam: Exam, labelled: Float[Tensor, "labelled D"], held_out: Float[Tensor, "held_out D"]
) -> Accuracy:
    """Accuracy when each held-out word takes the sense of the most similar labelled occurrence of the same word.

    `labelled` and `held_out` hold the vector of the ambiguous word in each sentence of the exam. Among equally near
    neighbours the most frequent sense wins, so vectors that do not depend on the sentence score as the majority does.
    """
    return by_question(exam, nearest_hits(exam, labelled, held_out))


def nearest_hits(
    exam: Exam, labelled: Float[Tensor, "labelled D"], held_out: Float[Tensor, "held_out D"]
) -> Bool[np.ndarray, " held_out"]:
    """The same, question by question: whether each held-out word is given its sense."""
    for name, vectors, sentences in (
        ("labelled", labelled, exam.labelled),
        ("held_out", held_out, exam.held_out),
    ):
        if vectors.ndim != 2 or len(vectors) != len(sentences):
            raise ValueError(
                f"nearest_sense: {name} has shape {tuple(vectors.shape)}; give one vector for each of the exam's "
                f"{len(sentences)} {name.replace('_', '-')} sentences."
            )
    unit = torch.nn.functional.normalize
    labelled, held_out = unit(labelled.detach().float(), dim=1), unit(held_out.detach().float(), dim=1)
    words, senses = ambiguous_words(exam.labelled), torch.from_numpy(exam.labelled.sense)
    held_out_words = ambiguous_words(exam.held_out)
    guesses = np.full(len(held_out_words), -1)
    for word in np.unique(held_out_words):
        rows, here = np.flatnonzero(words == word), np.flatnonzero(held_out_words == word)
        similarity = held_out[here] @ labelled[rows].T
        near = similarity >= similarity.amax(dim=1, keepdim=True) - TIE
        votes = near.double() @ torch.nn.functional.one_hot(senses[rows]).double()
        guesses[here] = votes.argmax(dim=1).numpy()
    return guesses == exam.held_out.sense


def by_question(exam: Exam, right: Bool[np.ndarray, " held_out"]) -> Accuracy:
    """The share of right answers to each kind of question."""
    return Accuracy(*(float(right[exam.held_out.cue == kind].mean()) for kind in QUESTIONS))


def over_seeds(runs: Sequence[Accuracy]) -> dict[str, tuple[float, float, float]]:
    """By kind of question the mean over two or more seeds and its 95 % interval (Student's t), cut at 0 and 1."""
    mean, half = mean_and_half([list(asdict(run).values()) for run in runs])
    ends = zip(
        mean.tolist(), np.maximum(mean - half, 0).tolist(), np.minimum(mean + half, 1).tolist(), strict=True
    )
    return dict(zip(QUESTIONS, ends, strict=True))


def most_frequent(exam: Exam) -> Accuracy:
    """Accuracy of always answering with the most frequent sense of the word among the labelled sentences."""
    words, held_out_words = ambiguous_words(exam.labelled), ambiguous_words(exam.held_out)
    guess = {word: np.bincount(exam.labelled.sense[words == word]).argmax() for word in np.unique(words)}
    guesses = np.array([guess.get(word) for word in held_out_words])
    return by_question(exam, guesses == exam.held_out.sense)


@cache
def bounds() -> Bounds:
    """What is known of the exam without a model."""
    exam, language = sense_exam(), load_language()

    def best(context: str) -> Accuracy:
        asked = [exam.held_out[exam.held_out.cue == kind] for kind in QUESTIONS]
        return Accuracy(*(sense_bound(language, sentences, context).mean for sentences in asked))

    no_order = Accuracy(*(order_blind_accuracy(language, [kind]) for kind in QUESTIONS))
    return Bounds(most_frequent(exam), no_order, best("left"), best("both"))


def counts(language: Language, sentences: Sentences, near: bool) -> Float[Tensor, "sentences V"]:
    """Each sentence as counts of its words but the ambiguous one; with `near`, a word at distance d counts 1 / d.

    `nearest_sense` of these are the readers "bag of words" and "near words" of the scoreboard.
    """
    ids = torch.from_numpy(sentences.ids)
    distance = (torch.arange(ids.shape[1]) - torch.from_numpy(sentences.position)[:, None]).abs()
    weight = torch.where(distance > 0, 1.0 / distance.clamp(min=1) if near else 1.0, 0.0)
    weight = weight.masked_fill(ids < len(SPECIAL_TOKENS), 0.0)
    return torch.zeros(len(ids), len(language.vocabulary)).scatter_add_(1, ids, weight)


def ambiguous_words(sentences: Sentences) -> Int[np.ndarray, " sentences"]:
    """The id of each sentence's ambiguous word, in its number: "cell" and "cells" are two words."""
    return sentences.ids[np.arange(len(sentences)), sentences.position]
