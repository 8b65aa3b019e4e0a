"""Interpolated Kneser–Ney n-grams (Kneser and Ney, 1995; Chen and Goodman, 1999): predictions from counts alone.

model = KneserNey(stream, vocabulary=8192, order=5)      # a stream of ids
model.log_p(other_stream)                                # log p of each token given those before it, in nats
"""

import numpy as np
from jaxtyping import Float, Int


class KneserNey:
    """N-grams of a stream, with one discount for each order, n1 / (n1 + 2 n2), as in the paper.

    The number of an n-gram is its index among the sorted n-grams of its order. Its key is the number of the n-gram without the
    last token, times the size of the vocabulary, plus the last token.
    """

    def __init__(self, stream: Int[np.ndarray, " N"], vocabulary: int, order: int = 5):
        self.vocabulary, self.order = vocabulary, order
        stream = np.asarray(stream, dtype=np.int64)
        self.keys: list[np.ndarray] = []  # of each order, sorted
        numbers, places = [], []  # of the n-gram that ends at each token; where each n-gram was found first
        for n in range(1, order + 1):
            keys = stream if n == 1 else self._key(numbers[-1][:-1], stream[n - 1 :])
            found, first, number = np.unique(keys, return_index=True, return_inverse=True)
            self.keys.append(found), places.append(first), numbers.append(number)
        self.counts, self.discounts, self.totals, self.kinds = [], [], [], []
        for n in range(1, order + 1):
            if n == order:
                counts = np.bincount(numbers[-1], minlength=len(self.keys[-1]))
            else:  # in how many different contexts one token longer it was seen; the stream's first was in none
                ends = numbers[n - 1][places[n] + 1]
                counts = np.bincount(ends, minlength=len(self.keys[n - 1]))
            ones, twos = (counts == 1).sum(), (counts == 2).sum()
            self.counts.append(counts)
            self.discounts.append(ones / (ones + 2 * twos) if ones else 0.0)
            contexts = self.keys[n - 1] // vocabulary if n > 1 else np.zeros(len(counts), dtype=np.int64)
            size = len(self.keys[n - 2]) if n > 1 else 1
            self.totals.append(np.bincount(contexts, counts, minlength=size))
            self.kinds.append(np.bincount(contexts, counts > 0, minlength=size))

    def log_p(self, stream: Int[np.ndarray, "*B N"]) -> Float[np.ndarray, "*B N"]:
        """log p of each token after the `order` − 1 before it (fewer at the beginning), in nats."""
        stream = np.asarray(stream, dtype=np.int64)
        p = np.full(stream.shape, 1 / self.vocabulary)
        gram = np.full(stream.shape, 0)  # the context of one token: none
        for n in range(1, self.order + 1):
            if n > 1:
                gram = np.concatenate([np.full((*stream.shape[:-1], 1), -1), gram[..., :-1]], axis=-1)
            number = self._number(n, gram, stream)
            context = np.maximum(gram, 0)
            total = np.where(gram >= 0, self.totals[n - 1][context], 0)
            count = np.where(number >= 0, self.counts[n - 1][np.maximum(number, 0)], 0)
            discount, kinds = self.discounts[n - 1], self.kinds[n - 1][context]
            seen = total > 0
            total = np.where(seen, total, 1)
            p = np.where(seen, np.maximum(count - discount, 0) / total + discount * kinds / total * p, p)
            gram = number
        with np.errstate(divide="ignore"):  # without a discount, what was never seen is impossible
            return np.log(p)

    def _key(self, context: Int[np.ndarray, "*N"], token: Int[np.ndarray, "*N"]) -> Int[np.ndarray, "*N"]:
        return context * self.vocabulary + token

    def _number(
        self, n: int, context: Int[np.ndarray, "*N"], token: Int[np.ndarray, "*N"]
    ) -> Int[np.ndarray, "*N"]:
        """The number of each n-gram; −1 for an n-gram that did not occur."""
        keys = self.keys[n - 1]
        wanted = token if n == 1 else self._key(context, token)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((keys[place] == wanted) & (context >= 0), place, -1)
