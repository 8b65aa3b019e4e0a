"""`predict` and `reveal`: commit to a number, or to one of some sentences, before the notebook shows it."""

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any

from IPython.display import display

from autograder.checks import calibrating, journal, recording
from autograder.checks.exceptions import WrongCall
from autograder.checks.notes import WAITING, Note

NO_REASONS: Mapping[str, str] = {}


def predict(name: str = "", value: float | str | None = None, choices: Sequence[str] = ()) -> None:
    """Commit to a number, or to one of `choices` by its letter, before you run the next cell. `reveal` shows what came out."""
    if recording.active():
        return
    if not isinstance(name, str) or not name:
        raise WrongCall('predict takes a name and your number, in this order: predict("topic.name", 0.5).')
    listed = dict(zip(ascii_lowercase, choices, strict=False))
    lines = tuple(f"{letter}   {choice}" for letter, choice in listed.items())
    if value is None or value is Ellipsis:
        what = 'the letter of what you expect, such as "a"' if choices else "your number"
        display(
            Note(
                f"Prediction {name}", (*lines, f"Replace the dots with {what}, then run this cell."), WAITING
            )
        )
        return
    if choices:
        chosen = listed.get(str(value).strip().lower(), value)
        if chosen not in choices:
            raise WrongCall(
                f'predict("{name}", …) takes the letter of a choice in quotes, "a" to "{list(listed)[-1]}".'
            )
        journal.save("predictions", name, chosen)
        display(Note(f"Prediction {name}", (f"You predict: {chosen}. Run the next cell to see the result.",)))
        return
    number = _number_in("predict", name, value)
    journal.save("predictions", name, number)
    display(Note(f"Prediction {name}", (f"You predict {number:g}. Run the next cell to see the result.",)))


def reveal(name: str = "", value: float | str | None = None, because: Mapping[str, str] = NO_REASONS) -> None:
    """Show what came out beside what you predicted.

    For a prediction with choices, `value` is the right one, and `because` says of each wrong one why it is none.
    """
    if recording.active():
        return
    if not isinstance(name, str) or not name or value is None:
        raise WrongCall('reveal takes the name of a prediction and the result: reveal("topic.name", 0.5).')
    guess = journal.read()["predictions"].get(name)
    if isinstance(value, str):
        if isinstance(guess, str):
            calibrating.remember(name, guess, value)
        yours = _about_the_choice(guess, value, because)
        display(Note(f"Prediction {name}", (f"The result is: {value}.", yours)))
        return
    value = _number_in("reveal", name, value)
    if not isinstance(guess, float):
        yours = "You made no prediction."
    else:
        calibrating.remember(name, guess, value)
        yours = f"You predicted {calibrating.shown(guess)}, which is off by {abs(guess - value):.2g}."
    display(Note(f"Prediction {name}", (f"The result is {calibrating.shown(value)}. {yours}",)))


def _about_the_choice(guess: Any, right: str, because: Mapping[str, str]) -> str:
    if not isinstance(guess, str):
        return "You made no prediction."
    if guess == right:
        return "As you predicted."
    return " ".join(filter(None, [f"You predicted: {guess}.", because.get(guess, "")]))


def _number_in(function: str, name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # the last is torch's, of many numbers
        shown = repr(value) if isinstance(value, str) else f"a {type(value).__name__}"
        raise WrongCall(
            f"{function}({name!r}, …) takes one number, such as 0.5 or 1200; {shown[:60]} is not one."
        ) from None
