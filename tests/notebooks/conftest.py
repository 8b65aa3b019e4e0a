"""Each solution is executed once for all the tests that look at it."""

from pathlib import Path

import pytest

from tests.notebooks.executions import folder_of_the_run, run_and_keep

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # before `-m` and `-k` take tests away
def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == HERE and "run" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.timeout(1800))  # the first one executes the notebook


def pytest_generate_tests(metafunc):
    """A test that looks at a run does so for each of its module's NOTEBOOKS.

    pytest brings the tests of one notebook together, and the groups in tests/conftest.py give them to one process.
    """
    if "run" in metafunc.fixturenames:
        metafunc.parametrize("run", metafunc.module.NOTEBOOKS, indirect=True, scope="session")


@pytest.fixture(autouse=True)
def packaged_models(monkeypatch):
    """What a test asks of a notebook's functions is answered without a hub, too."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def run(request, pytestconfig, tmp_path_factory):
    """A notebook's solution after its last cell."""
    kept = folder_of_the_run(pytestconfig, tmp_path_factory)
    with run_and_keep(request.param, tmp_path_factory.mktemp("home"), kept) as run:
        yield run


@pytest.fixture(scope="session")
def measured(run):
    """The names that the solution leaves behind."""
    assert run.error == ""
    return run.names
