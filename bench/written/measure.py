"""Purity of groups, and how many decisions grade a class with which share of points off."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autograder.written.agreement import Agreement, agreement
from autograder.written.grouping import alike_together
from autograder.written.likeness import same_words
from bench.written.material import Material, worth


@dataclass(frozen=True)
class Outcome:
    """What grading by these groups comes to.

    groups    decisions if each group gets the points of its most central text, and nobody looks further;
    off       the share of answers whose points are then at least one away from those of reading each;
    purity    the share of answers that have the most frequent points of their group;
    by_chance the same for groups of these sizes dealt at random;
    looked    decisions if all different texts of a group are read and those with other ticks split off: nothing is off;
    moved     different texts that have to be picked out for that.
    """

    groups: int
    off: float
    purity: float
    by_chance: float
    looked: int
    moved: int


def outcome(material: Material, likeness: np.ndarray, alike: float) -> Outcome:
    labels = alike_together(likeness, alike)
    points = np.array(material.points)
    off = looked = moved = 0
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        central = members[likeness[np.ix_(members, members)].sum(axis=1).argmax()]
        off += int((np.abs(points[members] - points[central]) >= 1).sum())
        different = {same_words(material.texts[place]): material.first[place] for place in members}
        patterns = Counter(different.values())
        looked += len(patterns)
        moved += len(different) - max(patterns.values())
    draw = np.random.default_rng(0)
    by_chance = np.mean([purity(labels, draw.permutation(points)) for _ in range(20)])
    return Outcome(
        len(np.unique(labels)), off / len(points), purity(labels, points), float(by_chance), looked, moved
    )


def purity(labels: np.ndarray, points: np.ndarray) -> float:
    """The share of answers that have the most frequent points of their group."""
    frequent = sum(Counter(points[labels == label]).most_common(1)[0][1] for label in np.unique(labels))
    return frequent / len(points)


def between_readings(material: Material) -> Agreement:
    """How far the two readings agree in points."""
    agreed = agreement(
        [(worth(first), worth(second)) for first, second in zip(material.first, material.second, strict=True)]
    )
    assert agreed is not None
    return agreed


def fewest(outcomes: Sequence[Outcome], most_off: float) -> Outcome | None:
    """Of several ways to group, the one with the fewest decisions whose share off is small enough."""
    good = [outcome for outcome in outcomes if outcome.off <= most_off]
    return min(good, key=lambda outcome: outcome.groups, default=None)
