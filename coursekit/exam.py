"""The course's test of word senses: which sense does the ambiguous word of a held-out sentence have?

    exam = sense_exam()                                   # the same sentences for every model
    accuracy = nearest_sense(exam, vectors_of(exam.labelled), vectors_of(exam.held_out))
    accuracy.order2, bounds().words_before.order2         # a model's accuracy, and the best possible from the words before

Every model is tested in the same way: an occurrence of the word is assigned the sense of its nearest labelled occurrence.
There are four kinds of question, which differ in the part of the sentence that determines the sense.
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
"""Numbers of sentences that are drawn; sentences without an ambiguous word are left out."""
TIE = 1e-5
"""Cosines closer than this count as equal: the same vector computed twice may differ in its last bits."""
QUESTIONS = {
    "left": "cue on the left",
    "right": "cue only on the right",
    "order1": "order, one clause",
    "order2": "order, two clauses",
}
"""The kinds of question, and their names in figures."""


@dataclass(frozen=True)
class Accuracy:
    """Accuracy by kind of question.

    left      words before the ambiguous word determine its sense
    right     only words after it determine its sense
    order1    the words determine the sense only together with their order, in a sentence of one clause
    order2    the same in a sentence of two clauses
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
    """Sentences with one ambiguous word each: `labelled` for training, `held_out` for the questions."""

    labelled: Sentences
    held_out: Sentences

    def count(self, kind: str) -> int:
        """The number of questions of a kind."""
        return int((self.held_out.cue == kind).sum())


@dataclass(frozen=True)
class Bounds:
    """Upper bounds on the accuracy: computed on these questions, except `no_order`, which is exact over the whole language.

    majority          always the most frequent sense of the word
    no_order          the best possible from all words without their order
    words_before      the best possible from the words before the ambiguous word
    whole_sentence    the best possible from the whole sentence
    """

    majority: Accuracy
    no_order: Accuracy
    words_before: Accuracy
    whole_sentence: Accuracy


@cache
def sense_exam() -> Exam:
    """The test for all models of the course."""
    return sense_exam_of(load_language())


def sense_exam_of(language: Language, labelled: int = LABELLED, held_out: int = HELD_OUT) -> Exam:
    """A test on another language, or of another size; the labelled sentences are from the training split."""
    rng = np.random.default_rng(SEED)
    marked, asked = language.sample(labelled, rng, "train"), language.sample(held_out, rng, "held_out")
    return Exam(marked[marked.position >= 0], asked[np.isin(asked.cue, list(QUESTIONS))])


def nearest_sense(
    exam: Exam, labelled: Float[Tensor, "labelled D"], held_out: Float[Tensor, "held_out D"]
) -> Accuracy:
    """Accuracy when each held-out word is assigned the sense of the most similar labelled occurrence of the same word.

    `labelled` and `held_out` contain the vector of the ambiguous word in each sentence of the test. Among equally near
    neighbours the most frequent sense wins, so vectors that do not depend on the sentence reach the accuracy of the majority sense.
    """
    return by_question(exam, nearest_hits(exam, labelled, held_out))


def nearest_hits(
    exam: Exam, labelled: Float[Tensor, "labelled D"], held_out: Float[Tensor, "held_out D"]
) -> Bool[np.ndarray, " held_out"]:
    """As `nearest_sense`, but item by item: whether each held-out word is assigned its correct sense."""
    for name, vectors, sentences in (
        ("labelled", labelled, exam.labelled),
        ("held_out", held_out, exam.held_out),
    ):
        if vectors.ndim != 2 or len(vectors) != len(sentences):
            raise ValueError(
                f"nearest_sense: {name} has shape {tuple(vectors.shape)}; give one vector for each of the test's "
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
    """The accuracy on each kind of question."""
    return Accuracy(*(float(right[exam.held_out.cue == kind].mean()) for kind in QUESTIONS))


def over_seeds(runs: Sequence[Accuracy]) -> dict[str, tuple[float, float, float]]:
    """For each kind of question, the mean over two or more seeds and its 95 % interval (Student's t), truncated at 0 and 1."""
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
    """The upper bounds of the test, which are known without a model."""
    exam, language = sense_exam(), load_language()

    def best(context: str) -> Accuracy:
        asked = [exam.held_out[exam.held_out.cue == kind] for kind in QUESTIONS]
        return Accuracy(*(sense_bound(language, sentences, context).mean for sentences in asked))

    no_order = Accuracy(*(order_blind_accuracy(language, [kind]) for kind in QUESTIONS))
    return Bounds(most_frequent(exam), no_order, best("left"), best("both"))


def surest_sense(exam: Exam, side: str) -> Float[np.ndarray, " held_out"]:
    """The probability of the most probable sense of each question, given only the words on one side: "left" or "right"."""
    asked = exam.held_out
    return load_language().sense_posterior(asked.ids, asked.position, side).max(axis=1)


def counts(language: Language, sentences: Sentences, near: bool) -> Float[Tensor, "sentences V"]:
    """Each sentence as counts of its words except the ambiguous word; with `near`, a word at distance d counts as 1 / d.

    With `nearest_sense`, these counts give the baselines "bag of words" and "near words" of the scoreboard.
    """
    ids = torch.from_numpy(sentences.ids)
    distance = (torch.arange(ids.shape[1]) - torch.from_numpy(sentences.position)[:, None]).abs()
    weight = torch.where(distance > 0, 1.0 / distance.clamp(min=1) if near else 1.0, 0.0)
    weight = weight.masked_fill(ids < len(SPECIAL_TOKENS), 0.0)
    return torch.zeros(len(ids), len(language.vocabulary)).scatter_add_(1, ids, weight)


def ambiguous_words(sentences: Sentences) -> Int[np.ndarray, " sentences"]:
    """The id of each sentence's ambiguous word; singular and plural ("cell" and "cells") are different words."""
    return sentences.ids[np.arange(len(sentences)), sentences.position]
