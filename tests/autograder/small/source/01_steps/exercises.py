"""01 Steps: inputs and expected mistakes of its exercises."""

from collections.abc import Iterator

from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from autograder.exercise import Draw, Exercise, Mistake

HINTS = ("Which number?", "In: (n,).", "add them up", "Near miss: the mean.")


def cases(draw: Draw) -> Iterator[Case]:
    for n in (4, 7, 10):
        yield {"values": draw.uniform(n, low=1.0, high=9.0)}


total = Exercise(
    cases=cases,
    rule=Rule("close", 1e-5),
    mistakes=(
        Mistake("the mean instead of the sum", "Your answer does not grow with n.", ".sum()", ".mean()"),
        Mistake(
            "the first value is left out", "Where does Python count from?", "values.sum()", "values[1:].sum()"
        ),
    ),
    alternatives={"a loop": "def total(values):\n    return float(sum(values))\n"},
    hints=HINTS,
)
shares = Exercise(
    cases=cases,
    rule=Rule("close", 1e-5, axes={"": "values"}),
    mistakes=(
        Mistake("not divided", "Your shares do not add up to 1.", " / total(values)", "", credit=0.5),
        Mistake(
            "divided by the largest", "The largest of your shares is 1.", "total(values)", "values.max()"
        ),
    ),
    alternatives={
        "with the mean": "def shares(values):\n    return values / (values.mean() * len(values))\n"
    },
    hints=HINTS,
    uses=("steps.total",),
)
largest = Exercise(
    cases=cases,
    rule=Rule("close", 1e-5),
    mistakes=(Mistake("the smallest", "You took the other end.", ".max()", ".min()"),),
    alternatives={"sorted": "def largest(values):\n    return np.sort(shares(values))[-1]\n"},
    hints=HINTS,
    uses=("steps.shares",),
)
