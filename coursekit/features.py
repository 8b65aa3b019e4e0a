"""The true features of the generated language, and how well directions in a model's activations detect them (notebook 15).

train, test = read(6_000, seed=1, split="train"), read(1_500, seed=2, split="held_out")
train.x, train.truth, train.asked            # activations, and for each token and feature: whether it is present, and whether it counts
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit.language import Language, Sentences, load_language
from coursekit.language.inflection import past, plural, third_person
from coursekit.language.kinds import productions
from coursekit.language.model import Split
from coursekit.language.notation import KINDS as KINDS_OF_SLOT
from coursekit.language.notation import parse
from coursekit.modules import causal_mask
from coursekit.small import BERT, load
from coursekit.small.bert import single

KINDS = "part of speech", "slot", "number", "clause depth", "topic", "sense"
QUANTILES = 0.5, 0.8, 0.9, 0.95, 0.99
"""Of a direction's activations on the training tokens: the thresholds, besides 0, above which it counts as active."""
LAYERS = {"bert": 2, "gpt": 1}
"""After which layer the activations of each model are read."""
FREQUENT = 0.003
"""The slots that are features fill at least this share of the words of the language; there are 38 of them."""

Detection = Callable[[Bool[Tensor, "n F"], Bool[Tensor, "n C"]], Float[Tensor, "2 F C"]]
"""Precision and recall of each detector for each feature."""


