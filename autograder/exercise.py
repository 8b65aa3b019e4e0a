"""The notation of an exercise: cases, mistakes, alternatives, hints. The reference is the solution cell."""

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.checks.answer_key import numbered
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from autograder.checks.gradients import CUTS, NEEDED
from autograder.checks.planted import Planted
from autograder.errors import CourseError


class Draw:
    """Random inputs of one exercise. Floats are float32, so that they become torch's default type."""

    def __init__(self, seed: int, exercise: str):
        # Each exercise has a stream of its own: adding one does not change the inputs of another.
        self.rng = np.random.default_rng([seed, zlib.crc32(exercise.encode())])

    def normal(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        """From the normal distribution with mean 0 and standard deviation `scale` (float32)."""
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        """From the uniform distribution between low and high (float32)."""
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

    name      what it is, as the verdict says it: "softmax over the queries".
    hint      one or two sentences to the student, pointing at the symptom, not the code.
    old, new  the edit: what stands in the solution cell, exactly once, and what stands there instead.
    edits     or several edits, {old: new}, made one after the other.
    code      or a whole cell.
    also      whole cells of other code that makes the same mistake and answers otherwise: fingerprints of it, too.
    credit    the share of the points, below 1, for an answer that equals this mistake's on every input. It is not right:
              `check` fails all the same.

    Raises CourseError unless it is made in exactly one of the three ways, and for a credit that is no share.
    """

    name: str
    hint: str
    old: str = ""
    new: str = ""
    edits: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    code: str = field(default="", kw_only=True)
    also: tuple[str, ...] = field(default=(), kw_only=True)
    credit: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.old, str):
            raise CourseError(
                f"The mistake {self.name!r}: write {{old: new}} as edits={{old: new}}, or as two arguments: old, new."
            )
        if sum(map(bool, (self.old, self.edits, self.code))) != 1:
            raise CourseError(
                f"The mistake {self.name!r} needs one of these: old and new, edits={{…}}, or code=…."
            )

        if not 0 <= self.credit < 1:
            raise CourseError(
                f"The mistake {self.name!r} has credit={self.credit!r}: the share of the points must be at least 0 and below 1."
            )

    @property
    def replacements(self) -> Mapping[str, str]:
        """The edits of the solution cell, {old: new}; none where a whole cell is written out."""
        return {self.old: self.new} if self.old else self.edits


def detached(function: str) -> Mistake:
    """The mistake of a `function` with the right values from which no gradient comes back, for `check(…, gradients=…)`."""
    return Mistake(
        "detached from its inputs",
        f"Your values are right, but no gradient reaches the inputs. {NEEDED}; {CUTS} them off.",
        f"def {function}(",
        f"@torch.no_grad()\ndef {function}(",
    )


@dataclass(frozen=True)
class Exercise:
    """One graded function of a notebook.

    Its name is that of its check, `check("attention.softmax", …)`, in which the name of this variable follows the dot.
    The solution cell's grade id is "attention-softmax", the check cell's "attention-softmax-check".

    cases         makes the inputs of three or more calls. Sizes pairwise distinct within a case and
                  varied between cases; values that do not saturate a softmax.
    mistakes      each becomes a fingerprint in the answer key.
    alternatives  other right answers {what is unusual: code of the whole cell}; they must pass.
    hints         four rungs: a question, the shapes, pseudocode, a near miss.
    uses          earlier exercises whose functions this one calls.
    mends         the notebook shows the faulty code that is to be mended: the solution may share its lines.
    survivors     {part of a change that `autograder mutants` reports: why the changed solution is as right}.
    withheld      what gives right answers under another name in the course's packages, or in an installed library:
                  ("coursekit.seq2seq.dot_context",).
                  The jail hides it, as it hides what has the name of the student's own function.
    unseen        for a rule "exposes": implementations that only the autograder tries on a student's inputs.
    name          where the variable is called otherwise: "attention.softmax".
    """

    cases: Callable[[Draw], Iterable[Case]]
    mistakes: tuple[Mistake, ...]
    alternatives: Mapping[str, str]
    hints: tuple[str, str, str, str]
    rule: Rule = Rule()
    uses: tuple[str, ...] = ()
    mends: bool = False
    survivors: Mapping[str, str] = field(default_factory=dict)
    withheld: tuple[str, ...] = ()
    unseen: tuple[Planted, ...] = ()
    name: str = field(default="", kw_only=True)

    @property
    def solution_id(self) -> str:
        """The grade id of the solution cell: "attention-softmax"."""
        return self.name.replace(".", "-")

    @property
    def check_id(self) -> str:
        """The grade id of the check cell: "attention-softmax-check"."""
        return f"{self.solution_id}-check"

    def draw(self, seed: int) -> list[dict[str, Any]]:
        """The inputs for one seed."""
        return [dict(case) for case in self.cases(Draw(seed, self.name))]


class EditDoesNotApply(CourseError):
    """A mistake's edit does not fit the solution cell any more."""


def ways(source: str, exercise: Exercise, mistake: Mistake) -> dict[str, str]:
    """The cells that make a mistake, by the name of the variant: the edited solution first, then `also`."""
    cells = [edited(source, exercise, mistake), *mistake.also]
    return dict(zip(numbered([mistake.name] * len(cells)), cells, strict=True))


def edited(source: str, exercise: Exercise, mistake: Mistake) -> str:
    """The solution cell with the mistake in it. Raises EditDoesNotApply."""
    if mistake.code:
        return mistake.code
    about = f"{exercise.name}, mistake {mistake.name!r}"
    for old, new in mistake.replacements.items():
        source = replaced(source, old, new, about)
    return source


def replaced(source: str, old: str, new: str, about: str) -> str:
    """The cell with `new` in place of `old`, which must occur in it exactly once. Raises EditDoesNotApply."""
    if source.count(old) != 1:
        raise EditDoesNotApply(
            f"{about}: {old!r} occurs {source.count(old)} times in the cell that it edits; "
            "it must occur there exactly once."
        )
    return source.replace(old, new)
