"""Planted faults, tried on the tensors that a student's function returns."""

from collections.abc import Mapping

from torch import Tensor

from autograder.checks import planted
from autograder.checks.planted import Exposure, Task


def expose(tests: Mapping[str, Tensor], task: Task) -> Exposure:
    """What one batch of inputs exposes among the task's practice faults."""
    return planted.expose(
        {name: array.detach().numpy() for name, array in tests.items()}, task, task.practice
    )


def row_by_row(tests: Mapping[str, Tensor], task: Task) -> list[Exposure]:
    """What each row of the batch exposes when it is used as a test of its own."""
    rows = len(next(iter(tests.values())))
    return [expose({name: array[b : b + 1] for name, array in tests.items()}, task) for b in range(rows)]