@dataclass(frozen=True)
class Tokens:
    """The words of sentences, one row each, with their activations and their true features.

    `truth[n, c]` says whether token n has feature c, and `asked[n, c]` whether the question makes sense at this token: a sense
    is asked for only at occurrences of its word, a number only at nouns. For the GPT, which reads from left to right, a sense is
    asked for only where the cue came before, and a topic only at the last word of a sentence.
    """

    x: Float[Tensor, "n D"]
    truth: Bool[Tensor, "n C"]
    asked: Bool[Tensor, "n C"]
    names: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each feature: "topic" of "topic prison"."""
        return tuple(next(kind for kind in KINDS if name.startswith(kind)) for name in self.names)


@torch.no_grad()
def activations_of(model: str, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
    """The vectors of the small model after its layer in `LAYERS`; for the GPT without the final layer norm."""
    network = load(model)
    if isinstance(network, BERT):
        ids = single(ids)
        return network.encode(network.embeddings(ids, torch.zeros_like(ids)), ids != 0)[LAYERS[model]]
    x, keep = network.embed(ids), causal_mask(ids.shape[1])
    for block in network.layers[: LAYERS[model]]:
        x = block(x, keep)
    return x


def read(sentences: int, seed: int, split: Split, model: str = "bert") -> Tokens:
    """The words of random sentences, with their activations and true features."""
    language = load_language()
    drawn = language.sample(sentences, np.random.default_rng(seed), split)
    real = drawn.ids > 6  # special tokens have the first ids
    features = true_features(drawn, from_left=model == "gpt")
    x = activations_of(model, torch.tensor(drawn.ids))[torch.tensor(real)]
    truth, asked = (
        torch.tensor(np.stack([each[part][real] for each in features.values()], axis=1)) for part in (0, 1)
    )
    words = tuple(language.vocabulary[word] for word in drawn.ids[real])
    return Tokens(x, truth & asked, asked, tuple(features), words)


def true_features(drawn: Sentences, from_left: bool = False) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """For each feature: at which tokens it is present, and at which it is asked for."""
    language = load_language()
    every = np.ones(drawn.ids.shape, dtype=bool)
    places = np.arange(drawn.ids.shape[1])
    noun = drawn.parts_of_speech == language.parts_of_speech.index("NOUN")
    found = {}
    for number, tag in enumerate(language.parts_of_speech):
        if tag not in ("PART", "CCONJ"):  # a single word each
            found[f"part of speech {tag.lower()}"] = drawn.parts_of_speech == number, every
    found["number plural"] = np.isin(drawn.ids, list(plural_ids())), noun
    found["clause depth 1"] = np.cumsum(drawn.ids == language.id_of["that"], axis=1) > 0, every
    last = places == (drawn.lengths - 2)[:, None]
    for number, topic in enumerate(language.topics):
        present = np.broadcast_to((drawn.topic == number)[:, None], every.shape)
        found[f"topic {topic}"] = present, last if from_left else every
    word_of = np.array([sense.split("#")[0] for sense in language.senses])
    known = (drawn.cue == "left")[:, None] if from_left else every
    for number, sense in enumerate(language.senses):
        alike = np.isin(drawn.senses, np.flatnonzero(word_of == word_of[number]))
        found[f"sense {sense}"] = drawn.senses == number, known & alike
    of_row, named = slots()
    of_token = of_row[language.tables.slot_of[: drawn.ids.shape[1], drawn.template].T]
    for number, name in named.items():
        found[f"slot {name}"] = of_token == number, every
    return found


@cache
def slots() -> tuple[Int[np.ndarray, " rows"], dict[int, str]]:
    """The slots of the language as written: of each row of `tables.fillers` the number of its slot, and names of the frequent ones.

    A slot of a sentence frame is a list of words of which one is chosen, as in "the {guard officer warden sheriff} locked …". The
    tables have a row for each number and tense; here, these are one slot, and so are equal lists in several frames. The name
    consists of the words: "guard/officer/warden/sheriff". Only lists of two or more words are named.
    """
    language = load_language()
    tables, written = language.tables, set()
    for production in productions(language.grammar):
        pieces = parse(production.pattern, language.grammar.lists)
        written |= {(KINDS_OF_SLOT[each.kind], word.split("#")[0]) for each in pieces if each.kind in KINDS_OF_SLOT for word in each.words}  # fmt: skip
    inflect = {"NOUN": (plural,), "VERB": (past, third_person)}
    lemma = {(tag, form(word)): word for tag, word in written for form in inflect.get(tag, ())}
    lemma |= {each: each[1] for each in written}  # "call" is a form of itself
    lists: dict[tuple[str, tuple[str, ...]], int] = {}
    of_row = np.empty(len(tables.sizes), dtype=int)
    for row, size in enumerate(tables.sizes):
        words = [language.vocabulary[word] for word in tables.fillers[row, :size]]
        tag = language.parts_of_speech[tables.tags[row, 0]] if tables.tags[row, 0] >= 0 else ""
        key = tag, tuple(dict.fromkeys(lemma.get((tag, word), word) for word in words))
        of_row[row] = lists.setdefault(key, len(lists))
    prior = np.broadcast_to(tables.prior, tables.slot_of.shape)
    share = np.bincount(of_row[tables.slot_of].ravel(), prior.ravel(), len(lists))
    of_words = [number for (tag, _), number in lists.items() if tag]
    often = share / share[of_words].sum() >= FREQUENT
    return of_row, {number: "/".join(words) for (tag, words), number in lists.items() if tag and len(words) > 1 and often[number]}  # fmt: skip


def plural_ids() -> set[int]:
    """The ids of the plural nouns of the language."""
    language = load_language()
    singular = [word for word, tags in language.parts_of_speech_of.items() if "NOUN" in tags]
    return {
        language.id_of[plural(word)]
        for word in singular
        if plural(word) in language.id_of and plural(word) != word
    }


# ------------------------------------------------------------------------------------------------------- training


@dataclass
class Dictionary:
    """The parameters of a sparse autoencoder. With `tied`, the encoder's matrix is the transposed matrix of directions."""

    directions: Float[Tensor, "F D"]
    encoder: Float[Tensor, "D F"] | None
    bias: Float[Tensor, " F"]
    centre: Float[Tensor, " D"]
    k: int = 0
    scale: float = 1.0
    """The activations are divided by this number before they are encoded."""

    @property
    def matrix(self) -> Float[Tensor, "D F"]:
        """The matrix of the encoder."""
        return self.directions.T if self.encoder is None else self.encoder

    @property
    def parameters(self) -> list[Tensor]:
        """What is trained."""
        return [each for each in (self.directions, self.encoder, self.bias, self.centre) if each is not None]


def new_dictionary(x: Float[Tensor, "n D"], width: int, k: int, seed: int, tied: bool = False) -> Dictionary:
    """Random unit directions, an encoder that is their transpose, and the mean activation as the centre."""
    draw = torch.Generator().manual_seed(seed)
    scale = (x - x.mean(dim=0)).std().item()
    directions = torch.nn.functional.normalize(torch.randn(width, x.shape[1], generator=draw), dim=1)
    made = Dictionary(
        directions.clone(),
        None if tied else directions.T.clone(),
        torch.zeros(width),
        (x / scale).mean(dim=0),
        k,
        scale,
    )
    for weight in made.parameters:
        weight.requires_grad_()
    return made


