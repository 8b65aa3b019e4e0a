"""Baselines for the senses of a word: static vectors of its sentence, ELMo's vector, and a classifier on the nearest words (notebook 12).

A reader takes the words of a sentence and the position of the target and returns a vector. The sentences are those of the
generated language (the course's test) and the real ones of `data/senses`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit.batches import by_length
from coursekit.datasets import read_table
from coursekit.exam import sense_exam
from coursekit.language import load_language
from coursekit.small.elmo import ELMo, Spelling, encode_words
from coursekit.vectors import WordVectors, load_glove

Reader = Callable[[list[str], int], Float[Tensor, " D"]]
Weight = Callable[[Int[Tensor, "n T"]], Float[Tensor, "n T"]]
BEFORE, LATER = "cue before", "cue only later"


@cache
def _glove() -> WordVectors:
    """GloVe's vectors; the files are checked only once, because the readers need the vectors at every sentence."""
    return load_glove()


def single_vector(words: list[str], place: int) -> Float[Tensor, " D"]:
    """The static vector of the word itself."""
    return _glove()[words[place]]


def bag(words: list[str], place: int) -> Float[Tensor, " D"]:
    """The mean vector of the other words."""
    glove = _glove()
    others = [glove[word] for i, word in enumerate(words) if i != place and word in glove]
    return torch.stack(others).mean(dim=0)


def near_words(words: list[str], place: int) -> Float[Tensor, " D"]:
    """The sum of the other words' vectors, each divided by its distance from the target."""
    glove = _glove()
    others = [glove[w] / abs(i - place) for i, w in enumerate(words) if i != place and w in glove]
    return torch.stack(others).sum(dim=0)


def of_form(words: list[str], place: int) -> Float[Tensor, " D"]:
    """The single vector of the target's form, or zeros if the form has none."""
    return single_vector(words, place) if words[place] in _glove() else torch.zeros(50)


@torch.no_grad()
def by_elmo(elmo: ELMo, sentences: Sequence[tuple[list[str], int]]) -> Float[Tensor, "n D"]:
    """The vectors of ELMo's last layer, in batches of similar length; ELMo reads words letter by letter."""
    spelling = Spelling()

    def read(places: Int[Tensor, " b"]) -> Float[Tensor, "b D"]:
        some = [sentences[n] for n in places]
        hidden = encode_words(elmo, spelling, [["[BOS]", *words, "[EOS]"] for words, _ in some])[-1]  # b T D
        return hidden[range(len(some)), [place + 1 for _, place in some]]

    return by_length(read, [len(words) for words, _ in sentences], 64)


def of_language(reader: Reader) -> list[Float[Tensor, "n D"]]:
    """The vectors of the labelled and of the held-out sentences of the course's test."""
    exam = sense_exam()
    return [
        torch.stack([reader(side.words(i), place - 1) for i, place in enumerate(side.position)])
        for side in (exam.labelled, exam.held_out)
    ]


def weighted_in_language(weight: Weight) -> list[Float[Tensor, "n D"]]:
    """The sums of the other words' vectors in both halves of the test, weighted by their distance from the target."""
    glove, exam = _glove(), sense_exam()
    sides = exam.labelled, exam.held_out
    table = torch.stack(
        [glove[word] if word in glove else torch.zeros(50) for word in load_language().vocabulary]
    )
    apart = [torch.arange(side.ids.shape[1]) - torch.from_numpy(side.position)[:, None] for side in sides]
    weights = [weight(far).masked_fill(far == 0, 0)[:, None].float() for far in apart]
    return [
        (near @ table[torch.from_numpy(side.ids)])[:, 0] for near, side in zip(weights, sides, strict=True)
    ]


def split(sentence: str, start: int) -> tuple[list[str], int]:
    """The words of a sentence in lower case, and the position of the one that begins at `start`."""
    found = list(re.finditer(r"[a-z0-9]+(?:'[a-z]+)?", sentence.lower()))
    return [one.group() for one in found], sum(one.start() <= start for one in found) - 1


