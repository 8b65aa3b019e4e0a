"""Which of its two words a pseudo-word represents, predicted from a model's vectors, layer by layer, and from counts alone.

A model is trained on text in which the words of each pair are merged (`pseudo_words.merge`). Then, for each pair, a linear
classifier learns the sense from the pseudo-word's vector at some positions in the training books, and is tested at positions
in books by other authors. `side` truncates the sentence, to show how much the words before and after reveal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_matrix
from sklearn.linear_model import RidgeClassifierCV
from sklearn.naive_bayes import MultinomialNB
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from coursekit.batches import by_length
from coursekit.novels.corpus import ROW, WORDS, Corpus
from coursekit.novels.figures import BATCH, Side
from coursekit.novels.kneser_ney import KneserNey
from coursekit.novels.pseudo_words import Pair
from coursekit.novels.recipes import spelling_of
from coursekit.small.bert import BOS, CLS, EOS, PAD, SEP, UNK

AROUND = 40
"""The number of words on each side that are read."""
LABELLED, ASKED = 200, 60
"""The numbers of positions of each pair, for both words together: for training and for the test."""
STRENGTHS = 10.0 ** np.arange(-1, 6)
"""Strengths of the classifier's penalty; the best one for each pair is found by leave-one-out."""


@dataclass(frozen=True)
class Places:
    """Occurrences of pseudo-words in a split: the pair, whether it is the second word, the row, and the position in the row."""

    split: str
    pair: Int[np.ndarray, " N"]
    sense: Bool[np.ndarray, " N"]
    row: Int[np.ndarray, " N"]
    word: Int[np.ndarray, " N"]


def places_of(
    corpus: Corpus, pairs: Sequence[Pair], split: str, most: int | None = None, seed: int = 0
) -> Places:
    """All occurrences of the pairs' words in the corpus before merging, or `most` for each pair, drawn at random."""
    rng, rows = np.random.default_rng(seed), corpus.word_rows(split)
    values, number = np.asarray(rows.values), {word: place for place, word in enumerate(corpus.words)}
    found = []
    for pair, words in enumerate(pairs):
        first, second = (number[word] for word in words[:2])
        at = np.flatnonzero((values == first) | (values == second))
        if most is not None:
            at = np.sort(rng.permutation(at)[:most])
        found.append((np.full(len(at), pair), values[at] == second, at))
    pair, sense, at = (np.concatenate(parts) for parts in zip(*found, strict=True))
    row = np.searchsorted(rows.ends, at, side="right")
    return Places(split, pair, sense, row, at - (rows.ends - rows.lengths)[row])


def around(words: Sequence[int], word: int, side: Side) -> tuple[list[int], int]:
    """The words of a row that are read, and the position of the pseudo-word among them."""
    start = word if side == "right" else max(0, word - AROUND)
    end = word + 1 if side == "left" else word + 1 + AROUND
    return list(map(int, words[start:end])), word - start


# --- models ---

Vectors = Float[Tensor, "layers N D"]


@torch.no_grad()
def _vectors_of_bert(model: nn.Module, merged: Corpus, places: Places, side: Side) -> Vectors:
    def hidden(ids):
        return model.encode(model.embeddings(ids, torch.zeros_like(ids)), ids != PAD)

    return _of_pieces(hidden, merged, places, side, [CLS], [SEP])


@torch.no_grad()
def _vectors_of_gpt(model: nn.Module, merged: Corpus, places: Places, side: Side) -> Vectors:
    def hidden(ids):
        return model.encode(model.embed(ids))

    return _of_pieces(hidden, merged, places, side, [BOS], [])


@torch.no_grad()
def _vectors_of_elmo(model: nn.Module, merged: Corpus, places: Places, side: Side) -> Vectors:
    spelling = spelling_of(merged)

    def hidden(ids):
        return model.encode(model.token(spelling.of_ids(ids)), ids != PAD)

    read = _contexts(merged, places, side)
    return _gathered(hidden, [([BOS, *words, EOS], place + 1) for words, place in read])


VECTORS: dict[str, Callable[[nn.Module, Corpus, Places, Side], Vectors]] = {
    "elmo": _vectors_of_elmo,
    "bert": _vectors_of_bert,
    "gpt": _vectors_of_gpt,
}


