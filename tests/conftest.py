"""What several test folders share: the course, its assignments, and a warm server without a jail."""

from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

from autograder.course import assignments, course_root
from autograder.jail.client import Server

ROOT = course_root(Path(__file__).parent)
ASSIGNMENTS = {one.name: one for one in assignments(ROOT)}


@pytest.fixture(scope="session")
def open_server():
    """Runs our own code as the build does; students' code is tried in tests/jail and tests/hostile."""
    with Server(isolation="none") as server:
        yield server


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    """No test touches the progress file of whoever runs it."""
    monkeypatch.setenv("COURSEKIT_HOME", str(tmp_path / "progress"))


class ByFileAndNotebook(LoadScopeScheduling):
    """Two processes share the tests by file, and by notebook where a file has tests of every notebook.

    Those in tests/notebooks that ask for the same solution stay together, whatever their file: it runs once.
    """

    def _split_scope(self, nodeid):
        file, _, test = nodeid.partition("::")
        name = next((name for name in ASSIGNMENTS if f"[{name}" in test), "")
        return name if name and file.startswith("tests/notebooks/") else file + name


@pytest.hookimpl(optionalhook=True)  # -p no:xdist
def pytest_xdist_make_scheduler(config, log):
    return ByFileAndNotebook(config, log)


def pytest_collection_modifyitems(items):
    """Slow tests come first, so that no process is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
