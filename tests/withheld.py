"""Which functions and classes that can be imported would answer an exercise? All of them are tried."""

import importlib
import inspect
import pkgutil
import signal
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autograder.authoring.rates import Bench
from autograder.checks.asking import ask
from autograder.checks.comparing import compare
from autograder.course import Assignment
from autograder.pool.pool import settings_for
from autograder.source import defined_in_answers, grade_id, read_source

SECONDS = 2
"""For one call. What runs longer, such as a training, is no answer to anything."""
CHANGES = (
    "set_",
    "save",
    "seed",
    "manual_seed",
    "use_",
    "main",
    "keep",
    "fromfile",
    "load",
    "compile",
    "exit",
)
"""How functions begin that would change this process or write files."""


def importable(package: str) -> Iterator[tuple[str, Any]]:
    """Every function and class of a package, and every function in its classes, by its dotted name."""
    root = importlib.import_module(package)
    modules = [root]
    for found in pkgutil.walk_packages(root.__path__, f"{package}."):
        if not found.name.endswith("__main__"):
            modules.append(importlib.import_module(found.name))
    for module in modules:
        for name, value in list(vars(module).items()):
            if getattr(value, "__module__", "") != module.__name__ or not callable(value):
                continue
            yield f"{module.__name__}.{name}", value
            if inspect.isclass(value):
                for method, function in list(vars(value).items()):
                    if (
                        isinstance(function, staticmethod | classmethod | types.FunctionType)
                        and method[0] != "_"
                    ):
                        yield f"{module.__name__}.{name}.{method}", getattr(value, method)


def of_libraries(*modules: str) -> Iterator[tuple[str, Any]]:
    """The public functions and classes of these modules, wherever they are defined."""
    for module in modules:
        for name, value in list(vars(importlib.import_module(module)).items()):
            if callable(value) and not name.startswith("_"):
                yield f"{module}.{name}", value


def answers_by_import(
    assignment: Assignment, candidates: Callable[[], Iterator[tuple[str, Any]]]
) -> dict[str, list[str]]:
    """{exercise: those of the candidates that pass its check in place of the student's own}, on one draw of inputs."""
    found: dict[str, list[str]] = {}
    notebook = read_source(assignment.source)
    given = list(candidates())
    for exercise in assignment.exercises.values():
        cell = next(cell for cell in notebook.cells if grade_id(cell) == exercise.solution_id)
        cells = type(notebook)(cells=[cell])
        names = defined_in_answers(cells)
        bench = Bench(assignment, exercise)
        cases = exercise.draw(1)
        expected = [ask(bench.call, case, exercise.rule.arrays) for case in cases]
        for dotted, candidate in given:
            if dotted.rpartition(".")[2].startswith(CHANGES):
                continue
            for name in names:
                own = bench.names[name]
                bench.names[name] = candidate
                if all(
                    _right(bench, case, want, exercise) for case, want in zip(cases, expected, strict=True)
                ):
                    found.setdefault(exercise.name, []).append(dotted)
                bench.names[name] = own
    return found


def _right(bench: Bench, case: Any, want: Any, exercise: Any) -> bool:
    try:
        with _no_longer_than(SECONDS):
            return (
                compare(ask(bench.call, case, exercise.rule.arrays), want, exercise.rule, exercise.unseen)
                is None
            )
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return False


class _TooLong(BaseException):
    """Nothing in a library catches it."""


@contextmanager
def _no_longer_than(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: Any) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def withheld_from(assignment: Assignment) -> set[str]:
    """What the jail hides while this notebook is graded."""
    return set(settings_for(assignment, "bwrap").withheld)