def train(
    made: Dictionary, x: Float[Tensor, "n D"], encode: Callable, loss: Callable, l1: float = 0.0,
    steps: int = 600, rate: float = 3e-3, rows: int = 512, seed: int = 0,
) -> list[float]:  # fmt: skip
    """Train a dictionary in place with Adam; return the loss of each step.

    `encode(x, matrix, bias, centre, k)` and `loss(x, codes, directions, centre, l1)` are the student's. The learning rate falls
    linearly in the last third.
    """
    draw, losses = torch.Generator().manual_seed(seed), []
    optimiser = torch.optim.Adam(made.parameters, lr=rate)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, 3 * (steps - step) / steps)
        batch = x[torch.randint(len(x), (rows,), generator=draw)] / made.scale
        codes = encode(batch, made.matrix, made.bias, made.centre, made.k)
        value = loss(batch, codes, made.directions, made.centre, l1)
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        losses.append(value.item())
    for weight in made.parameters:
        weight.requires_grad_(False)
    return losses


@torch.no_grad()
def codes_of(made: Dictionary, x: Float[Tensor, "n D"], encode: Callable) -> Float[Tensor, "n F"]:
    """The codes of activations that have not been divided by the scale yet."""
    return encode(x / made.scale, made.matrix, made.bias, made.centre, made.k)


def summary(made: Dictionary, x: Float[Tensor, "n D"], codes: Float[Tensor, "n F"]) -> dict[str, float]:
    """The share of the variance that the reconstruction leaves unexplained, active latents per token, and the share of latents that
    are never active on these tokens.
    """
    x = x / made.scale
    error = (x - codes @ made.directions - made.centre).square().sum()
    return {
        "unexplained": (error / (x - x.mean(dim=0)).square().sum()).item(),
        "active": (codes > 0).float().sum(dim=1).mean().item(),
        "dead": (codes <= 0).all(dim=0).float().mean().item(),
    }


# ------------------------------------------------------------------------------------------------------- scoring


def thresholds(activations: Float[Tensor, "n F"]) -> Float[Tensor, "6 F"]:
    """0 and five quantiles of each column, of its positive values where it is often exactly 0."""
    columns = []
    for column in activations.T:
        positive = column[column > 0] if (column == 0).any() else column
        cut = (
            torch.tensor(np.quantile(positive.numpy(), QUANTILES))
            if len(positive)
            else torch.zeros(len(QUANTILES))
        )
        columns.append(torch.cat([torch.zeros(1), cut.float()]))
    return torch.stack(columns, dim=1)


def detectors(activations: Float[Tensor, "n F"], cuts: Float[Tensor, "6 F"]) -> Bool[Tensor, "n 6F"]:
    """Whether each activation is above each threshold; the detectors of one direction are F columns apart."""
    return torch.cat([activations > cut for cut in cuts], dim=1)


@torch.no_grad()
def detected(
    on_train: Float[Tensor, "m F"],
    on_test: Float[Tensor, "n F"],
    train: Tokens,
    test: Tokens,
    detection: Detection,
) -> pd.DataFrame:
    """For each feature the direction and threshold with the best F1 on the training tokens, and its precision, recall and F1 on
    the test tokens. The features are asked for where `asked` says so.
    """
    cuts = thresholds(on_train)
    active, active_test = detectors(on_train, cuts), detectors(on_test, cuts)
    rows = []
    for group in asked_together(train):
        here, there = train.asked[:, group[0]], test.asked[:, group[0]]
        at_train = f1(detection(active[here], train.truth[here][:, group]))
        scores = detection(active_test[there], test.truth[there][:, group])
        for place, feature in enumerate(group):
            best = int(at_train[:, place].argmax())
            precision, recall = scores[:, best, place].tolist()
            rows.append(
                (feature, best % on_train.shape[1], precision, recall, f1(scores)[best, place].item())
            )
    table = pd.DataFrame(rows, columns=["feature", "direction", "precision", "recall", "f1"]).sort_values(
        "feature"
    )
    table.insert(0, "kind", [train.kinds[feature] for feature in table.feature])
    table.insert(1, "name", [train.names[feature] for feature in table.feature])
    return table.drop(columns="feature").reset_index(drop=True)


def asked_together(tokens: Tokens) -> Iterable[list[int]]:
    """Groups of features that are asked for at the same tokens."""
    groups: dict[bytes, list[int]] = {}
    for number, column in enumerate(tokens.asked.T):
        groups.setdefault(column.numpy().tobytes(), []).append(number)
    return groups.values()


def f1(scores: Float[Tensor, "2 ..."]) -> Float[Tensor, " ..."]:
    """The harmonic mean of precision and recall, 0 where both are 0."""
    precision, recall = scores
    return 2 * precision * recall / (precision + recall).clamp_min(1e-9)


