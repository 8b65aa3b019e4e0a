"""Sums: the exercise that is judged by its answers. The other one is graded by a test cell of nbgrader's kind."""

from collections.abc import Iterator

from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from autograder.exercise import Draw, Exercise, Mistake


def running_cases(draw: Draw) -> Iterator[Case]:
    for size in (3, 5, 8):
        yield {"x": draw.normal(size)}


running = Exercise(
    name="sums.running",
    cases=running_cases,
    rule=Rule("close", 1e-5),
    mistakes=(
        Mistake(
            "the sum of all",
            "There is one number where each entry has its own.",
            "np.cumsum(x)",
            "np.sum(x)",
        ),
        Mistake(
            "from the end",
            "Your first entry is the sum of all.",
            "np.cumsum(x)",
            "np.cumsum(x[::-1])[::-1]",
        ),
    ),
    alternatives={
        "a loop": "def running(x):\n    total, sums = 0.0, []\n    for value in x:\n        total += value\n"
        "        sums.append(total)\n    return np.array(sums)\n"
    },
    hints=(
        "What is the second entry?",
        "As many entries as x has.",
        "Add as you go.",
        "Where does your sum begin?",
    ),
)
