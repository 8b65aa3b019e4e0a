"""`check`, `hint`, `predict` and `reveal`: what the cells of a notebook call."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from IPython.display import display

from autograder.checks import answer_key, journal, recording
from autograder.checks.asking import Case, ask
from autograder.checks.card import RIGHT, WAITING, Card
from autograder.checks.judging import judge


class CheckFailed(AssertionError):
    """A check that did not pass. Shown as the words of its card, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class GradingRefused(RuntimeError):
    """Graded checks were run by something that does not jail them."""


def check(name: str, call: Callable[[Case], Any]) -> None:
    """Hand public inputs to your function through `call`, compare its answers, and show the result.

    Raises CheckFailed when the answer is not right, so that the Validate button sees it.
    """
    recorder = recording.active()
    if recorder:
        recorder.record(name, call)
        return
    if os.environ.get("NBGRADER_EXECUTION") == "autograde":
        raise GradingRefused(
            f"The check {name!r} was about to run unprotected and ungraded. Load the course's nbgrader_config.py "
            "(run nbgrader from the course folder), or use `autograder grade`."
        )
    key = answer_key.find(name)
    answers = tuple(ask(call, case, key.rule.arrays) for case in key.cases)
    card = Card(key, judge(answers, key.expected, key.rule, key.mistakes, cases=key.cases), answers)
    journal.save_check(name, card.verdict.passed)
    if card.verdict.passed:
        display(card)
        return
    validating = os.environ.get("NBGRADER_EXECUTION") == "validate"
    if not validating:
        display(card)
    earlier = _unfinished(key)
    raise CheckFailed((card.text() if validating else card.summary()) + earlier)


def _unfinished(key: answer_key.ExerciseKey) -> str:
    """The sentence for an exercise that calls an earlier one whose check failed last time."""
    passed = journal.checks()
    missing = [name for name in key.uses if passed.get(name) is False]
    return f"\n  It builds on {', '.join(missing)}: get that check right first." if missing else ""


@dataclass(frozen=True)
class Note:
    """A short framed text, for hints and predictions."""

    title: str
    lines: tuple[str, ...]
    colour: str = RIGHT

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        rows = "".join(
            f'<div style="margin-top:4px;white-space:pre-wrap">{escape(line)}</div>' for line in self.lines
        )
        html = (
            f'<div role="note" style="border-left:4px solid {self.colour};padding:6px 10px;margin:2px 0">'
            f'<div style="font-weight:600">{escape(self.title)}</div>{rows}</div>'
        )
        return {"text/plain": "\n  ".join([self.title, *self.lines]), "text/html": html}


_climbed: dict[str, int] = {}


def hint(name: str, rung: int | None = None) -> None:
    """Show the next hint of an exercise: a question, then the shapes, then pseudocode, then a near miss.

    `rung` (1 to 4) shows the ladder up to that rung instead of climbing by one.
    """
    if recording.active():
        return
    hints = answer_key.find(name).hints
    if rung is not None and not 1 <= rung <= len(hints):
        raise ValueError(f"hint({name!r}, {rung}): there are rungs 1 to {len(hints)}.")
    reached = rung or min(_climbed.get(name, 0) + 1, len(hints))
    _climbed[name] = reached
    more = "Call hint again for the next one." if reached < len(hints) else "That was the last one."
    display(Note(f"Hint {reached} of {len(hints)} for {name}", (*hints[:reached], more)))


def predict(name: str, value: float | None = None) -> None:
    """Commit to a number before you run the next cell. `reveal` shows it beside what came out."""
    if recording.active():
        return
    if value is None or value is Ellipsis:
        display(
            Note(f"Prediction {name}", ("Replace the dots by your number, then run this cell.",), WAITING)
        )
        return
    journal.save_prediction(name, float(value))
    display(Note(f"Prediction {name}", (f"You say {float(value):g}. Run on to see.",)))


def reveal(name: str, value: float) -> None:
    """Show the measured number beside the one that you predicted."""
    if recording.active():
        return
    guess = journal.predictions().get(name)
    yours = (
        "You made no prediction."
        if guess is None
        else f"You predicted {_number(guess)}, off by {abs(guess - value):.2g}."
    )
    display(Note(f"Prediction {name}", (f"It is {_number(value)}. {yours}",)))


def _number(value: float) -> str:
    """Three digits, but all of a number above a thousand: 0.464, 1,538."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
