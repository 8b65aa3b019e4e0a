"""No function or class that can be imported answers an exercise, unless the exercise says that it may. All are tried."""

import contextlib
import faulthandler
import importlib
import inspect
import io
import os
import pkgutil
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autograder.authoring.rates import Bench, TooLong, no_longer_than, one_thread
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
    "seqeval.metrics", "sentence_transformers.util", "torchmetrics.functional",
)  # fmt: skip
PLAIN = {"matmul", "mm", "bmm"}
"""Functions that are operators: a matrix product is what such an exercise is about."""
ALIKE = {"cos_sim": "cosine_similarity", "pytorch_cos_sim": "cosine_similarity"}
"""Functions that are allowed by a text which allows torch's own."""
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
    "test",
)
"""How functions begin that would change this process, write files, or run a library's own tests for minutes."""
SECONDS = 2
"""For one call. What runs longer, such as a training, is no answer to anything."""


@pytest.fixture(autouse=True)
def in_a_folder_aside(tmp_path, monkeypatch):
    """What the candidates write, such as an archive named like their argument, does not land in the repository."""
    monkeypatch.chdir(tmp_path)


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
    one_thread()  # after a product in several threads, the next one in a fork waits for ever
    found: dict[str, list[str]] = {}
    given = [(name, one) for name, one in candidates() if not name.rpartition(".")[2].startswith(CHANGES)]
    cells = answer_cells(assignment.source.read_text(encoding="utf-8"), assignment.source.suffix)
    for exercise in assignment.exercises.values():
        for name in defined_in(cells[exercise.solution_id]):
            if passing := _in_place_of(name, assignment, exercise, given):
                found.setdefault(exercise.name, []).extend(passing)
    return found


def _in_place_of(
    name: str, assignment: Assignment, exercise: Exercise, given: list[tuple[str, Any]]
) -> list[str]:
    bench, call = Bench(assignment, exercise), Call()
    cases = exercise.draw(1)
    expected = [ask(bench.call, case, exercise.rule.arrays) for case in cases]
    bench.names[name] = call
    ask(bench.call, cases[0], exercise.rule.arrays)
    could = [(dotted, one) for dotted, one in given if call.fits(one)]

    def passes(number: int) -> bool:
        bench.names[name] = could[number][1]
        return all(right(bench, case, want, exercise) for case, want in zip(cases, expected, strict=True))

    return [could[number][0] for number in in_forks(passes, len(could))]


class Call:
    """Stands for the student's function, and remembers how it is called."""

    how: tuple[tuple[Any, ...], dict[str, Any]] | None = None

    def __call__(self, *arguments: Any, **named: Any) -> None:
        self.how = arguments, named

    def fits(self, candidate: Any) -> bool:
        """Whether a candidate takes such arguments, as far as one can see."""
        if self.how is None:
            return True
        arguments, named = self.how
        try:
            inspect.signature(candidate).bind(*arguments, **named)
        except TypeError:
            return False
        except ValueError:  # written in C
            return True
        return True


def in_forks(passes: Callable[[int], bool], count: int) -> list[int]:
    """The numbers for which it says so. A fork tries one after the other; where that is the end of it, another goes on."""
    found, begin = [], 0
    while begin < count:
        reader, writer = os.pipe()
        if (pid := os.fork()) == 0:
            faulthandler.disable()  # a library that ends the process is no news
            try:
                for number in range(begin, count):
                    os.write(writer, b"?")
                    os.write(writer, b"+" if passes(number) else b"-")
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader, "rb") as file:
            said = file.read().decode()
        os.waitpid(pid, 0)
        verdicts = said.replace("?", "")
        found += [begin + place for place, verdict in enumerate(verdicts) if verdict == "+"]
        begin += max(1, said.count("?"))
    return found


def right(bench: Bench, case: Case, want: Any, exercise: Exercise) -> bool:
    try:
        with no_longer_than(SECONDS), contextlib.redirect_stdout(io.StringIO()):
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
    if name == "03_transformer_layer":  # whose own modules are there, so that they are found
        assert "coursekit.modules.FeedForward" in found["transformer.FeedForward"]
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
        own = {ALIKE.get(one, one) for one in (one.rpartition(".")[2] for one in dotted)}
        text = texts[assignment.exercises[exercise].solution_id]
        if not own & PLAIN and not any(f"{function}`" in text for function in own):
            silent[exercise] = dotted
    assert silent == {}
