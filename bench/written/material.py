"""Answers to four questions of the course, with the points of two readings; and classes drawn from them."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bench.written.changes import change

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Material:
    """Texts, and for each the points of the guide that a reading ticked, such as "10": the first and not the second."""

    question: str
    texts: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]

    @cached_property
    def points(self) -> tuple[int, ...]:
        """Of the first reading, against which everything is compared."""
        return tuple(map(worth, self.first))

    def drawn(self, size: int, seed: int) -> "Material":
        """A class: each answer one of these, with small changes that leave its points alone."""
        draw = random.Random(seed)
        chosen = [draw.randrange(len(self.texts)) for _ in range(size)]
        texts = tuple(change(self.texts[place], draw) for place in chosen)
        return Material(
            self.question,
            texts,
            tuple(self.first[place] for place in chosen),
            tuple(self.second[place] for place in chosen),
        )


def worth(ticks: str) -> int:
    """Each point of these guides is worth one."""
    return ticks.count("1")


def read(folder: Path = FOLDER) -> list[Material]:
    """All of it, question by question."""
    readings = json.loads((folder / "readings.json").read_text())
    return [
        Material(
            name,
            tuple(texts(folder / "answers" / f"{name}.txt")),
            *(tuple(of[r]) for r in ("first", "second")),
        )
        for name, of in readings.items()
    ]


def texts(path: Path) -> Sequence[str]:
    """The answers of a file, with an empty line between two."""
    return path.read_text(encoding="utf-8").strip().split("\n\n")
