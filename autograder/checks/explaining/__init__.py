"""What wrong answers show about their cause, whatever the exercise: a sentence or two, or nothing."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from autograder.checks.explaining.nearness import MOST, Pair, near
from autograder.checks.explaining.places import where
from autograder.checks.explaining.properties import broken_property
from autograder.checks.explaining.shapes import numbers_despite_shape
from autograder.checks.explaining.transformations import transformation, up_to_rows, where_they_differ


def explain(
    kind: str, answers: Sequence[Pair], tolerance: float, names: str, label: Callable[[str], str]
) -> str:
    """What all of `answers` show, one for each wrong input.

    kind    "shape", "dtype", "nan", "infinite" or "numbers", as in autograder.checks.comparing.Fault.
    names   of the axes, as in Rule.axes.
    label   of another part: "1" gives "Part 2: ".
    """
    if sum(answer.got.size + answer.want.size for answer in answers) > MOST:
        return ""
    with np.errstate(all="ignore"):
        swapped = _another_part(answers, label)
        if swapped:
            return swapped
        if kind == "dtype":
            return ""
        if kind == "shape":
            return numbers_despite_shape(
                [answer.got for answer in answers], [answer.want for answer in answers]
            )
        wants = [answer.want.astype(np.float64) for answer in answers]
        cases = [answer.case for answer in answers]
        places, exactly = where([answer.wrong for answer in answers], wants, cases, names)
        if kind != "numbers":
            return places
        if all(answer.want.dtype.kind == "b" and answer.want.size == 1 for answer in answers):
            return ""  # that False is wrong where True is expected has been said: these are no numbers
        pairs = [
            replace(answer, got=answer.got.astype(np.float64), want=want)
            for answer, want in zip(answers, wants, strict=True)
        ]
        return _about_numbers(pairs, places, exactly, tolerance, names)


def _about_numbers(pairs: Sequence[Pair], places: str, exactly: bool, tolerance: float, names: str) -> str:
    alike = transformation(pairs, names)
    along_dim = _along_dim(pairs)
    if alike.startswith("On each input"):  # what the factors are may show in what they make of the numbers
        return " ".join(filter(None, [alike, broken_property(pairs, names)]))
    if alike:
        return alike
    rows = up_to_rows(pairs, names) or (up_to_rows(along_dim, "`dim`", [-1]) if along_dim else "")
    there = where_they_differ(pairs)
    sentences = [places, there or (rows if exactly else "")] if exactly or not rows else [rows]
    return (
        " ".join(filter(None, sentences))
        or _holds_argument(pairs)
        or (broken_property(along_dim, "`dim`", [-1]) if along_dim else "")
        or broken_property(pairs, names)
        or _one_way(pairs)
        or _nearly(pairs, tolerance)
    )


def _along_dim(pairs: Sequence[Pair]) -> list[Pair]:
    """The same with the axis that the argument `dim` names as the last one; [] where there is no such argument."""
    moved = []
    for pair in pairs:
        dim = pair.case.get("dim")
        if type(dim) is not int or not -pair.want.ndim <= dim < pair.want.ndim:
            return []
        got, want, wrong = (np.moveaxis(array, dim, -1) for array in (pair.got, pair.want, pair.wrong))
        moved.append(Pair(got, want, pair.case, wrong))
    return moved


def _holds_argument(pairs: Sequence[Pair]) -> str:
    """Whether yours always holds a number that is an argument, and the expected answer never does."""
    if (
        not all(pair.want.size and (pair.want == np.round(pair.want)).all() for pair in pairs)
        or len(pairs) < 2
        or all(pair.want.size == 1 for pair in pairs)
    ):
        return ""
    for name, value in pairs[0].case.items():
        if type(value) is int and all(
            type(pair.case.get(name)) is int
            and (pair.got == pair.case[name]).any()
            and not (pair.want == pair.case[name]).any()
            for pair in pairs
        ):
            return f"Your answer contains `{name}` itself ({value} on the first of these inputs); the expected one does not."
    return ""


def _another_part(answers: Sequence[Pair], label: Callable[[str], str]) -> str:
    """Whether yours is what is expected as another part of the answer."""
    for part in answers[0].others:
        if (
            all(
                part in answer.others
                and near(answer.got.astype(np.float64), answer.others[part].astype(np.float64))
                for answer in answers
            )
            and len(np.unique(np.concatenate([answer.got.ravel() for answer in answers]))) > 1
        ):
            return (
                f"What you return here is the answer expected for {label(part).removesuffix(': ').lower()}."
            )
    return ""


def _one_way(pairs: Sequence[Pair]) -> str:
    """Whether all differences go the same way."""
    above = sum(int((pair.got > pair.want)[pair.wrong].sum()) for pair in pairs)
    below = sum(int((pair.got < pair.want)[pair.wrong].sum()) for pair in pairs)
    truth = all(set(np.unique(pair.want)) | set(np.unique(pair.got)) <= {0.0, 1.0} for pair in pairs)
    if min(above, below) or above + below < (3 if all(pair.want.ndim == 0 for pair in pairs) else 6):
        return ""
    if all(pair.want.size == 1 for pair in pairs):
        return f"Your number is too {'large' if above else 'small'} on all of these inputs."
    if truth:
        return f"Your answer is {'1 (True) where 0 (False)' if above else '0 (False) where 1 (True)'} is expected, and never the other way round."
    return f"Where they differ, your numbers are always too {'large' if above else 'small'}."


def _nearly(pairs: Sequence[Pair], tolerance: float) -> str:
    """For answers that are close on every input: how close."""
    finite = [np.isfinite(pair.want) & np.isfinite(pair.got) for pair in pairs]
    shares = []
    for pair, mask in zip(pairs, finite, strict=True):
        largest = np.abs(pair.want[mask]).max(initial=0)
        if (
            not mask.any()
            or not largest
            or (pair.want == np.round(pair.want)).all()
            or pair.wrong.mean() < 0.6
        ):
            return ""
        shares.append(float(np.abs(pair.got - pair.want)[mask].max() / largest))
    if tolerance < max(shares) <= 0.02:
        return (
            f"Your numbers are close: the largest difference is {100 * max(shares):.2g} % of the largest expected number. Is a small "
            "constant different, or is an intermediate result rounded?"
        )
    return ""
