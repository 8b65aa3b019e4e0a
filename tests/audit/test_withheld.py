"""No function or class that can be imported answers an exercise, unless the exercise says that it may. All are tried."""

import importlib
import inspect
import pkgutil
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autograder.authoring.rates import Bench, TooLong, no_longer_than
from autograder.checks.asking import Case, ask
from autograder.checks.comparing import compare
from autograder.course import Assignment
from autograder.exercise import Exercise
from autograder.pool.pool import settings_for
from autograder.source import answer_cells, defined_in, grade_id
from tests.conftest import ASSIGNMENTS, release_of

pytestmark = [pytest.mark.audit, pytest.mark.slow, pytest.mark.timeout(7200)]
Candidates = Iterator[tuple[str, Any]]
LIBRARIES = (
    "torch", "torch.nn", "torch.nn.functional", "torch.special", "torch.linalg", "torch.nn.utils.rnn",
    "numpy", "scipy.stats", "scipy.special", "sklearn.metrics", "sklearn.preprocessing",
)  # fmt: skip
PLAIN = {"matmul", "mm", "bmm"}
"""Functions that are operators: a matrix product is what such an exercise is about."""
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
    "fork",
    "init_",
)
"""How functions begin that would change this process or write files."""
SECONDS = 2
"""For one call. What runs longer, such as a training, is no answer to anything."""


def importable(package: str) -> Candidates:
    """Every function and class of a package, and every function in its classes, by its dotted name."""
    root = importlib.import_module(package)
    names = [found.name for found in pkgutil.walk_packages(root.__path__, f"{package}.")]
    for module in [root, *(importlib.import_module(name) for name in names if "__main__" not in name)]:
        for name, value in list(vars(module).items()):
            if getattr(value, "__module__", "") != module.__name__ or not callable(value):
                continue
            yield f"{module.__name__}.{name}", value
            for method, function in list(vars(value).items()) if inspect.isclass(value) else ():
                if isinstance(function, staticmethod | classmethod | types.FunctionType) and method[0] != "_":
                    yield f"{module.__name__}.{name}.{method}", getattr(value, method)


def of_libraries() -> Candidates:
    """The public functions and classes of the libraries, wherever they are defined."""
    for module in LIBRARIES:
        for name, value in list(vars(importlib.import_module(module)).items()):
            if callable(value) and not name.startswith("_"):
                yield f"{module}.{name}", value


def answers_by_import(assignment: Assignment, candidates: Callable[[], Candidates]) -> dict[str, list[str]]:
    """{exercise: those of the candidates that pass its check in place of the student's own}, on one draw of inputs."""
    found: dict[str, list[str]] = {}
    given = [(name, one) for name, one in candidates() if not name.rpartition(".")[2].startswith(CHANGES)]
    cells = answer_cells(assignment.source.read_text(encoding="utf-8"), assignment.source.suffix)
    for exercise in assignment.exercises.values():
        bench = Bench(assignment, exercise)
        cases = exercise.draw(1)
        expected = [ask(bench.call, case, exercise.rule.arrays) for case in cases]
        for name in defined_in(cells[exercise.solution_id]):
            own = bench.names[name]
            for dotted, candidate in given:
                bench.names[name] = candidate
                pairs = zip(cases, expected, strict=True)
                if all(right(bench, case, want, exercise) for case, want in pairs):
                    found.setdefault(exercise.name, []).append(dotted)
            bench.names[name] = own
    return found


def right(bench: Bench, case: Case, want: Any, exercise: Exercise) -> bool:
    try:
        with no_longer_than(SECONDS):
            answer = ask(bench.call, case, exercise.rule.arrays)
            return compare(answer, want, exercise.rule, exercise.unseen) is None
    except (Exception, TooLong):
        return False


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_what_the_course_s_packages_have_of_an_exercise_is_withheld(name):
    assignment = ASSIGNMENTS[name]
    withheld = settings_for(assignment, "bwrap").withheld
    hidden = (*withheld, "coursekit.planted")
    packages = assignment.settings.packages
    found = answers_by_import(
        assignment, lambda: (one for package in packages for one in importable(package))
    )
    shown = {
        exercise: [one for one in names if not f"{one}.".startswith(tuple(f"{other}." for other in hidden))]
        for exercise, names in found.items()
    }
    assert {exercise: names for exercise, names in shown.items() if names} == {}


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_what_a_library_has_of_an_exercise_its_text_allows(name):
    assignment = ASSIGNMENTS[name]
    texts = {grade_id(cell): cell.source for cell in release_of(name).cells}
    silent = {}
    for exercise, dotted in answers_by_import(assignment, of_libraries).items():
        own = {one.rpartition(".")[2] for one in dotted}
        text = texts[assignment.exercises[exercise].solution_id]
        if not own & PLAIN and not any(f"{function}`" in text for function in own):
            silent[exercise] = dotted
    assert silent == {}
