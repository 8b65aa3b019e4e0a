"""Pairs of words with people's ratings, WordSim-353 and SimLex-999: read from a Python package, without a network."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from coursekit.packaged import Package, PackageUnusable


class RatingsMissing(PackageUnusable):
    """The package with the ratings is not installed, or its files differ from the published ones."""


PACKAGE = Package(
    name="probabilistic-word-embeddings",
    version="1.18.2",
    carries="The ratings of word pairs are",
    inside="data/eval",
    sha256={
        "WS-353-ALL.tsv": "ce12919b240af45bdf46d243601eaca2b6212b159b5e7e9b435ee7ee40c5619c",
        "SimLex999.tsv": "405394ffb7d25f6d0e3c041f87c9f27d29dc6b047506769953e85c4523b11685",
    },
    error=RatingsMissing,
)
"""A program of 0.12 MB (MIT licence), of which only these two files are read. They have the same pairs and ratings as the files in Gensim."""

FILES = {"WordSim-353": "WS-353-ALL.tsv", "SimLex-999": "SimLex999.tsv"}


@dataclass(frozen=True, eq=False)
class RatedPairs:
    """Pairs of lower-case words, and the mean rating of each pair by several people, from 0 to 10."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    ratings: Float[Tensor, " n"]

    def __len__(self) -> int:
        return len(self.first)

    def rows(self, index: Mapping[str, int]) -> Int[Tensor, "n 2"]:
        """The row numbers of both words of each pair in a table of vectors; −1 for a word that is not in `index`."""
        return torch.tensor(
            [[index.get(word, -1) for word in pair] for pair in zip(self.first, self.second, strict=True)]
        )

    @cached_property
    def table(self) -> pd.DataFrame:
        """The same as a table with the columns first, second and rating."""
        return pd.DataFrame(
            {"first": self.first, "second": self.second, "rating": self.ratings.double().numpy().round(2)}
        )


def load_rated_pairs() -> dict[str, RatedPairs]:
    """WordSim-353 and SimLex-999 by their names; an empty dictionary, after a sentence, if the package is missing or damaged.

    WordSim-353 (Finkelstein et al., 2002; CC BY 4.0): 353 pairs, rated for relatedness. SimLex-999 (Hill, Reichart and
    Korhonen, 2015; its authors name no licence and ask to be cited): 999 pairs, rated for similarity.
    """
    try:
        folder = PACKAGE.folder()
    except RatingsMissing as missing:
        print(f"{missing} The rest of this notebook does not need these ratings.")
        return {}
    return {name: _read(folder / file) for name, file in FILES.items()}


@cache
def _read(path: Path) -> RatedPairs:
    lines = (line.split("\t") for line in path.read_text("utf-8").splitlines() if line)
    first, second, ratings = zip(*lines, strict=True)
    return RatedPairs(
        tuple(map(str.lower, first)), tuple(map(str.lower, second)), torch.tensor([*map(float, ratings)])
    )
