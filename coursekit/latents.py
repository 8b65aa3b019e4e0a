"""A sparse autoencoder on a pre-trained decoder, and how well its latents detect the senses of English words (notebook 15).

train, test = senses_of(decoder, ["cell", "bank"])        # the stream after layer 15 at the ambiguous word
dictionary = load_dictionary()                            # data/models/smollm2_latents.safetensors
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from coursekit.datasets import read_questions, read_table
from coursekit.features import (
    Detection,
    Dictionary,
    Tokens,
    detected,
    principal_directions,
    random_directions,
)
from coursekit.models.loading import Loaded
from coursekit.stored import models_folder, read, write

LAYER = 15
"""The stream is read after this one of SmolLM2's 30 layers."""
MASSIVE = 1_000.0
"""Longer vectors do not describe a word: those of the first token, and occasionally of another one, serve as attention sinks (notebook 08)."""
BATCH = 16
FILE = "smollm2_latents.safetensors"
REMEDY = "Fetch data/models again, or retrain the autoencoder: python -m experiments sparse_autoencoder_smollm2 --corpus FOLDER"


def texts_of_the_course() -> tuple[list[str], list[str]]:
    """English texts of the course's data, without the sentences of `data/senses`: those for training, and a twentieth held out."""
    passages = read_table("retrieval/passages.csv")
    pairs = read_table("pairs/pairs.csv")
    texts = [
        read_questions().context,
        read_table("sentiment/sentiment.csv").text,
        passages.text,
        pairs.premise,
        pairs.hypothesis,
        read_table("opinions/opinions.csv").text,
    ]
    found = list(dict.fromkeys(text for column in texts for text in column))
    order = np.random.default_rng(0).permutation(len(found))
    held_out = len(found) // 20
    return [found[n] for n in order[held_out:]], [found[n] for n in order[:held_out]]


@torch.no_grad()
def stream_after(decoder: Loaded, texts: Sequence[str], layer: int = LAYER, longest: int = 128) -> list[Float[Tensor, "T D"]]:  # fmt: skip
    """The residual stream after one layer at each token of each text (at most `longest`), with that of the first token."""
    given = [decoder.tokenizer(text, truncation=True, max_length=longest).input_ids for text in texts]
    found: list[Tensor] = [torch.empty(0)] * len(texts)
    order = sorted(range(len(texts)), key=lambda n: len(given[n]))  # texts of one length need little padding
    for start in range(0, len(order), BATCH):
        some = order[start : start + BATCH]
        ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(given[n]) for n in some], batch_first=True)
        states = decoder.model(ids, output_hidden_states=True).hidden_states[layer]
        for n, x in zip(some, states, strict=True):  # padding comes after the text: a decoder does not see it
            found[n] = x[: len(given[n])].clone()
    return found


def running_vectors(streams: Iterable[Float[Tensor, "T D"]]) -> Float[Tensor, "n D"]:
    """The vectors of all tokens after the first, without massive ones."""
    x = torch.cat([stream[1:] for stream in streams])
    return x[x.norm(dim=1) < MASSIVE]


def in_context(
    decoder: Loaded, texts: Sequence[str], around: int = 4
) -> tuple[Float[Tensor, "n D"], list[str]]:
    """The vectors of `running_vectors`, and for each the token in brackets, with the tokens around it."""
    x, shown = [], []
    for text, stream in zip(texts, stream_after(decoder, texts), strict=True):
        pieces = [decoder.tokenizer.decode([one]) for one in decoder.tokenizer(text).input_ids[: len(stream)]]
        for at in range(1, len(pieces)):
            if stream[at].norm() < MASSIVE:
                x.append(stream[at])
                before, after = pieces[max(0, at - around) : at], pieces[at + 1 : at + 3]
                shown.append(
                    f"{''.join(before)}[{pieces[at]}]{''.join(after)}".replace("\n", " ")
                    .replace("[ ", " [")
                    .strip()
                )
    return torch.stack(x), shown


def senses_of(decoder: Loaded, words: Sequence[str]) -> tuple[Tokens, Tokens]:
    """The labelled sentences of `data/senses` with these words: the vector at the last subword of the ambiguous word.

    The first are the training sentences of the table, 13 of each sense; the second its test sentences, 9 of each. Left out are
    sentences in which every cue comes after the word, because a decoder has not read it there, and those that begin with the word.
    """
    labelled = read_table("senses/senses.csv")
    labelled = labelled[labelled.word.isin(words) & (labelled.kind != "right") & (labelled.start > 0)]
    labelled = labelled.reset_index(drop=True)
    streams = stream_after(decoder, labelled.sentence)
    at = [
        decoder.tokenizer(sentence[: start + len(form)]).input_ids
        for sentence, start, form in zip(labelled.sentence, labelled.start, labelled.form, strict=True)
    ]
    x = torch.stack([stream[len(before) - 1] for stream, before in zip(streams, at, strict=True)])
    pairs = list(dict.fromkeys(zip(labelled.word, labelled.sense, strict=True)))
    truth = np.array([(labelled.word == word) & (labelled.sense == sense) for word, sense in pairs]).T
    asked = np.array([labelled.word == word for word, _ in pairs]).T
    parts = []
    for split in ("train", "test"):
        here = (labelled.split == split).to_numpy()
        parts.append(
            Tokens(x[torch.tensor(here)], torch.tensor(truth[here]), torch.tensor(asked[here]),
                   tuple(f"sense {word}#{sense}" for word, sense in pairs), tuple(labelled.sentence[here]))
        )  # fmt: skip
    return parts[0], parts[1]


