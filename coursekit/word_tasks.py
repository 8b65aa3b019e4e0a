"""Three tasks with labelled words, on which notebook 05 compares the layers of an ELMo.

syntax        the part of speech of every word
sense         the sense of an ambiguous word
morphology    whether a regular verb is in the past tense, tested on verbs of which no form occurs in training
"""

from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from coursekit.language import Sentences, load_language
from coursekit.language.inflection import past, third_person

TASKS = ("syntax", "sense", "morphology")
SENTENCES = 1_500
"""For training, and as many for the test."""


def task_sentences(seed: int, split: str) -> Sentences:
    """The sentences of all tasks: those of "train", or those of "held_out"."""
    return load_language().sample(SENTENCES, np.random.default_rng([seed, split == "train"]), split)


def examples(
    task: str, sentences: Sentences, held_out: bool, seed: int
) -> tuple[Bool[np.ndarray, "B T"], Int[np.ndarray, "B T"]]:
    """A mask that marks the words used in a task, and the labels of all words. The seed chooses the held-out verbs."""
    language = load_language()
    ids, parts = sentences.ids, sentences.parts_of_speech
    if task == "syntax":
        return parts >= 0, parts
    if task == "sense":
        return sentences.senses >= 0, sentences.senses
    pasts, forms = _regular_verbs()
    lemmas = [forms.get(word, word) for word in language.vocabulary]
    fourth = np.random.default_rng(seed).integers(4, size=len(lemmas)) == 0
    kept_out = np.array([fourth[language.id_of[lemma]] for lemma in lemmas])
    regular = np.isin(lemmas, list(pasts.values()))
    verb = (parts == language.parts_of_speech.index("VERB")) & regular[ids]
    return verb & (kept_out[ids] == held_out), np.isin(language.vocabulary, list(pasts))[ids].astype(int)


@cache
def _regular_verbs() -> tuple[dict[str, str], dict[str, str]]:
    """The past forms of the regular verbs, and all their inflected forms, each with its verb: locked, lock; locks, lock."""
    verbs = [word for word, parts in load_language().parts_of_speech_of.items() if "VERB" in parts]
    pasts = {past(verb): verb for verb in verbs if past(verb) in verbs}
    pasts = {form: verb for form, verb in pasts.items() if form[-2:] == "ed" and form.startswith(verb[:-1])}
    return pasts, pasts | {third_person(verb): verb for verb in pasts.values()}


def task_data(
    layers: Callable[[Int[Tensor, "B T"]], Float[Tensor, "L+1 B T E"]], seed: int
) -> dict[str, tuple[Tensor, Tensor, Tensor, Tensor]]:
    """For each task: vectors (L+1, N, E) and labels (N) for training, then vectors and labels for the test."""
    data: dict[str, tuple] = {task: () for task in TASKS}
    for split in ("train", "held_out"):
        sentences = task_sentences(seed, split)
        R = layers(torch.from_numpy(sentences.ids))
        for task in TASKS:
            chosen, labels = examples(task, sentences, split == "held_out", seed)
            data[task] += R[:, torch.from_numpy(chosen)], torch.from_numpy(labels[chosen])
    return data


def learn(
    scalar_mix: Callable[..., Float[Tensor, "B T E"]],
    R: Float[Tensor, "L+1 N E"],
    labels: Int[Tensor, " N"],
    asked: Float[Tensor, "L+1 M E"],
    right: Int[Tensor, " M"],
    seed: int,
    strength: float = 1e-3,
    only: int | None = None,
    steps: int = 200,
) -> tuple[Float[np.ndarray, " L+1"], float]:
    """The weights learned for a task with the student's `scalar_mix`, and the accuracy on the test words.

    A linear classifier is trained on the mix of the vectors R, together with s and γ. `asked` and `right` are the vectors and
    labels of the test words. `strength` is the coefficient of a penalty on s, which pulls the weights towards 1 / (L + 1). If
    `only` is given, only that layer is used instead of the mix.
    """
    torch.manual_seed(seed)
    s, gamma = torch.zeros(len(R), requires_grad=True), torch.ones((), requires_grad=True)
    classify = torch.nn.Linear(R.shape[-1], int(max(labels.max(), right.max())) + 1)
    optimiser = torch.optim.Adam([s, gamma, *classify.parameters()], lr=0.02, fused=True)

    def logits(rows: Float[Tensor, "L+1 N E"]) -> Float[Tensor, "N classes"]:
        if only is None:
            return classify(scalar_mix(rows[:, None], s, gamma)[0])
        return classify(scalar_mix(rows[only, None, None], s[:1], 1.0)[0])

    for _ in range(steps):
        few = torch.randint(len(labels), (256,))
        loss = cross_entropy(logits(R[:, few]), labels[few]) + strength * s.square().sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        hits = logits(asked).argmax(-1) == right
        return s.softmax(dim=0).numpy(), hits.float().mean().item()