@torch.no_grad()
def probe_scores(train: Tokens, test: Tokens) -> tuple[Float[Tensor, "m C"], Float[Tensor, "n C"]]:
    """The scores of a linear probe for each feature, fitted by least squares to the training tokens at which it is asked for."""
    with_one = [torch.cat([tokens.x, torch.ones(len(tokens.x), 1)], dim=1) for tokens in (train, test)]
    found = torch.zeros(len(train.x), train.truth.shape[1]), torch.zeros(len(test.x), test.truth.shape[1])
    for group in asked_together(train):
        here = train.asked[:, group[0]]
        x = with_one[0][here]
        weights = torch.linalg.solve(
            x.T @ x + torch.eye(x.shape[1]), x.T @ train.truth[here][:, group].float()
        )
        for scores, inputs in zip(found, with_one, strict=True):
            scores[:, group] = inputs @ weights
    return found


@torch.no_grad()
def principal_directions(x: Float[Tensor, "n D"]) -> Float[Tensor, "D 2D"]:
    """The principal components of the activations, in both directions."""
    components = torch.linalg.eigh(torch.cov(x.T)).eigenvectors
    return torch.cat([components, -components], dim=1)


def random_directions(x: Float[Tensor, "n D"], number: int, seed: int) -> Float[Tensor, "D number"]:
    """Random unit directions."""
    draw = torch.Generator().manual_seed(seed)
    return torch.nn.functional.normalize(torch.randn(x.shape[1], number, generator=draw), dim=0)


# ------------------------------------------------------------------------------------------------------- splitting and absorption

PRECISE, PART = 0.8, 0.02
"""A latent is part of a feature if at least this share of its activity is on tokens with the feature, and it covers at least this
share of them."""


@torch.no_grad()
def parts_of_features(active: Bool[Tensor, "n F"], tokens: Tokens, detection: Detection) -> pd.DataFrame:
    """For each feature how many latents are parts of it, the recall of the largest part and of all of them, and absorption.

    Absorption is the share of tokens with the feature on which the largest part is silent and another part is active.
    """
    rows = []
    for group in asked_together(tokens):
        here = tokens.asked[:, group[0]]
        precision, recall = detection(active[here], tokens.truth[here][:, group])
        for place, feature in enumerate(group):
            parts = ((precision[:, place] >= PRECISE) & (recall[:, place] >= PART)).nonzero().flatten()
            row = {"kind": tokens.kinds[feature], "name": tokens.names[feature], "parts": len(parts)}
            if len(parts):
                main = parts[recall[parts, place].argmax()]
                on = active[here][tokens.truth[here][:, feature]]
                together = on[:, parts].any(dim=1)
                absorbed = (together & ~on[:, main]).float().mean().item()
                row |= {
                    "largest": on[:, main].float().mean().item(),
                    "together": together.float().mean().item(),
                    "absorbed": absorbed,
                }
            rows.append((feature, row))
    return pd.DataFrame([row for _, row in sorted(rows, key=lambda each: each[0])]).fillna(0.0)


# ------------------------------------------------------------------------------------------------------- steering


def given_sense(language: Language, position: int, sense: int) -> Language:
    """The language restricted to the templates with an ambiguous word of this sense at this position."""
    tables = language.tables
    prior = np.where(tables.sense_of[tables.slot_of[position]] == sense, tables.prior, 0.0)
    return replace(language, tables=replace(tables, prior=prior / prior.sum()))


def integrated_gradients(
    layers: list[Callable[[Tensor], Tensor]],
    target: Float[Tensor, "T D"],
    source: Float[Tensor, "T D"],
    score: Callable[[Float[Tensor, "T D"]], Float[Tensor, ""]],
    steps: int = 8,
) -> Float[Tensor, "L+1 T"]:
    """Estimates of how each exchange of a vector changes the score: gradients averaged over `steps` points between the two runs.

    Row l belongs to the input of layer l, the last row to the vectors after the last layer (Sundararajan et al. 2017).
    """
    rows, a, b = [], target[None], source[None]
    for layer in range(len(layers) + 1):
        slope = torch.zeros_like(a)
        for step in range(steps):
            x = (a + (step + 0.5) / steps * (b - a)).detach().requires_grad_()
            y = x
            for rest in layers[layer:]:
                y = rest(y)
            slope = slope + torch.autograd.grad(score(y[0]), x)[0] / steps
        rows.append((slope * (b - a)).sum(dim=-1)[0])
        if layer < len(layers):
            a, b = layers[layer](a), layers[layer](b)
    return torch.stack(rows).detach()
