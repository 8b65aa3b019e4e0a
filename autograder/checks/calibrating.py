"""`predictions()`: a student's predictions so far against what came out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from math import isfinite, log2
from typing import Any

from autograder.checks import journal, recording
from autograder.checks.card import RIGHT
from autograder.checks.notes import WAITING, Note, in_html

NONE_YET = (
    "You have made no predictions yet. Where a notebook asks for one, replace the dots in predict(…) before you run the next cell. "
    "This cell then compares your predictions with the results."
)
CLOSE = 0.1
"""A number counts as close if it differs from the result by at most this fraction of the result."""
WIDEST = 3.0
"""The ends of the figure, in doublings: predictions that are off by more than 2³ = 8 times lie at its edges."""


@dataclass(frozen=True)
class Choice:
    """The sentence that a student chose, and the right one."""

    name: str
    predicted: str
    found: str

    @property
    def close(self) -> bool:
        """Whether the choice was right."""
        return self.predicted == self.found


@dataclass(frozen=True)
class Number:
    """The number that a student predicted, and the result."""

    name: str
    predicted: float
    found: float

    @property
    def close(self) -> bool:
        """Whether it is within a tenth of the result."""
        return abs(self.predicted - self.found) <= CLOSE * abs(self.found)

    @property
    def doublings(self) -> float | None:
        """log₂(predicted / found): 0 is exact, 1 is twice the result; None where there is no such ratio."""
        ratio = self.predicted / self.found if self.found else 0.0
        return log2(ratio) if ratio > 0 and isfinite(ratio) else None


@dataclass(frozen=True)
class Calibration:
    """All predictions of which the result is known."""

    compared: tuple[Choice | Number, ...]

    def sentences(self) -> list[str]:
        """How many predictions there are, how many are right, and whether they tend to be too high or too low."""
        if not self.compared:
            return [NONE_YET]
        choices = [one for one in self.compared if isinstance(one, Choice)]
        numbers = self._numbers()
        said = []
        if choices:
            right = sum(one.close for one in choices)
            said.append(f"{right} of your {_count(len(choices), 'choice')} {_was(right)} right.")
        if numbers:
            close = sum(one.close for one in numbers)
            high = sum(one.predicted > one.found for one in numbers)
            low = sum(one.predicted < one.found for one in numbers)
            ratios = self._ratios()
            double = sum(abs(ratio) <= 1 for ratio in ratios)
            said.append(
                f"Of your {_count(len(numbers), 'predicted number')}, {close} {_was(close)} within 10 % of the result and {double} within a factor of 2. "
                f"{high} {_was(high)} too high and {low} too low."
            )
        return said

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        title = "Your predictions so far"
        note = Note(title, tuple(self.sentences()), RIGHT if self.compared else WAITING)
        mimes = note._repr_mimebundle_()
        if not self.compared:
            return mimes
        lines = [
            f"{'✓' if one.close else ' '} {one.name}: {shown(one.predicted)} (result: {shown(one.found)})"
            for one in self.compared
        ]
        mimes["text/plain"] = "\n  ".join([mimes["text/plain"], *lines])
        mimes["text/html"] += self._figure() + self._table()
        return mimes

    def _numbers(self) -> list[Number]:
        return [one for one in self.compared if isinstance(one, Number)]

    def _ratios(self) -> list[float]:
        """By how many doublings numbers are off, in order."""
        return sorted(ratio for one in self._numbers() if (ratio := one.doublings) is not None)

    def _figure(self) -> str:
        """A dot for each number, by its ratio to the result, on an axis with steps of factor 2."""
        ratios = self._ratios()
        if not ratios:
            return ""
        width, left, step, row = 420, 30, 60, 9
        columns: dict[int, int] = {}
        dots = []
        for ratio in ratios:
            x = left + step * (min(max(ratio, -WIDEST), WIDEST) + WIDEST)
            place = round(x / row)
            columns[place] = columns.get(place, 0) + 1
            dots.append((place * row, columns[place]))
        height = 14 + row * max(columns.values())
        marks = "".join(
            f'<line x1="{x}" x2="{x}" y1="{height}" y2="{height + 4}" stroke="currentColor"/>'
            f'<text x="{x}" y="{height + 17}" text-anchor="middle" fill="currentColor">{label}</text>'
            for x, label in zip(
                range(left, width, step),
                ("⅛ or less", "¼", "½", "exact", "× 2", "× 4", "× 8 or more"),
                strict=False,
            )
        )
        circles = "".join(
            f'<circle cx="{x}" cy="{height - row * n + 3}" r="3.6" fill="{RIGHT}"/>' for x, n in dots
        )
        middle = left + 3 * step
        title = f'<text x="{middle}" y="{height + 33}" text-anchor="middle" fill="currentColor">your prediction divided by the result</text>'
        said = f"Dot plot of {_count(len(ratios), 'prediction')} by the ratio of prediction to result, which ranges from {2 ** ratios[0]:.2g} to {2 ** ratios[-1]:.2g}."
        return (
            f'<svg role="img" aria-label="{escape(said)}" viewBox="-10 0 {width + 40} {height + 40}" width="{width + 40}" '
            f'style="max-width:100%;font-size:11px">'
            f'<line x1="{left}" x2="{left + 6 * step}" y1="{height}" y2="{height}" stroke="currentColor"/>{marks}{circles}{title}</svg>'
        )

    def _table(self) -> str:
        cell = 'style="text-align:left;white-space:normal;padding:2px 14px 2px 0"'
        rows = "".join(
            f"<tr><td {cell}>{'✓' if one.close else ''}</td><td {cell}>{escape(one.name)}</td>"
            f"<td {cell}>{in_html(shown(one.predicted))}</td><td {cell}>{in_html(shown(one.found))}</td></tr>"
            for one in self.compared
        )
        head = "".join(f"<th {cell}>{title}</th>" for title in ("", "name", "your prediction", "result"))
        return f"<details><summary>All {_count(len(self.compared), 'prediction')}</summary><table><tr>{head}</tr>{rows}</table></details>"


def predictions() -> Calibration | None:
    """Your predictions in all notebooks so far, compared with the results; what you predicted first counts."""
    if recording.active():
        return None
    return Calibration(tuple(_compared(journal.read()["outcomes"])))


def remember(name: str, predicted: float | str, found: float | str) -> None:
    """Keep the result of a prediction. The result may be replaced, when cells run again; the prediction made before it may not."""
    with journal.changing("outcomes") as outcomes:
        first = outcomes.get(name, {}).get("predicted", predicted)
        outcomes[name] = {"predicted": first, "found": found}


def _compared(outcomes: Mapping[str, Any]) -> Iterator[Choice | Number]:
    """In the order of their names; what someone has spoilt in the file is left out."""
    for name, pair in sorted(outcomes.items()):
        match pair:
            case {"predicted": str(predicted), "found": str(found)}:
                yield Choice(name, predicted, found)
            case {"predicted": float() | int() as predicted, "found": float() | int() as found}:
                yield Number(name, predicted, found)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def shown(value: float | str) -> str:
    """Three digits, but all of a number above a thousand: 0.464, 1,538; a sentence as it is."""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