# ------------------------------------------------------------------------------------------------------- on disk


def save_dictionary(made: Dictionary, folder: Path, about: dict) -> None:
    """Write the weights in float16, with what `about` says of them."""
    assert made.encoder is not None
    weights = {
        "directions": made.directions,
        "encoder": made.encoder,
        "bias": made.bias,
        "centre": made.centre,
    }
    write(folder / FILE, {name: weight.half() for name, weight in weights.items()}, {"k": made.k, "scale": made.scale, **about})  # fmt: skip


def load_dictionary(folder: Path | None = None) -> Dictionary:
    """The autoencoder that comes with the course. Raises ModelMissing in a sentence."""
    weights, about = read((folder or models_folder()) / FILE, REMEDY)
    weights = {name: weight.float() for name, weight in weights.items()}
    return Dictionary(weights["directions"], weights["encoder"], weights["bias"], weights["centre"], about["k"], about["scale"])  # fmt: skip


# ------------------------------------------------------------------------------------------------------- what they are compared with


def nearest_cosines(one: Dictionary, other: Dictionary) -> Float[Tensor, " F"]:
    """For each direction the largest cosine with a direction of another dictionary."""
    a, b = (torch.nn.functional.normalize(each.directions, dim=1) for each in (one, other))
    return (a @ b.T).amax(dim=1)


RECURS = 0.8
"""A latent recurs with another seed if the cosine of its direction with one there is at least this."""


def recurrence(cosines: Float[Tensor, "seeds F"]) -> dict[str, float]:
    """Of the cosines of latents with the nearest ones of other seeds: the share that recur, and the median."""
    return {"recurring": (cosines >= RECURS).float().mean().item(), "median cosine": cosines.median().item()}


BASELINES = "linear probe", "principal components", "random directions", "always active"


def baseline(
    method: str, running: Float[Tensor, "m D"], train: Tokens, test: Tokens, width: int, seed: int
) -> tuple[Tensor, Tensor]:
    """The activations of one of BASELINES on both parts. Principal components are those of `running`, vectors of any words."""
    centre = running.mean(dim=0)
    if method == "random directions":
        directions = random_directions(running, width, seed)
    elif method == "principal components":
        directions = principal_directions(running)
    elif method == "always active":
        return torch.ones(len(train.x), 1), torch.ones(len(test.x), 1)
    else:
        return logistic_scores(train, test)
    return (train.x - centre) @ directions, (test.x - centre) @ directions


def f1_of_baselines(
    train: Tokens, test: Tokens, width: int, detection: Detection, draws: int = 10
) -> dict[str, Float[np.ndarray, " C"]]:
    """F1 of three of BASELINES for each sense, chosen and tested as latents are; of random directions the mean over so many draws."""

    def f1(method: str, draw: int = 0) -> Float[np.ndarray, " C"]:
        activations = baseline(method, train.x, train, test, width, draw)
        return detected(*activations, train, test, detection).f1.to_numpy()

    return {
        "linear probe": f1("linear probe"),
        f"{width} random directions ({draws} draws)": np.mean(
            [f1("random directions", draw) for draw in range(draws)], axis=0
        ),
        "always active": f1("always active"),
    }


def logistic_scores(train: Tokens, test: Tokens) -> tuple[Float[Tensor, "m C"], Float[Tensor, "n C"]]:
    """The scores of a logistic regression for each sense, fitted to the training sentences of its word; positive where it says yes."""
    from sklearn.linear_model import LogisticRegression  # start-up: only this function needs it

    centre, scale = train.x.mean(dim=0), train.x.std()
    found = tuple(torch.zeros(len(side.x), train.truth.shape[1]) for side in (train, test))
    inputs = [((side.x - centre) / scale).numpy() for side in (train, test)]
    for sense in range(train.truth.shape[1]):
        here = train.asked[:, sense].numpy()
        probe = LogisticRegression(C=0.1, class_weight="balanced", max_iter=300)
        probe.fit(inputs[0][here], train.truth[:, sense].numpy()[here])
        for scores, x in zip(found, inputs, strict=True):
            scores[:, sense] = torch.tensor(probe.decision_function(x))
    return found[0], found[1]
