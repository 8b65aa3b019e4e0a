"""For notebook 14: a task for the GPT with a known best accuracy, and preferences with a known best policy.

questions = ask(1000, np.random.default_rng(0), "train")      # "[BOS] the guard locked the [SEP] prison [EOS]"
questions.best.mean()                                           # the best possible accuracy
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coursekit.language import BOS, EOS, PAD, SEP, load_language
from coursekit.language.exact import Mixture, posteriors
from coursekit.small import GPT, load
from coursekit.small.gpt import next_word_losses

# ------------------------------------------------------------------------------------------ a task, and its bound

BEGINNING = 4
"""Words of the sentence that a question shows: so few that they do not always determine its topic."""
NAMES = {
    "biology": "biologist", "night": "owl", "construction": "builder", "workshop": "watchmaker", "court": "king",
    "sport": "referee", "travel": "tourist", "industry": "manager", "farm": "farmer",
}  # fmt: skip
"""The answers for topics whose names are not words of the language."""


@dataclass(frozen=True, eq=False)
class Questions:
    """Sequences "[BOS] beginning [SEP] answer [EOS]": ids, the index of each topic in `answer_ids`, and what can be predicted.

    best    the probability of the most probable topic, given the beginning: the best possible accuracy;
    guess   that topic.
    """

    ids: Int[Tensor, "n 8"]
    topic: Int[Tensor, " n"]
    best: Float[np.ndarray, " n"]
    guess: Int[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: Any) -> "Questions":
        return Questions(self.ids[rows], self.topic[rows], self.best[rows], self.guess[rows])

    @property
    def asked(self) -> Int[Tensor, "n 6"]:
        """The questions alone, up to [SEP]."""
        return self.ids[:, :-2]


@functools.cache
def answer_ids() -> Int[Tensor, " topics"]:
    """The word that answers for each topic."""
    language = load_language()
    return torch.tensor([language.id_of[NAMES.get(topic, topic)] for topic in language.topics])


def ask(n: int, rng: np.random.Generator, split: str | None = None) -> Questions:
    """n beginnings of sentences, each with the topic of the sentence as its answer."""
    sentences = load_language().sample(n, rng, split)
    return _questions(sentences.ids, np.asarray(sentences.topic))


def _questions(sentences: Int[np.ndarray, "n T"], topics: Int[np.ndarray, " n"]) -> Questions:
    """The beginning of each sentence as a question, its topic as the answer."""
    ids, topic = sentences[:, : BEGINNING + 1], torch.from_numpy(topics.astype(np.int64))
    chances = topic_chances(ids)
    same = torch.ones_like(topic)
    ends = torch.stack([SEP * same, answer_ids()[topic], EOS * same], dim=1)
    rows = torch.cat([torch.from_numpy(ids), ends], dim=1)
    return Questions(rows, topic, chances.max(axis=1), chances.argmax(axis=1))


def topic_chances(ids: Int[np.ndarray, "n tokens"]) -> Float[np.ndarray, "n topics"]:
    """p(topic | beginning of a sentence), exactly."""
    language = load_language()
    tables = language.tables
    mixture = Mixture(tables.prior, tables.slot_of, tables.probability)
    topic_of = tables.topic_of[tables.rule_of]
    found = np.zeros((len(ids), len(language.topics)))
    for rows, belief in posteriors(mixture, ids, np.ones_like(ids, dtype=bool)):
        each = belief.by_sentence()
        np.add.at(found[rows], (each.node, topic_of[each.template]), each.weight)
    return found


def reworded(questions: Questions, rng: np.random.Generator, pool: int = 30_000) -> Questions:
    """For each question one with the same answer and one other word, as "earlier the pitchers were" for "yesterday the pitchers were".

    They are taken from `pool` sentences of the training split. A question without such a neighbour is left out.
    """
    drawn = load_language().sample(pool, rng, "train")
    topics = np.asarray(drawn.topic)
    neighbours: dict[tuple, list[int]] = {}
    for number, (words, topic) in enumerate(
        zip(drawn.ids[:, 1 : BEGINNING + 1].tolist(), topics, strict=True)
    ):
        for place in range(BEGINNING):
            neighbours.setdefault(_without(words, place, topic), []).append(number)
    found = []
    for words, topic in zip(
        questions.ids[:, 1 : BEGINNING + 1].tolist(), questions.topic.tolist(), strict=True
    ):
        near = [n for place in range(BEGINNING) for n in neighbours.get(_without(words, place, topic), ())]
        others = [n for n in near if drawn.ids[n, 1 : BEGINNING + 1].tolist() != words]
        if others:
            found.append(others[rng.integers(len(others))])
    return _questions(drawn.ids[found], topics[found])


def _without(words: list[int], place: int, topic: int) -> tuple:
    """A question with a gap, and its topic."""
    return place, *words[:place], *words[place + 1 :], int(topic)


def verbatim(questions: Questions, others: Questions) -> float:
    """The fraction of questions that occur verbatim among others: what a search for leaked tests would find."""
    asked_before = set(map(tuple, others.asked.tolist()))
    return float(np.mean([tuple(asked) in asked_before for asked in questions.asked.tolist()]))


@torch.no_grad()
def right(model: GPT, questions: Questions, rows: int = 500) -> Bool[np.ndarray, " n"]:
    """Whether the most probable word after each question is its answer."""
    words = [model(part).logits[:, -1].argmax(dim=-1) for part in questions.asked.split(rows)]
    return (torch.cat(words) == answer_ids()[questions.topic]).numpy()


@functools.cache
def plain_text(n: int = 1000, seed: int = 77) -> tuple[Int[Tensor, "n tokens"], float]:
    """Held-out plain sentences, and the loss of the best possible model, in nats per word."""
    language = load_language()
    ids = language.sample(n, np.random.default_rng(seed), "held_out").ids
    paid = language.log_loss_next(ids)[:, 1:][ids[:, 1:] != PAD]
    return torch.from_numpy(ids), float(paid.mean())


@torch.no_grad()
def above_bound(model: GPT) -> float:
    """Nats per word by which the loss on plain sentences exceeds the bound: what was not learned, or was forgotten."""
    ids, bound = plain_text()
    losses = torch.cat([next_word_losses(model(part), part) for part in ids.split(250)])
    return float(losses.sum() / (ids[:, 1:] != PAD).sum()) - bound


def linear_layers(model: nn.Module) -> list[tuple[nn.Module, str]]:
    """Each linear layer in a model: the module that contains it, and its name there."""
    return [
        (module, name)
        for module in model.modules()
        for name, child in module.named_children()
        if isinstance(child, nn.Linear)
    ]


def with_layers(
    model: nn.Module, kind: type[nn.Module], change: Callable[[nn.Module], nn.Module]
) -> nn.Module:
    """A model in which `change` has replaced every layer of a kind."""
    for name, layer in list(model.named_modules()):
        if isinstance(layer, kind):
            holder, _, last = name.rpartition(".")
            setattr(model.get_submodule(holder), last, change(layer))
    return model


# ------------------------------------------------------------------------------------------ preferences, and their best policy

PROMPTS = ("the guard locked the", "yesterday the scout", "the biologist stained the")
"""Prompts that an assistant continues with two words."""
LETTERS_A_POINT = 2.0


def prompt_ids() -> list[list[int]]:
    """[BOS] and the words of each prompt."""
    language = load_language()
    return [[BOS, *(language.id_of[word] for word in prompt.split())] for prompt in PROMPTS]


@functools.cache
def letters() -> Float[Tensor, " V"]:
    """The number of letters of each word; special tokens have none."""
    return torch.tensor([0.0 if word.startswith("[") else len(word) for word in load_language().vocabulary])


def rewards(first: Int[Tensor, "*n"], second: Int[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """The annotators like long words: one point for every two letters of both words."""
    return (letters()[first] + letters()[second]) / LETTERS_A_POINT


@torch.no_grad()
def two_words(model: GPT, prompt: list[int]) -> Float[Tensor, "V V"]:
    """log p of every two-word continuation, all 1,795 × 1,795 of them."""
    V = model.config.vocabulary
    log_first = model(torch.tensor([prompt])).logits[0, -1].double().log_softmax(dim=-1)
    table = torch.empty(V, V, dtype=torch.float64)
    keep = torch.arange(V).split(256)
    for words in keep:
        rows = torch.cat([torch.tensor(prompt).expand(len(words), -1), words[:, None]], dim=1)
        hidden = model.encode(model.embed(rows))[-1][:, -1]
        table[words] = (hidden @ model.token.weight.T).double().log_softmax(dim=-1)
    return log_first[:, None] + table


@functools.cache
def reference() -> tuple[GPT, list[Float[Tensor, "V V"]]]:
    """The course's pre-trained GPT, frozen, and its log-probabilities of the continuations of each prompt."""
    model = load("gpt").requires_grad_(False)
    return model, [two_words(model, prompt) for prompt in prompt_ids()]


