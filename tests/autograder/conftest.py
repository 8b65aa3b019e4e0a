"""One graded class for all tests of what an instructor does afterwards."""

import shutil

import pytest

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
