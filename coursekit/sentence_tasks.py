"""Two classification tasks on sentences of the generated language, their bounds and baselines, and the loss on masked words."""

from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coursekit.language import BOS, CLS, EOS, MASK, PAD, SEP, load_language
from coursekit.small import BERT
from coursekit.small.bert import single

Data = tuple[Int[Tensor, "n T"], Int[Tensor, " n"]]
TEST = 1000, 30_000, "held_out"
"""The test sentences of each task: how many, the seed, and the part of the language."""


@cache
def topic_task(n: int, seed: int, split: str) -> Data:
    """Sentences and the indices of their topics."""
    sentences = load_language().sample(n, np.random.default_rng(seed), split=split)
    return single(torch.from_numpy(sentences.ids)), torch.from_numpy(sentences.topic)


@cache
def swap_task(n: int, seed: int, split: str) -> Data:
    """Sentences and labels; in about half of the sentences (label 1) two adjacent words are exchanged."""
    rng = np.random.default_rng(seed)
    ids, labels = load_language().sample(n, rng, split=split).ids.copy(), rng.random(n) < 0.5
    for i in np.flatnonzero(labels):
        one, next_one = ids[i, :-1], ids[i, 1:]
        t = rng.choice(np.flatnonzero((one != next_one) & (one > SEP) & (next_one > SEP)))
        ids[i, [t, t + 1]] = ids[i, [t + 1, t]]
    return single(torch.from_numpy(ids)), torch.from_numpy(labels).long()


TASKS: dict[str, tuple[Callable[[int, int, str], Data], int]] = {
    "topic": (topic_task, len(load_language().topics)),
    "swap": (swap_task, 2),
}
"""The function that draws labelled sentences, and the number of classes, by the name of the task."""


def best_possible(task: str) -> float:
    """The accuracy of a classifier that knows the language exactly, on the test sentences."""
    language, (ids, labels) = load_language(), TASKS[task][0](*TEST)
    given = ids.masked_fill(ids == CLS, BOS).masked_fill(ids == SEP, EOS).numpy()
    if task == "topic":
        answers = language.topic_posterior(given).argmax(axis=1)
    else:
        answers = np.isinf(language.log_probability(given))  # impossible in the language
    return float((answers == labels.numpy()).mean())


def bag_of_words(task: str, labels: int = 4096) -> float:
    """The accuracy of logistic regression on word counts, on the test sentences."""
    # start-up: only this baseline needs them
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    def counts(ids: Int[Tensor, "n T"]) -> csr_matrix:
        words = len(load_language().vocabulary)
        return csr_matrix([np.bincount(row, minlength=words) for row in ids.numpy()])

    make = TASKS[task][0]
    (ids, answers), (test_ids, test_answers) = make(labels, 0, "train"), make(*TEST)
    reader = LogisticRegression(max_iter=300).fit(counts(ids), answers)
    return reader.score(counts(test_ids), test_answers)


def majority_class(task: str) -> float:
    """The accuracy of always predicting the most frequent class of the test sentences."""
    labels = TASKS[task][0](*TEST)[1]
    return labels.bincount().max().item() / len(labels)


@torch.no_grad()
def accuracy(model: nn.Module, data: Data) -> float:
    """The accuracy of a classifier in evaluation mode."""
    model.eval()
    answers = [model(ids).argmax(dim=1) for ids in data[0].split(256)]
    return (torch.cat(answers) == data[1]).float().mean().item()


@cache
def _masked_sentences() -> tuple[Int[Tensor, "n T"], Bool[Tensor, "n T"]]:
    """A thousand held-out sentences, and which of their words are masked."""
    held_out = load_language().sample(1000, np.random.default_rng(60), split="held_out")
    ids, generator = single(torch.from_numpy(held_out.ids)), torch.Generator().manual_seed(60)
    return ids, (torch.rand(ids.shape, generator=generator) < 0.15) & (ids > SEP)


@torch.no_grad()
def masked_loss(whole: BERT) -> float:
    """Cross-entropy per masked word in nats, always on the same thousand held-out sentences."""
    ids, hidden = _masked_sentences()
    masked = ids.masked_fill(hidden, MASK)
    top = whole.encode(whole.embeddings(masked, torch.zeros_like(ids)), ids != PAD)[-1]
    logits: Float[Tensor, "words V"] = whole.masked_word(top[hidden], whole.embeddings.token.weight)
    return nn.functional.cross_entropy(logits, ids[hidden]).item()
