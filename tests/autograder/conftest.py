"""One graded class for all tests of what an instructor does afterwards."""

import os
import shutil

import pytest

from autograder.jail.outside.client import find_problem
from tests.autograder import killing
from tests.autograder.small_class import Class, make_class, use_light_server


@pytest.fixture(scope="session")
def graded_class(tmp_path_factory) -> Class:
    """To be read only."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_light_server(monkeypatch)
        return make_class(tmp_path_factory.mktemp("class") / "course")


@pytest.fixture
def own_class(graded_class, tmp_path, monkeypatch) -> Class:
    """A copy that a test may change and grade again. The test runs in its course folder."""
    use_light_server(monkeypatch)
    shutil.copytree(graded_class.course, tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    return Class(tmp_path / "course", graded_class.failing)


@pytest.fixture(scope="session")
def ten(tmp_path_factory) -> killing.Class:
    return killing.Class(tmp_path_factory.mktemp("ten") / "course")


@pytest.fixture
def kind(ten) -> killing.Class:
    """Ten submissions of which nothing is graded yet."""
    ten.forget()
    return ten


@pytest.fixture(scope="session")
def jail_possible() -> None:
    problem = find_problem()
    if problem and not os.environ.get("CI"):
        pytest.skip(problem)
