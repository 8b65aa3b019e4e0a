"""`hint`: a ladder of four rungs for each exercise, and what is said of the fifth."""

from IPython import get_ipython
from IPython.display import display

from autograder.checks import answer_key, journal, lending, recording
from autograder.checks.exceptions import WrongCall
from autograder.checks.notes import Note

LAST = (
    'There is no further hint. case("{name}") returns the first input on which your answer is wrong, and print works inside '
    "your function. If you are still stuck, ask your instructor or a neighbour."
)
_shown: set[str] = set()
"""The exercises of which this kernel has shown a hint."""


def hint(name: str = "", rung: int | None = None) -> None:
    """Show the next hint of an exercise: a question, then the shapes, then pseudocode, then a near miss.

    Each call climbs by one, also when the same cell is run again; the first after a restart shows how far you were.
    `rung` (1 to 4) shows the ladder up to that rung. Rung 5, where the course has one, is `borrow`.
    """
    if recording.active():
        return
    name = answer_key.asked_for("hint", name)
    hints = answer_key.find(name).hints
    fifth = lending.offer(name)
    last = len(hints) + bool(fifth)
    if rung is not None and not (type(rung) is int and 1 <= rung <= last):
        raise WrongCall(f"hint({name!r}, {rung!r}): there are hints 1 to {last}.")
    if rung == len(hints) + 1:
        lending.borrow(name)
        return
    reached = rung or _next(name, len(hints))
    _shown.add(name)
    journal.save("hints", name, reached)
    if (shell := get_ipython()) and fifth:  # the notebook may not have imported it
        shell.user_ns.setdefault("borrow", lending.borrow)
    more = (
        f'Run hint("{name}") again for the next hint.' if hints[reached:] else fifth or LAST.format(name=name)
    )
    display(Note(f"Hint {reached} of {len(hints)} for {name}", (*hints[:reached], more)))


def _next(name: str, last: int) -> int:
    reached = journal.read()["hints"].get(name, 0)
    if not reached or name in _shown:
        reached += 1
    return min(reached, last)
