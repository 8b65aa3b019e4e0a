"""Answers to four questions of the course, with the points of two readers; and classes drawn from them."""

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.written.changes import change

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Material:
    """Texts, and for each the points of the guide that a reading ticked, such as "10": the first and not the second.

    first     by the hand that wrote the answers;
    again     by the same hand, later and in another order;
    second    by a reader who did not write them and had seen no ticks.
    """

    question: str
    texts: tuple[str, ...]
    first: tuple[str, ...]
    again: tuple[str, ...]
    second: tuple[str, ...]

    def drawn(self, size: int, seed: int) -> "Material":
        """A class: each answer one of these, with small changes that leave its points alone."""
        draw = random.Random(seed)
        chosen = [draw.randrange(len(self.texts)) for _ in range(size)]
        texts = tuple(change(self.texts[place], draw) for place in chosen)
        readings = (
            tuple(reading[place] for place in chosen) for reading in (self.first, self.again, self.second)
        )
        return Material(self.question, texts, *readings)


def worth(ticks: str) -> int:
    """Each point of these guides is worth one."""
    return ticks.count("1")


def points(reading: Iterable[str]) -> np.ndarray:
    """What each answer gets by a reading."""
    return np.array([worth(ticks) for ticks in reading])


def read(folder: Path = FOLDER) -> list[Material]:
    """All of it, question by question."""
    readings = json.loads((folder / "readings.json").read_text())
    return [
        Material(
            name,
            tuple(texts(folder / "answers" / f"{name}.txt")),
            *(tuple(of[r]) for r in ("first", "again", "second")),
        )
        for name, of in readings.items()
    ]


def texts(path: Path) -> Sequence[str]:
    """The answers of a file, with an empty line between two."""
    return path.read_text(encoding="utf-8").strip().split("\n\n")
