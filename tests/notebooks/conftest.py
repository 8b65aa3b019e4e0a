"""Each solution runs once for all the tests that look at it."""

from pathlib import Path

import pytest

from tests.notebooks.running import run_solution

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # before `-m` and `-k` take tests away
def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.path.parent == HERE and "run" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


def pytest_generate_tests(metafunc):
    """A test that looks at a run does so for each of its module's NOTEBOOKS.

    pytest and the scheduler in tests/conftest.py bring the tests of one notebook together.
    """
    if "run" in metafunc.fixturenames:
        metafunc.parametrize("run", metafunc.module.NOTEBOOKS, indirect=True, scope="session")


@pytest.fixture(autouse=True)
def packaged_models(monkeypatch):
    """What a test asks of a notebook's functions is answered without a hub, too."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def run(request, tmp_path_factory):
    """The solution after its last cell, with the packaged models and not those of a hub."""
    with run_solution(request.param, tmp_path_factory.mktemp("home")) as run:
        yield run


@pytest.fixture(scope="session")
def measured(run):
    """The names that the solution leaves behind."""
    assert run.error == ""
    return run.names