@cache
def real_sentences() -> list[pd.DataFrame]:
    """The training and the test sentences of `data/senses`, with a number for each word and each sense."""
    table = read_table("senses/senses.csv")
    table["sense_id"], table["word_id"] = (pd.factorize(table[key])[0] for key in ("sense", "word"))
    return [table[table.split == name] for name in ("train", "test")]


def _window(words: list[str], place: int) -> dict[str, int]:
    """The two words on each side of the target, with their relative positions."""
    return {f"{i:+d} {words[place + i]}": 1 for i in (-2, -1, 1, 2) if 0 <= place + i < len(words)}


def by_window() -> Float[Tensor, " n"]:
    """1 where `right_by_window` finds the sense of a test sentence of `data/senses`, otherwise 0."""
    table = pd.concat(real_sentences())
    right = right_by_window(table, [_window(*split(row.sentence, row.start)) for row in table.itertuples()])
    return torch.from_numpy(right[table.split == "test"]).float()


def right_by_window(table: pd.DataFrame, windows: Sequence[dict[str, int]]) -> Bool[np.ndarray, " n"]:
    """Whether a logistic regression on the window of two finds the sense; each word has its own, from its training sentences."""
    # start-up: only this reader needs scikit-learn
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    train, sense = (table.split == "train").to_numpy(), table.sense.to_numpy()
    right = np.zeros(len(table), dtype=bool)
    for rows in table.groupby("word").indices.values():
        counter, model, labelled = DictVectorizer(), LogisticRegression(max_iter=1000), rows[train[rows]]
        model.fit(counter.fit_transform([windows[i] for i in labelled]), sense[labelled])
        right[rows] = model.predict(counter.transform([windows[i] for i in rows])) == sense[rows]
    return right


def word_by_word(
    evaluate: Callable,
    known: Float[Tensor, "m D"],
    known_words: Int[Tensor, " m"],
    known_senses: Int[Tensor, " m"],
    asked: Float[Tensor, "n D"],
    asked_words: Int[Tensor, " n"],
) -> Int[Tensor, " n"]:
    """The senses that the student's `evaluate` finds, from the sentences of one word at a time: only these may vote."""
    found = torch.empty_like(asked_words)
    for word in asked_words.unique():
        ours, theirs = known_words == word, asked_words == word
        labelled = known[ours], known_words[ours], known_senses[ours]
        found[theirs] = evaluate(*labelled, asked[theirs], asked_words[theirs])
    return found


def real_answers(
    readers: Mapping[str, Reader], elmo: ELMo, evaluate: Callable, recorded: pd.DataFrame
) -> dict[str, Float[Tensor, " n"]]:
    """1 where a method finds the sense of the target in a test sentence of `data/senses`, otherwise 0.

    The readers and ELMo are judged by the student's `evaluate`; then come the window of two and the recorded models.
    """
    parts = real_sentences()
    sentences = [[split(row.sentence, row.start) for row in part.itertuples()] for part in parts]
    labels = [torch.tensor(part[key].to_numpy()) for part in parts for key in ("word_id", "sense_id")]
    vectors = {
        name: [torch.stack([reader(*where) for where in half]) for half in sentences]
        for name, reader in readers.items()
    }
    vectors["ELMo"] = [by_elmo(elmo, half) for half in sentences]
    right = {}
    for name, (one, other) in vectors.items():
        guess = evaluate(one, labels[0], labels[1], other, labels[2])
        right[name] = (guess == labels[3]).float()
    right["window of two"] = by_window()
    for name, rows in recorded[recorded.exam == "senses"].groupby("model", sort=False):
        right[name] = torch.tensor(rows.sort_values("item").right.to_numpy()).float()
    return right


def position_of_cue(row: Any) -> str:
    """Where the cues are that `data/senses` lists for a sentence, relative to its target; "" for plain sentences, which have none."""
    before = row.sentence[: row.start].lower()
    if pd.isna(row.cue):
        return ""
    cues = row.cue.lower().split()
    return BEFORE if any(re.search(rf"\b{re.escape(cue)}\b", before) for cue in cues) else LATER