def _of_pieces(
    hidden, merged: Corpus, places: Places, side: Side, first: list[int], last: list[int]
) -> Vectors:
    """A pseudo-word is one subword; if a context has too many subwords, those around it are read."""

    @cache
    def pieces_of(word: int) -> list[int]:
        return merged.tokenizer.encode(merged.words[word], add_special_tokens=False).ids

    rows = []
    for words, place in _contexts(merged, places, side):
        before = [piece for word in words[:place] for piece in pieces_of(word)][-(ROW // 2) :]
        after = [piece for word in words[place + 1 :] for piece in pieces_of(word)][: ROW - 1 - len(before)]
        rows.append(([*first, *before, *pieces_of(words[place]), *after, *last], len(first) + len(before)))
    return _gathered(hidden, rows)


def _contexts(merged: Corpus, places: Places, side: Side) -> list[tuple[list[int], int]]:
    rows = merged.word_rows(places.split)
    return [around(rows[row], word, side) for row, word in zip(places.row, places.word, strict=True)]


def _gathered(hidden, rows: Sequence[tuple[list[int], int]]) -> Vectors:
    """The vectors at one position of each row; rows of similar length are read together."""

    def read(numbers: Int[Tensor, " b"]) -> Vectors:
        some, places = zip(*(rows[number] for number in numbers), strict=True)
        ids = pad_sequence([torch.tensor(row) for row in some], batch_first=True, padding_value=PAD)
        return hidden(ids)[:, range(len(ids)), places]

    return by_length(read, [len(row) for row, _ in rows], BATCH, dim=1)


def right_by_layer(
    labelled: Vectors, asked: Vectors, learned_from: Places, places: Places
) -> Bool[np.ndarray, "layers N"]:
    """Whether the sense is predicted correctly from each layer's vector, by a linear classifier for each pair."""
    return np.stack(
        [
            _told(mine.numpy(), theirs.numpy(), learned_from, places)
            for mine, theirs in zip(labelled, asked, strict=True)
        ]
    )


def _told(
    labelled: Float[np.ndarray, "N D"], asked: Float[np.ndarray, "M D"], learned_from: Places, places: Places
) -> Bool[np.ndarray, " M"]:
    right = np.zeros(len(asked), dtype=bool)
    for pair in np.unique(places.pair):
        here, there = learned_from.pair == pair, places.pair == pair
        mean, spread = labelled[here].mean(axis=0), labelled[here].std(axis=0) + 1e-6
        if len(np.unique(learned_from.sense[here])) < 2:
            right[there] = places.sense[there] == learned_from.sense[here][0]
            continue
        classifier = RidgeClassifierCV(STRENGTHS).fit(
            (labelled[here] - mean) / spread, learned_from.sense[here]
        )
        right[there] = classifier.predict((asked[there] - mean) / spread) == places.sense[there]
    return right


def learned_mix(
    labelled: Vectors, learned_from: Places, steps: int = 300, decay: float = 1e-2, seed: int = 0
) -> Float[np.ndarray, " layers"]:
    """The weights of ELMo's layers (Peters et al., 2018), learned with a linear classifier for each pair; they sum to 1."""
    layers, _, dim = labelled.shape
    means, spreads = labelled.mean(dim=1, keepdim=True), labelled.std(dim=1, keepdim=True) + 1e-6
    x, pair = (labelled - means) / spreads, torch.from_numpy(learned_from.pair)
    wanted = torch.from_numpy(learned_from.sense).float()
    torch.manual_seed(seed)
    mix, bias = torch.zeros(layers, requires_grad=True), torch.zeros(int(pair.max()) + 1, requires_grad=True)
    weights = (0.01 * torch.randn(len(bias), dim)).requires_grad_()
    optimizer = torch.optim.AdamW(
        [{"params": [weights], "weight_decay": decay}, {"params": [mix, bias], "weight_decay": 0.0}], lr=0.02
    )
    for _ in range(steps):
        mixed = torch.tensordot(mix.softmax(dim=0), x, dims=1)
        logits = (mixed * weights[pair]).sum(dim=1) + bias[pair]
        loss = nn.functional.binary_cross_entropy_with_logits(logits, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return mix.detach().softmax(dim=0).numpy()


# --- counts ---


def right_by_majority(learned_from: Places, places: Places) -> Bool[np.ndarray, " N"]:
    """The baseline that always predicts the word that is more frequent in training."""
    second = np.array(
        [
            learned_from.sense[learned_from.pair == pair].mean() > 0.5
            for pair in range(learned_from.pair.max() + 1)
        ]
    )
    return second[places.pair] == places.sense


def right_by_words(
    corpus: Corpus, learned_from: Places, places: Places, reach: int, by_place: bool
) -> Bool[np.ndarray, " N"]:
    """Naive Bayes on the words up to `reach` before and after, learned from all places of `learned_from`.

    by_place    True: words at different distances are counted separately (a window); False: together (a bag of words)
    """
    right, vocabulary = np.zeros(len(places.pair), dtype=bool), len(corpus.words)

    def features(of: Places, which: np.ndarray) -> csr_matrix:
        rows, entries = corpus.word_rows(of.split), []
        for line, at in enumerate(np.flatnonzero(which)):
            row, word = rows[of.row[at]], of.word[at]
            for near in range(max(0, word - reach), min(len(row), word + reach + 1)):
                if near != word:
                    distance = near - word + reach if by_place else 0
                    entries.append((line, distance * vocabulary + int(row[near])))
        lines, columns = np.array(entries, dtype=np.int64).reshape(-1, 2).T
        size = (int(which.sum()), vocabulary * (2 * reach + 1 if by_place else 1))
        return csr_matrix((np.ones(len(lines)), (lines, columns)), shape=size)

    for pair in np.unique(places.pair):
        here, there = learned_from.pair == pair, places.pair == pair
        learned = MultinomialNB(alpha=0.1).fit(features(learned_from, here), learned_from.sense[here])
        right[there] = learned.predict(features(places, there)) == places.sense[there]
    return right


def right_by_n_grams(
    model: KneserNey, corpus: Corpus, pairs: Sequence[Pair], places: Places, side: Side
) -> Bool[np.ndarray, " N"]:
    """The word with which the sentence is more probable, according to n-grams of the text before merging."""
    number, reach = {word: place for place, word in enumerate(corpus.words)}, model.order - 1
    rows, right = corpus.word_rows(places.split), np.zeros(len(places.pair), dtype=bool)
    for at, (pair, sense, row, word) in enumerate(
        zip(places.pair, places.sense, places.row, places.word, strict=True)
    ):
        whole = np.append(BOS, np.where(rows[row] < WORDS, rows[row], UNK)).astype(np.int64)
        place = word + 1
        before = whole[max(0, place - reach) : place] if side != "right" else whole[:0]
        after = whole[place + 1 : place + 1 + reach] if side != "left" else whole[:0]
        both = np.array([[*before, number[either], *after] for either in pairs[pair][:2]])
        first, second = model.log_p(both)[:, len(before) :].sum(axis=1)
        right[at] = (second > first) == sense
    return right
