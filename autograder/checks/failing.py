"""The first failing inputs of a check, handed to the student to play with."""

from typing import Any

from autograder.checks.arrays import ADAPTERS, Arrays
from autograder.checks.asking import Answer, argument, handed_out
from autograder.checks.card import Card


class FailingCase(dict[str, Any]):
    """The inputs by name, so that `f(**case("topic.f"))` calls a function on them once more.

    yours      what your function gave: an array, or several by name, or None if it gave none;
    expected   what it should have given, in the same form.
    """

    def __init__(self, exercise: str, number: int, inputs: dict[str, Any], yours: Any, expected: Any) -> None:
        super().__init__(inputs)
        self.exercise, self.number = exercise, number
        self.yours, self.expected = yours, expected

    def __repr__(self) -> str:
        lines = [f"{self.exercise}, input {self.number}:"]
        lines += [f"  [{name!r}] = {value!r}" for name, value in self.items()]
        return "\n".join([*lines, f"  .yours = {self.yours!r}", f"  .expected = {self.expected!r}"])


def first_failing(card: Card) -> FailingCase | None:
    """Copies of the inputs that the card's verdict is about, and of both answers; None if no input failed."""
    at = card.verdict.case
    if at not in card.failing:
        return None
    adapter = ADAPTERS[card.key.rule.arrays]
    inputs = {
        name: argument(value, adapter) for name, value in sorted(handed_out(card.key.cases[at]).items())
    }
    yours, expected = (_as_returned(answer, adapter) for answer in (card.answers[at], card.key.expected[at]))
    return FailingCase(card.key.name, at + 1, inputs, yours, expected)


def _as_returned(answer: Answer, adapter: Arrays) -> Any:
    parts = {name: adapter.argument(array) for name, array in answer.arrays.items()}
    return parts.get("", parts or None)
