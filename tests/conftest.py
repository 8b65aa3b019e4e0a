"""What several test folders share: the course, its assignments, and a warm server without a jail."""

from pathlib import Path

import pytest

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
