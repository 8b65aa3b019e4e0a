"""The notation of an exercise: cases, mistakes, alternatives, hints. The reference is the solution cell."""

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.errors import CourseError
from coursekit.asking import Case
from coursekit.judging import Rule
from coursekit.planted import Planted


class Draw:
    """Random inputs of one exercise. Floats are float32, so that they become torch's default type."""

    def __init__(self, seed: int, exercise: str):
        # Each exercise has a stream of its own: adding one does not change the inputs of another.
        self.rng = np.random.default_rng([seed, zlib.crc32(exercise.encode())])

    def normal(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def integers(self, low: int, high: int, *shape: int) -> np.ndarray:
        """Whole numbers from low to high − 1 (int64)."""
        return self.rng.integers(low, high, shape)

    def padding(self, batch: int, tokens: int) -> np.ndarray:
        """True where a token is real: one row full, the others end in padding. Shape (batch, tokens)."""
        lengths = np.concatenate([[tokens], self.rng.integers(1, tokens, batch - 1)])
        return np.arange(tokens)[None, :] < self.rng.permutation(lengths)[:, None]


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that students give: an edit of the solution cell, and the hint for who gives the same.

    name    what it is, as the verdict says it: "softmax over the queries".
    hint    one or two sentences to the student, pointing at the symptom, not the code.
    edits   {old: new}; each old text must stand exactly once in the solution cell.
    code    or a whole cell instead of edits.
    """

    name: str
    hint: str
    edits: Mapping[str, str] = field(default_factory=dict)
    code: str = ""


@dataclass(frozen=True)
class Exercise:
    """One graded function of a notebook.

    name          "attention.softmax"; the solution cell's grade id is "attention-softmax",
                  the check cell's "attention-softmax-check".
    cases         makes the inputs of three or more calls. Sizes pairwise distinct within a case and
                  varied between cases; values that do not saturate a softmax.
    mistakes      each becomes a fingerprint in the answer key.
    alternatives  other right answers {what is unusual: code of the whole cell}; they must pass.
    hints         four rungs: a question, the shapes, pseudocode, a near miss.
    uses          earlier exercises whose functions this one calls.
    mends         the notebook shows the faulty code that is to be mended: the solution may share its lines.
    survivors     {part of a change that `make mutants` reports: why the changed solution is as right}.
    unseen        for a rule "exposes": implementations that only the autograder tries on a student's inputs.
    """

    name: str
    cases: Callable[[Draw], Iterable[Case]]
    mistakes: tuple[Mistake, ...]
    alternatives: Mapping[str, str]
    hints: tuple[str, str, str, str]
    rule: Rule = Rule()
    uses: tuple[str, ...] = ()
    mends: bool = False
    survivors: Mapping[str, str] = field(default_factory=dict)
    unseen: tuple[Planted, ...] = ()

    @property
    def solution_id(self) -> str:
        return self.name.replace(".", "-")

    @property
    def check_id(self) -> str:
        return f"{self.solution_id}-check"

    def draw(self, seed: int) -> list[dict[str, Any]]:
        """The inputs for one seed."""
        return [dict(case) for case in self.cases(Draw(seed, self.name))]


class EditDoesNotApply(CourseError):
    """A mistake's edit does not fit the solution cell any more."""


def edited(source: str, exercise: Exercise, mistake: Mistake) -> str:
    """The solution cell with the mistake in it."""
    if mistake.code:
        return mistake.code
    for old, new in mistake.edits.items():
        if source.count(old) != 1:
            raise EditDoesNotApply(
                f"{exercise.name}, mistake {mistake.name!r}: {old!r} stands {source.count(old)} times "
                "in the solution cell; it must stand there exactly once."
            )
        source = source.replace(old, new)
    return source
