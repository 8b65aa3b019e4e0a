"""Record mode: `check` writes down the answers instead of judging them.

The autograder executes a notebook in this mode, on inputs of its own, and compares the answers elsewhere.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.checks.asking import Answer, Case, ask
from autograder.checks.status import Problem

AnswerId = tuple[str, str, int]
"""(variant, exercise, case): the variant is "" for the notebook as it is, else the name of an edit."""


@dataclass
class Recorder:
    """Asks every check on the given cases and keeps the answers.

    Only the check whose own cell is running is recorded (`expecting`), so that a call copied elsewhere in
    the notebook neither counts nor overwrites.
    """

    cases: Mapping[str, Sequence[Case]]
    answers: dict[AnswerId, Answer] = field(default_factory=dict)
    expecting: str = ""
    variant: str = ""
    arrays: str = "numpy"  # what functions are given, by its name in `arrays.ADAPTERS`

    def record(self, exercise: str, call: Any) -> None:
        """Ask on every case of the exercise, in an order of chance; do nothing for a check that is not expected.

        `call` is what the cell gave to `check`. Where it cannot be called, the answers say so.
        """
        if exercise != self.expecting:
            return
        order = list(enumerate(self.cases.get(exercise, [])))
        random.SystemRandom().shuffle(order)  # nothing can be keyed on a call's number
        for number, case in order:
            self.answers[self.variant, exercise, number] = ask(call, case, self.arrays)


_active: Recorder | None = None


def active() -> Recorder | None:
    """The recorder of this process, or None in a student's own session."""
    return _active


def start(recorder: Recorder) -> None:
    """Put this process into record mode for the rest of its life."""
    global _active
    _active = recorder


@contextmanager
def recording_with(recorder: Recorder) -> Iterator[None]:
    """Record mode until the end of the `with`, for a process that has other things to do."""
    global _active
    before, _active = _active, recorder
    try:
        yield
    finally:
        _active = before


def cases_to_file(cases: Mapping[str, Sequence[Case]]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Split cases into arrays (for safetensors) and the rest (for JSON)."""
    arrays: dict[str, np.ndarray] = {}
    rest: dict[str, list[dict[str, Any]]] = {}
    for exercise, of_exercise in cases.items():
        rest[exercise] = [{} for _ in of_exercise]
        for number, case in enumerate(of_exercise):
            for name, value in case.items():
                if isinstance(value, np.ndarray):
                    arrays[f"case|{exercise}|{number}|{name}"] = value
                else:
                    rest[exercise][number][name] = value
    return arrays, rest


def cases_from_file(arrays: dict[str, np.ndarray], rest: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The inverse of `cases_to_file`. The inputs of a case come in the order of their names: the arrays of a file come in
    any order, and a message that names the first of several inputs would change from one reading to the next."""
    cases = {exercise: [dict(case) for case in of_exercise] for exercise, of_exercise in rest.items()}
    for path, array in sorted(arrays.items()):
        kind, *where = path.split("|")
        if kind == "case":
            exercise, number, name = where
            cases[exercise][int(number)][name] = array
    return cases


def answers_to_file(answers: dict[AnswerId, Answer]) -> tuple[dict[str, np.ndarray], list[dict[str, Any]]]:
    """Split answers into arrays (for safetensors) and descriptions (for JSON)."""
    arrays: dict[str, np.ndarray] = {}
    described: list[dict[str, Any]] = []
    for (variant, exercise, number), answer in sorted(answers.items()):
        for part, array in answer.arrays.items():
            arrays[f"answer|{variant}|{exercise}|{number}|{part}"] = array
        for name, array in answer.gradients.items():
            arrays[f"gradient|{variant}|{exercise}|{number}|{name}"] = array
        described.append(
            {
                "variant": variant,
                "exercise": exercise,
                "case": number,
                "problem": answer.problem,
                "message": answer.message,
                "notes": list(answer.notes),
            }
        )
    return arrays, described


def answers_from_file(
    arrays: dict[str, np.ndarray], described: Iterable[dict[str, Any]]
) -> dict[AnswerId, Answer]:
    """The inverse of `answers_to_file`. The caller has validated `described`."""
    parts: dict[str, dict[AnswerId, dict[str, np.ndarray]]] = {"answer": {}, "gradient": {}}
    for path, array in arrays.items():
        kind, *where = path.split("|", 4)
        if kind in parts and len(where) == 4 and where[2].isdecimal() and len(where[2]) < 10:
            variant, exercise, number, part = where
            parts[kind].setdefault((variant, exercise, int(number)), {})[part] = array
    answers = {}
    for entry in described:
        answer_id = (entry["variant"], entry["exercise"], entry["case"])
        answers[answer_id] = Answer(
            parts["answer"].get(answer_id, {}),
            Problem(entry["problem"]),
            entry["message"],
            tuple(entry["notes"]),
            parts["gradient"].get(answer_id, {}),
        )
    return answers
