"""The card that a check shows: colour, words, heat maps of yours / expected / difference, and a text form."""

import base64
import io
import textwrap
from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np

from autograder.checks.answer_key import ExerciseKey
from autograder.checks.asking import Answer, handed_out
from autograder.checks.comparing import compare, label
from autograder.checks.describing import described
from autograder.checks.explaining.words import enumerated
from autograder.checks.judging import Verdict
from autograder.checks.notes import RIGHT, WAITING, WRONG, in_html
from autograder.checks.panels import Panels, numbers, panels
from autograder.checks.status import Status

SYMBOL = {Status.PASSED: "✓", Status.FAILED: "✗", Status.ERROR: "✗", Status.MISSING: "…"}
COLOUR = {Status.PASSED: RIGHT, Status.MISSING: WAITING}
WIDTH = 80
MOST_SHOWN = 64  # rows and columns of a heat map
NOT_FINITE = "0.75"  # grey, which no number has
WORD = {
    Status.PASSED: "right",
    Status.FAILED: "not yet right",
    Status.ERROR: "stopped with an error",
    Status.MISSING: "not answered yet",
}


@dataclass(frozen=True)
class Card:
    """The result of one check, as a notebook, a dialog or a terminal can show it."""

    key: ExerciseKey
    verdict: Verdict
    answers: tuple[Answer, ...]
    needs: str = ""  # an earlier function that this exercise calls and that is not answered
    builds_on: tuple[str, ...] = ()  # earlier exercises whose checks did not pass

    @property
    def title(self) -> str:
        """The first line: a sign, the exercise and how its check ended."""
        word = f"needs `{self.needs}`: skipped" if self.needs else WORD[self.verdict.status]
        return f"{SYMBOL[self.verdict.status]} {self.key.name}: {word}"

    @cached_property
    def failing(self) -> tuple[int, ...]:
        """Places of the inputs on which an answer was given and is wrong."""
        if self.verdict.status not in (Status.FAILED, Status.ERROR):
            return ()
        pairs = enumerate(zip(self.answers, self.key.expected, strict=True))
        return tuple(at for at, (got, want) in pairs if compare(got, want, self.key.rule))

    def text(self) -> str:
        """The whole card in words; stands alone where no picture can be shown."""
        lines = [self.summary()]
        shown = self._shown()
        if shown and not self.verdict.passed:
            got, want = shown
            called = label(self.verdict.part)
            lines += [f"{called}yours    {numbers(got)}", f"{called}expected {numbers(want)}"]
        return "\n  ".join(lines)

    def summary(self) -> str:
        """The card without its arrays: what stands below it as the error."""
        return "\n  ".join([self.title, *self._wrapped()])

    def _wrapped(self) -> list[str]:
        """The sentences in short lines: terminals and nbgrader cut long ones off. Lines of code stay whole."""
        lines = []
        for sentence in self._sentences():
            lines += [sentence] if sentence.startswith("  ") else textwrap.wrap(sentence, WIDTH)
        return lines

    def _sentences(self) -> list[str]:
        verdict = self.verdict
        sentences = [line for line in (verdict.reason, verdict.hint) for line in line.splitlines() if line]
        if self.needs:
            sentences = [f"This exercise builds on `{self.needs}`, which you have not answered yet."]
        if self.failing:
            sentences += self._where()
        if self.builds_on:
            sentences.append(
                f"This exercise builds on {', '.join(self.builds_on)}: correct the earlier answer{'s' if self.builds_on[1:] else ''} first."
            )
        if not verdict.passed and not verdict.hint and not self.needs:
            sentences.append(
                f'Stuck? hint("{self.key.name}") gives you a first hint, and further hints if you run it again.'
            )
        if verdict.passed:
            sentences += [f"Note: {note}." for note in verdict.notes]
        return sentences

    def _where(self) -> list[str]:
        """Which inputs came out wrong, and how to look at the first of them."""
        at = self.verdict.case if self.verdict.case in self.failing else self.failing[0]
        inputs = described(handed_out(self.key.cases[at]))
        if not inputs:
            return []
        numbers = [str(at + 1) for at in self.failing]
        if len(numbers) == len(self.answers):
            which = f"all {len(numbers)} inputs" if numbers[1:] else "its only input"
        else:
            which = f"input{'s' if numbers[1:] else ''} {enumerated(numbers)} of {len(self.answers)}"
        return [
            f"Your answer is wrong on {which}. Input {at + 1}: {inputs}.",
            f'case("{self.key.name}") gives you this input to try. print(…) works inside your function, too.',
        ]

    def _shown(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The pair of arrays that the verdict is about: yours and the expected one."""
        if self.verdict.case < 0 or self.answers[self.verdict.case] is None:
            return None
        got = self.answers[self.verdict.case].arrays.get(self.verdict.part)
        want = self.key.expected[self.verdict.case].arrays.get(self.verdict.part)
        return (got, want) if got is not None and want is not None else None

    def picture(self) -> tuple[bytes, str] | None:
        """PNG of yours, expected and their difference, with its alt text; None if it would not help."""
        pair = None if self.verdict.passed else self._shown()
        shown = pair and panels(*pair, MOST_SHOWN)
        return heat_maps(shown, label(self.verdict.part)) if shown else None

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        colour = COLOUR.get(self.verdict.status, WRONG)
        symbol, _, title = self.title.partition(" ")
        body = [
            f'<div style="font-weight:600"><span style="color:{colour}">{symbol}</span> {in_html(title)}</div>'
        ]
        for sentence in self._sentences():
            indent = "font-family:monospace;white-space:pre-wrap;" if sentence.startswith("  ") else ""
            body.append(f'<div style="margin-top:4px;{indent}">{in_html(sentence)}</div>')
        picture = self.picture()
        if picture:
            png, alt = picture
            data = base64.b64encode(png).decode()
            body.append(
                f'<img style="max-width:100%;margin-top:6px" alt="{escape(alt, quote=True)}" src="data:image/png;base64,{data}">'
            )
        html = f'<div role="status" style="border-left:4px solid {colour};padding:6px 10px;margin:2px 0">{"".join(body)}</div>'
        return {"text/plain": self.text(), "text/html": html}


def heat_maps(shown: Panels, called: str = "") -> tuple[bytes, str]:
    """Panels of yours and expected and, if the shapes agree, |difference|; as a PNG and its description.

    `called` says which of several arrays it is, as `label` writes it.
    """
    from matplotlib.figure import Figure  # start-up: only a wrong answer is drawn

    shades = dict(zip(("vmin", "vmax"), shown.range or (), strict=False))
    looks = [
        (title, matrix, {"cmap": "viridis", **shades})
        for title, matrix in zip(shown.titles, shown.matrices, strict=True)
    ]
    if shown.same_shape:
        low, high = shown.difference_range
        looks.append(("|difference|", shown.difference, {"cmap": "magma", "vmin": low, "vmax": high}))
    figure = Figure(figsize=(8.0, 2.3), layout="constrained")
    for ax, (title, panel, look) in zip(figure.subplots(1, len(looks)), looks, strict=True):
        figure.colorbar(ax.imshow(panel, aspect="auto", **look), ax=ax, shrink=0.9)
        ax.set_facecolor(NOT_FINITE)  # seen where a number has no colour
        ax.set_title(title, fontsize=9)
        ax.set_xticks([])
        ax.set_yticks([])
    below = [] if shown.all_finite else ["grey: NaN or infinite"]
    if shown.same_shape and shown.place:
        below.append(f"[{', '.join(map(str, shown.place))}] of the batch, where they differ most")
    if below:
        figure.supxlabel("; ".join(below), fontsize=8)
    if called:
        figure.suptitle(called.rstrip(": "), fontsize=9, weight="bold", parse_math=False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100)
    return buffer.getvalue(), called + shown.in_words()
