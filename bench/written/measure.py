"""Purity of groups, how many decisions grade a class with which share of points off, and how far two readings agree."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from sklearn.metrics import cohen_kappa_score

from autograder.written.grouping import alike_together
from autograder.written.text_similarity import same_words
from bench.written.material import Material, points


@dataclass(frozen=True)
class Outcome:
    """What grading by these groups comes to.

    groups     decisions if each group gets the points of its most central text, and nobody looks further;
    off        the share of answers whose points are then at least one away from those of reading each, by the first reader;
    off_second the same by the second reader, whose points are then given and compared;
    across     the share off where the first reader gives points to groups and the second reads each answer;
    readers    the share where both read each answer and differ: what across is to be compared with;
    purity     the share of answers that have the most frequent points of their group;
    by_chance  the same for groups of these sizes dealt at random;
    looked     decisions if all different texts of a group are read and those with other ticks split off: nothing is off;
    moved      different texts that have to be picked out for that.

    Where no reader is named it is the first.
    """

    groups: int
    off: float
    off_second: float
    across: float
    readers: float
    purity: float
    by_chance: float
    looked: int
    moved: int


def outcome(material: Material, likeness: np.ndarray, alike: float) -> Outcome:
    labels = alike_together(likeness, alike)
    first, second = points(material.first), points(material.second)
    central = central_texts(likeness, labels)
    looked = moved = 0
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        different = {same_words(material.texts[place]): material.first[place] for place in members}
        patterns = Counter(different.values())
        looked += len(patterns)
        moved += len(different) - max(patterns.values())
    draw = np.random.default_rng(0)
    by_chance = np.mean([purity(labels, draw.permutation(first)) for _ in range(20)])
    return Outcome(
        groups=len(np.unique(labels)),
        off=apart(first[central], first),
        off_second=apart(second[central], second),
        across=apart(first[central], second),
        readers=apart(first, second),
        purity=purity(labels, first),
        by_chance=float(by_chance),
        looked=looked,
        moved=moved,
    )


def central_texts(likeness: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """For each text the place of the one in its group that is most like the others."""
    central = np.empty(len(labels), dtype=int)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        central[members] = members[likeness[np.ix_(members, members)].sum(axis=1).argmax()]
    return central


def apart(points_here: np.ndarray, other: np.ndarray) -> float:
    """The share of answers whose points are at least one apart."""
    return float(np.mean(np.abs(points_here - other) >= 1))


def purity(labels: np.ndarray, points: np.ndarray) -> float:
    """The share of answers that have the most frequent points of their group."""
    frequent = sum(Counter(points[labels == label]).most_common(1)[0][1] for label in np.unique(labels))
    return frequent / len(points)


@dataclass(frozen=True)
class Between:
    """How far two readings of the same answers agree.

    equal    the share of answers with equal points;
    ticks    the share of single points of the guide on which they agree: ticked by both or by neither;
    by_point Cohen's kappa of each point of the guide, ticked or not;
    weighted Cohen's kappa of the points an answer gets, with squared weights.
    """

    equal: float
    ticks: float
    by_point: tuple[float, ...]
    weighted: float


def between(first: Sequence[str], other: Sequence[str]) -> Between:
    """Two readings, each with the ticks of an answer, such as "10"."""
    ticked, again = (np.array([list(ticks) for ticks in reading]) for reading in (first, other))
    return Between(
        equal=float(np.mean(points(first) == points(other))),
        ticks=float(np.mean(ticked == again)),
        by_point=tuple(float(cohen_kappa_score(*pair)) for pair in zip(ticked.T, again.T, strict=True)),
        weighted=float(cohen_kappa_score(points(first), points(other), weights="quadratic")),
    )


def chosen(questions: Sequence[Mapping[float, Outcome]], most_off: float) -> float:
    """The likeness at which each of these questions has at most this share off, and which takes the fewest decisions."""
    good = [alike for alike in questions[0] if all(of[alike].off <= most_off for of in questions)]
    if not good:
        raise ValueError(f"At none of the likenesses has each question at most {most_off:.0%} off.")
    return min(good, key=lambda alike: sum(of[alike].groups for of in questions))


@dataclass(frozen=True)
class HeldOut:
    """One question, graded at a likeness that was chosen on others; an outcome for each draw."""

    question: str
    chosen_on: tuple[str, ...]
    alike: float
    outcomes: tuple[Outcome, ...]


def held_out(draws: Sequence[Mapping[str, Mapping[float, Outcome]]], most_off: float) -> list[HeldOut]:
    """Choose the likeness on half of the questions, in all draws, and measure on the others, in every way to halve them."""
    names = list(draws[0])
    found = []
    for half in combinations(names, len(names) // 2):
        alike = chosen([draw[name] for draw in draws for name in half], most_off)
        found += [
            HeldOut(name, half, alike, tuple(draw[name][alike] for draw in draws))
            for name in names
            if name not in half
        ]
    return sorted(found, key=lambda trial: names.index(trial.question))
