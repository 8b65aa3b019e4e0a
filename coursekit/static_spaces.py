"""The three vectors of a word that are called static: a row of a model's embedding table, its layer 0, and GloVe's."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from coursekit.models import Loaded
from coursekit.vectors import WordVectors


@dataclass(frozen=True, eq=False)
class StaticSpaces:
    """The spaces of a BERT-like model's embedding table, of its layer 0, and of GloVe."""

    loaded: Loaded
    glove: WordVectors

    @cached_property
    def common(self) -> list[str]:
        """Frequent words that have a row in the table and a vector in GloVe."""
        vocabulary = self.loaded.tokenizer.get_vocab()
        return [
            word
            for word in self.glove.words[200:8000]
            if word in vocabulary and word.isalpha() and len(word) > 2
        ]

    @torch.no_grad()
    def vectors(self, words: Sequence[str], position: int = 1) -> dict[str, Float[Tensor, "n D"]]:
        """The three vectors of each word. For layer 0, the word is at `position`, preceded only by [CLS] tokens."""
        vocabulary = self.loaded.tokenizer.get_vocab()
        ids = torch.tensor([vocabulary[word] for word in words])
        alone = torch.full((len(words), position + 1), self.loaded.tokenizer.cls_token_id)
        alone[:, position] = ids
        embeddings = self.loaded.model.embeddings
        return {
            "table row": embeddings.word_embeddings.weight[ids],
            "layer 0": embeddings(input_ids=alone)[:, position],
            "GloVe": self.glove.of(words),
        }

    def random_pairs(self, count: int) -> list[tuple[str, str]]:
        """Pairs of common words, drawn with replacement; always the same."""
        draw = np.random.default_rng(0)
        first, second = (list(draw.choice(self.common, count)) for _ in range(2))
        return list(zip(first, second, strict=True))

    def cosines(self, pairs: Sequence[tuple[str, str]]) -> dict[str, Float[np.ndarray, " pairs"]]:
        """The cosine of each pair of words in each space."""
        one, other = (self.vectors([pair[side] for pair in pairs]) for side in (0, 1))
        return {name: torch.cosine_similarity(one[name], other[name], dim=-1).numpy() for name in one}
