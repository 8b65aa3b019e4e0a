"""What sets the inputs that came out wrong apart from those that came out right: one property, in words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from autograder.checks.explaining.nearness import MOST

LARGE = 80
"""exp of a larger number does not fit float32."""


@dataclass(frozen=True)
class Fact:
    """Something true of one case. Code may come out wrong for it (an edge), or right only because of it (a plain case).

    about   the argument.
    rank    the likelier causes have the lower one.
    least   on how many inputs it must be true before it says anything.
    """

    sentence: str
    about: str
    rank: int = 0
    edge: bool = True
    plain: bool = False
    least: int = 1


def what_sets_apart(cases: Sequence[Mapping[str, Any]], wrong: Sequence[int]) -> str:
    """A sentence with the property that all wrong inputs have and no right one, or the other way round; or "".

    Facts come in ranks. Nothing is said when those of the first rank that separate are about several arguments: all but one
    of them are coincidences.
    """
    right = [number for number in range(len(cases)) if number not in wrong]
    if not wrong or not right or sum(_size(case) for case in cases) > MOST:
        return ""
    with np.errstate(all="ignore"):
        facts = [list(_facts(case)) for case in cases]
    edge = _separating(
        [[fact for fact in facts_of_case if fact.edge] for facts_of_case in facts], wrong, right
    )
    plain = _separating(
        [[fact for fact in facts_of_case if fact.plain] for facts_of_case in facts], right, wrong
    )
    given, missing = _options(cases, wrong, right)
    if given or missing:  # any other fact may be true by chance, but one about the option itself
        theirs = [[fact for fact in of_case if fact.edge and fact.about in given] for of_case in facts]
        if edge := _separating(theirs, wrong, right):
            return f"It is wrong exactly where {edge.sentence}."
        if len(given) + len(missing) > 1:
            return ""
        return f"It is wrong exactly where `{[*given, *missing][0]}` is {'given' if given else 'not given'}."
    if edge and plain and edge.rank == plain.rank and edge.about != plain.about:
        return ""
    if edge and (not plain or edge.rank <= plain.rank):
        return f"It is wrong exactly where {edge.sentence}."
    return f"It is right only where {plain.sentence}." if plain else ""


def _options(
    cases: Sequence[Mapping[str, Any]], wrong: Sequence[int], right: Sequence[int]
) -> tuple[list[str], list[str]]:
    """Arguments that are given on all wrong inputs and on no right one, and those of which the opposite is true."""
    names = dict.fromkeys(name for case in cases for name in case)
    given, missing = [], []
    for name in names:
        of_wrong, of_right = ([name in cases[number] for number in numbers] for numbers in (wrong, right))
        if all(of_wrong) and not any(of_right):
            given.append(name)
        if all(of_right) and not any(of_wrong):
            missing.append(name)
    return given, missing


def _separating(
    facts: Sequence[Sequence[Fact]], having: Sequence[int], lacking: Sequence[int]
) -> Fact | None:
    """What is true of all cases `having` and of none `lacking`."""
    others = {fact.sentence for number in lacking for fact in facts[number]}
    common = set.intersection(*({fact.sentence for fact in facts[number]} for number in having)) - others
    found = [fact for fact in facts[having[0]] if fact.sentence in common and fact.least <= len(having)]
    best = [fact for fact in found if fact.rank == min(fact.rank for fact in found)]
    return best[0] if len({fact.about for fact in best}) == 1 else None


def _size(case: Mapping[str, Any]) -> int:
    return sum(value.size for value in case.values() if isinstance(value, np.ndarray))


def _facts(case: Mapping[str, Any]) -> Iterator[Fact]:
    scalars = {name: value for name, value in case.items() if type(value) in (int, float)}
    for name, value in case.items():
        if isinstance(value, np.ndarray):
            yield from _of_array(name, value, scalars)
        elif isinstance(value, list):
            yield from _of_list(name, value)
        elif isinstance(value, bool) or value is None:
            yield Fact(f"`{name}` is {value}", name, plain=True)
        elif isinstance(value, str):
            yield Fact(f'`{name}` is "{value}"', name, plain=True)
        elif isinstance(value, int | float):
            yield from _of_number(name, value, scalars)
    yield from _of_sizes(case)


def _of_number(name: str, value: float, scalars: Mapping[str, float]) -> Iterator[Fact]:
    same = f"`{name}` is {value:g}".replace("-", "−")
    # A whole number beside others may be a row or a token, and is then like any other.
    row = type(value) is int and sum(type(other) is int for other in scalars.values()) > 1
    if value == 0 or (value == 1 and not row):
        yield Fact(same, name, plain=True)
        return
    if not row:
        yield Fact(same, name, rank=1, plain=True, least=2)
    if value < 0:
        yield Fact(f"`{name}` is negative", name)
    else:
        yield Fact(f"`{name}` is positive", name, rank=1, edge=False, plain=True)


def _of_list(name: str, value: list) -> Iterator[Fact]:
    if not value:
        yield Fact(f"`{name}` is empty", name, plain=True)
        return
    if len(value) == 1:
        yield Fact(f"`{name}` has one entry", name, plain=True)
    if any(isinstance(item, list) and not item for item in value):
        yield Fact(f"an entry of `{name}` is empty", name)
    if any(item == "" for item in value):
        yield Fact(f'`{name}` contains ""', name)
    if None in value:
        yield Fact(f"`{name}` contains None", name)


def _of_array(name: str, value: np.ndarray, scalars: Mapping[str, float]) -> Iterator[Fact]:
    axes = "one axis" if value.ndim == 1 else f"{value.ndim} axes"
    yield Fact(f"`{name}` has {axes}", name, rank=1, edge=False, plain=True)
    for fewer in range(1, value.ndim):
        yield Fact(f"`{name}` has more than {'one axis' if fewer == 1 else f'{fewer} axes'}", name, rank=1)
    if value.size == 0:
        yield Fact(f"`{name}` is empty", name, plain=True)
        return
    if value.dtype.kind == "b":
        yield from _of_mask(name, value)
        return
    if value.ndim > 1 and value.shape[0] == 1:
        yield Fact(f"the first axis of `{name}` has size 1", name, plain=True)
    if not value.any():
        yield Fact(f"`{name}` is 0 throughout", name, plain=True)
    elif value.ndim > 1 and not value.any(-1).all():
        yield Fact(f"a row of `{name}` is 0 throughout", name)
    if value.size > 1 and (value == value.flat[0]).all():
        yield Fact(f"all entries of `{name}` are equal", name, plain=True)
    if value.dtype.kind == "f":
        if value.max() > LARGE:
            yield Fact(f"`{name}` contains numbers above {LARGE}", name)
        if value.min() < -LARGE:
            yield Fact(f"`{name}` contains numbers below −{LARGE}", name)
        if not np.isfinite(value).all():
            yield Fact(f"`{name}` contains infinite numbers or NaN", name)
    else:
        for other, number in scalars.items():
            if type(number) is int and (value == number).any():
                yield Fact(f"`{name}` contains `{other}`", name, rank=1)
    if value.dtype.kind == "f" and value.ndim and value.shape[-1] > 1 and value.size <= 10_000:
        ordered = np.sort(value, -1)
        if (ordered[..., 1:] == ordered[..., :-1]).any():
            sentence = (
                f"a row of `{name}` contains a number twice"
                if value.ndim > 1
                else f"`{name}` contains a number twice"
            )
            yield Fact(sentence, name)


def _of_mask(name: str, mask: np.ndarray) -> Iterator[Fact]:
    if mask.all():
        yield Fact(f"`{name}` is True throughout", name, plain=True)
        return
    if not mask.any():
        yield Fact(f"`{name}` is False throughout", name, plain=True)
    elif mask.ndim > 1 and not mask.any(-1).all():
        yield Fact(f"a row of `{name}` is False throughout", name)
    if mask.ndim and mask.shape[-1] > 1:
        if not mask[..., 0].all():
            yield Fact(f"`{name}` begins with False", name)
        if (~mask[..., :-1] & mask[..., 1:]).any():
            yield Fact(f"a False in `{name}` comes before a True", name)


def _of_sizes(case: Mapping[str, Any]) -> Iterator[Fact]:
    arrays = [(name, value) for name, value in case.items() if isinstance(value, np.ndarray)]
    for (first, left), (second, right) in combinations(arrays, 2):
        # That a mask happens to have the shape of what it masks is no cause of anything.
        alike = left.dtype.kind == right.dtype.kind
        if alike and left.ndim == right.ndim > 1:
            same = left.shape == right.shape
            shapes = "the same shape" if same else "different shapes"
            yield Fact(f"`{first}` and `{second}` have {shapes}", first, 2, edge=not same, plain=same)
