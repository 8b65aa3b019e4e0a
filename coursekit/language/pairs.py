"""Texts of two sentences, of which only the first is relevant to the question."""

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from coursekit.language.model import Language


def sentence_pairs(
    language: Language, n: int, seed: int, split: str, without: str
) -> tuple[Int[Tensor, "B T"], Int[Tensor, " B"], Int[Tensor, " B"], np.ndarray]:
    """Token ids of sentence pairs (the second sentence is random), the position and sense of each ambiguous word, and the kind of its cue.

    Of `n` sentences of a split, those with an ambiguous word are used, except those that contain the word `without`.
    """
    rng = np.random.default_rng(seed)
    first = language.sample(n, rng, split=split)
    left_out = (first.ids == language.id_of[without]).any(axis=1)
    first = first[(first.position >= 0) & ~left_out]
    second = first[rng.permutation(len(first))]
    ids = torch.from_numpy(np.concatenate([first.ids, second.ids], axis=1))
    return ids, torch.from_numpy(first.position), torch.from_numpy(first.sense), first.cue
