"""A small course with one exercise, written anew for each test."""

from contextlib import ExitStack, nullcontext

import pytest
from typer.testing import CliRunner, Result

from autograder.cli import app
from autograder.course import Assignment
from autograder.grading import reference
from autograder.jail.inside.limits import Limits
from tests.conftest import ROOT

SOLUTION = """
# %%
import torch

from coursekit import check

# %% nbgrader={"grade": false, "grade_id": "lucky-largest", "locked": false, "schema_version": 3, "solution": true, "task": false}
def largest(x):
    \"\"\"The largest number of each row.\"\"\"
    ### BEGIN SOLUTION
    return x.max(dim=-1).values
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "lucky-largest-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("lucky.largest", lambda case: largest(case["x"]))
"""
EXERCISES = """
from autograder.exercise import Exercise, Mistake


def cases(draw):
    for rows, columns in ((2, 3), (4, 2), (3, 4)):
        yield {"x": draw.normal(rows, columns)}


def exercise(mistakes, alternatives={"sorted": "def largest(x):\\n    return x.sort(-1).values[:, -1]"}):
    return Exercise(cases, mistakes, alternatives, ("a", "b", "c", "d"))


SMALLEST = Mistake("the smallest", "Yours is the smallest.", "max", "min")
"""
LUCKY = 'Mistake("without zero", "What if all are negative?", "x.max(dim=-1).values", "x.max(dim=-1).values.clamp(min=-0.5)")'


def run(*command: str) -> Result:
    """What a command printed, and its exit status. What it raises is raised here, too."""
    return CliRunner().invoke(app, command, catch_exceptions=False)


@pytest.fixture(scope="session")
def server_for():
    """Stands in for `own_server`: the tests share one server per set of limits, because starting one imports torch.

    Every job runs in a fork, so tests cannot affect one another.
    """
    start, servers = reference.own_server, {}
    with ExitStack() as running:

        def share(root, modules=(), limits=None):
            limits = limits or Limits()
            if limits not in servers:
                servers[limits] = running.enter_context(start(ROOT, modules, limits))
            return nullcontext(servers[limits])

        yield share


@pytest.fixture
def course(tmp_path, monkeypatch, server_for):
    """course(exercises) is an assignment 13_lucky with that module as its exercises."""
    monkeypatch.setattr(reference, "own_server", server_for)
    folder = tmp_path / "solutions" / "13_lucky"
    folder.mkdir(parents=True)
    (folder / "13_lucky.py").write_text(SOLUTION)
    (tmp_path / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text())
    monkeypatch.chdir(tmp_path)

    def make(exercises):
        (folder / "exercises.py").write_text(EXERCISES + exercises)
        return Assignment(tmp_path, "13_lucky")

    return make