@functools.cache
def all_rewards() -> Float[Tensor, "V V"]:
    """The reward of every two-word continuation."""
    words = torch.arange(len(load_language().vocabulary))
    return rewards(words[:, None], words[None]).double()


def kl(log_p: Float[Tensor, "*n"], log_q: Float[Tensor, "*n"]) -> float:
    """KL(p ‖ q) in nats over all entries."""
    return float((log_p.exp() * (log_p - log_q)).sum())


def best_possible(
    tables: list[Float[Tensor, "V V"]], betas: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "n 2"]:
    """For the best policy at each beta: KL to the reference in nats and mean reward, averaged over prompts.

    Both follow from how probable each reward is under the reference: KL(π* ‖ reference) = E[r] / β − log Z.
    """
    rewards, place = torch.unique(all_rewards().flatten(), return_inverse=True)
    found = []
    for table in tables:
        mass = torch.zeros_like(rewards).index_add(0, place, table.flatten().exp())
        for beta in betas:
            unnormalised = mass.log() + rewards / beta
            mean = float((unnormalised.softmax(dim=0) * rewards).sum())
            found.append((mean / beta - float(unnormalised.logsumexp(dim=0)), mean))
    return np.array(found).reshape(len(tables), len(betas), 2).mean(axis=0)


def preferred(
    tables: list[Float[Tensor, "V V"]], n: int, random: torch.Generator
) -> tuple[Int[Tensor, " n"], Int[Tensor, "n 2"], Int[Tensor, "n 2"]]:
    """n comparisons: the prompt, the continuation that was chosen and the one that was rejected.

    Both are drawn from the reference (`tables`: its log-probabilities); the chosen one is drawn with
    probability σ(reward − reward) (Bradley and Terry 1952).
    """
    prompts = torch.randint(len(tables), (n,), generator=random)
    pairs = torch.empty(n, 2, 2, dtype=torch.long)
    for number, table in enumerate(tables):
        where = (prompts == number).nonzero()[:, 0]
        drawn = torch.multinomial(table.flatten().exp(), 2 * len(where), replacement=True, generator=random)
        pairs[where] = torch.stack([drawn // len(table), drawn % len(table)], dim=-1).view(-1, 2, 2)
    gap = rewards(*pairs[:, 0].T) - rewards(*pairs[:, 1].T)
    first = torch.rand(n, generator=random) < gap.sigmoid()
    chosen = torch.where(first[:, None], pairs[:, 0], pairs[:, 1])
    return prompts, chosen, torch.where(first[:, None], pairs[:, 1], pairs[:, 0])


def with_labels(
    prompt: list[int], words: Int[Tensor, "n 2"]
) -> tuple[Int[Tensor, "n T"], Int[Tensor, "n T"]]:
    """Sequences of a prompt and two words, with labels for these two only."""
    begun = torch.tensor(prompt).expand(len(words), -1)
    return torch.cat([begun, words], dim=1), torch.cat([torch.full_like(begun, -100), words], dim=1)
