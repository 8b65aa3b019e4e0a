"""Vectors of a target word from the models that were trained on the same novels, and from sums of word vectors (notebook 12).

A reader takes places, that is, sentences with the beginning and the end of their target, and returns a vector per layer.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pad_sequence

from coursekit.batches import by_length
from coursekit.novels import shipped
from coursekit.sense_readers import split
from coursekit.small.bert import BOS, CLS, PAD, SEP
from coursekit.small.elmo import encode_words

Place = tuple[str, int, int]
"""A sentence; where the target begins and ends."""
Reader = Callable[[Sequence[Place]], Float[Tensor, "n layers D"]]

load_elmo, load_bert, load_gpt = cache(shipped.load_elmo), cache(shipped.load_bert), cache(shipped.load_gpt)


@cache
def skip_gram() -> dict[str, Float[Tensor, " D"]]:
    """The static vector of each word of the novels."""
    return dict(zip(*shipped.load_skipgram(), strict=True))


def _other_words(places: Sequence[Place], weight: Callable[[int], float]) -> Float[Tensor, "n 1 D"]:
    """The sum of the other words' vectors, each weighted according to its distance from the target."""
    vectors, sums = skip_gram(), torch.zeros(len(places), 1, 100)
    for of_sentence, (sentence, start, _) in zip(sums, places, strict=True):
        words, place = split(sentence, start)
        for i, word in enumerate(words):
            if i != place and word in vectors:
                of_sentence += weight(i - place) * vectors[word]
    return sums


def read_as_bag(places: Sequence[Place]) -> Float[Tensor, "n 1 D"]:
    """The sum of the other words' vectors."""
    return _other_words(places, lambda apart: 1)


def read_near_words(places: Sequence[Place]) -> Float[Tensor, "n 1 D"]:
    """The sum of the other words' vectors, each divided by its distance from the target."""
    return _other_words(places, lambda apart: 1 / abs(apart))


def read_words_before(places: Sequence[Place]) -> Float[Tensor, "n 1 D"]:
    """The same sum over the words before the target."""
    return _other_words(places, lambda apart: (apart < 0) / abs(apart))


def _mean_at(
    hidden: Float[Tensor, "layers n T D"], of_word: Sequence[list[int]]
) -> Float[Tensor, "n layers D"]:
    return torch.stack([hidden[:, row, at].mean(dim=1) for row, at in enumerate(of_word)])


def _in_pieces(
    places: Sequence[Place], first: list[int], last: list[int]
) -> tuple[Int[Tensor, "n T"], list[list[int]]]:
    """The token ids of the sentences, and the positions of the target's subwords."""
    pieces = load_bert()[1]
    encoded = [pieces.encode(sentence, add_special_tokens=False) for sentence, _, _ in places]
    ids = pad_sequence([torch.tensor([*first, *one.ids, *last]) for one in encoded], batch_first=True)
    return ids, [
        [len(first) + i for i, (begins, ends) in enumerate(one.offsets) if begins < end and ends > start]
        for one, (_, start, end) in zip(encoded, places, strict=True)
    ]


@torch.no_grad()
def read_by_elmo(places: Sequence[Place]) -> Float[Tensor, "n layers D"]:
    """ELMo's vectors of the target."""
    elmo, spelling = load_elmo()
    words = [["[BOS]", *spelling.split(sentence), "[EOS]"] for sentence, _, _ in places]
    hidden = encode_words(elmo, spelling, words)
    return _mean_at(hidden, [[len(spelling.split(sentence[:end]))] for sentence, _, end in places])


@torch.no_grad()
def read_by_bert(places: Sequence[Place]) -> Float[Tensor, "n layers D"]:
    """BERT's vectors of the target: the mean over its subwords."""
    bert, (ids, of_word) = load_bert()[0], _in_pieces(places, [CLS], [SEP])
    embedded = bert.embeddings(ids, torch.zeros_like(ids))
    return _mean_at(bert.encode(embedded, ids != PAD), of_word)


@torch.no_grad()
def read_by_gpt(places: Sequence[Place]) -> Float[Tensor, "n layers D"]:
    """GPT's vectors of the target: the mean over its subwords."""
    gpt, (ids, of_word) = load_gpt()[0], _in_pieces(places, [BOS], [])
    return _mean_at(gpt.encode(gpt.embed(ids)), of_word)


NOVEL_READERS: dict[str, Reader] = {
    "bag of words": read_as_bag,
    "near words": read_near_words,
    "near words before": read_words_before,
    "ELMo": read_by_elmo,
    "BERT": read_by_bert,
    "GPT": read_by_gpt,
}


def known_to_novels(part: pd.DataFrame) -> "pd.Series[bool]":
    """Which sentences have a target that occurs in the novels."""
    return part.form.str.lower().isin(skip_gram())


def read_all(reader: Reader, part: pd.DataFrame) -> Float[Tensor, "n layers D"]:
    """Vectors of all sentences; those of similar length share a batch."""
    places = [(row.sentence, row.start, row.start + len(row.form)) for row in part.itertuples()]
    lengths = [len(sentence) for sentence, _, _ in places]
    return by_length(lambda some: reader([places[i] for i in some]), lengths, 64)


def chance_level(word: np.ndarray, sense: np.ndarray) -> np.ndarray:
    """For each sentence, one divided by the number of senses of its word."""
    of_each = pd.DataFrame({"word": word, "sense": sense})
    return 1 / of_each.groupby("word").sense.transform("nunique").to_numpy()


def nearest_labelled(
    word: str,
    sentence: str,
    labelled: pd.DataFrame,
    vectors: Mapping[str, tuple[Float[Tensor, "m D"], Float[Tensor, "n D"]]],
    layers: Mapping[str, int],
) -> str:
    """For each model, the labelled sentence whose target is nearest to the word in a sentence of one's own, or what to change.

    `vectors` has the vectors of the labelled sentences first, `layers` the layer that is used of each contextual model.
    """
    word, sentence = word.lower().strip(), sentence.lower()
    where, rows = re.search(rf"\b{re.escape(word)}\b", sentence), np.flatnonzero(labelled.word == word)
    if where is None or not len(rows):
        return f"choose one of these words and a sentence that contains it: {', '.join(sorted(set(labelled.word)))}"
    bert, pieces = load_bert()
    if len(pieces.encode(sentence, add_special_tokens=False).ids) > bert.config.tokens - 2:
        return f"choose a shorter sentence: BERT and GPT have {bert.config.tokens} positions"
    lines = []
    for name, reader in NOVEL_READERS.items():
        vector = reader([(sentence, *where.span())])[0, layers.get(name, 0)]
        nearest = normalize(vectors[name][0][rows], dim=-1) @ normalize(vector, dim=-1)
        found = labelled.iloc[rows[int(nearest.argmax())]]
        lines.append(f"{name}: {found.sense}\n    nearest: {found.sentence}")
    return "\n".join(lines)
