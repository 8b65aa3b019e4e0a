"""What notebooks note down side by side: nothing is lost, and nothing hangs."""

import json
import subprocess
import sys

import pytest

from autograder.checks import journal, storing

SAVE = """
import sys
from autograder.checks import journal
input()  # until all have started
for number in range(40):
    journal.save_check(f"{sys.argv[1]}.{number}", True)
"""


def test_notebooks_that_save_at_once_lose_nothing():
    notebooks = [
        subprocess.Popen([sys.executable, "-c", SAVE, name], stdin=subprocess.PIPE)
        for name in ("first", "second", "third")
    ]
    for notebook in notebooks:
        notebook.stdin.write(b"\n")
        notebook.stdin.flush()
    assert [notebook.wait() for notebook in notebooks] == [0, 0, 0]
    assert len(journal.checks()) == 120


def test_a_notebook_that_was_stopped_with_the_lock_holds_nobody_up(monkeypatch):
    monkeypatch.setattr(storing, "PATIENCE", 0.0)
    journal.save_check("demo.first", True)
    with storing.locked(journal.path().with_suffix(".lock")):
        journal.save_check("demo.second", True)
        assert journal.checks() == {"demo.first": True, "demo.second": True}


def test_a_place_that_cannot_be_written_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "a-file").touch()
    monkeypatch.setenv("AUTOGRADER_HOME", str(tmp_path / "a-file"))
    journal.save_check("demo.first", True)
    assert journal.checks() == {}


def test_what_is_saved_already_is_not_written_again(monkeypatch):
    journal.save_check("demo.first", True)
    monkeypatch.setattr(journal, "write_aside", lambda *given: pytest.fail("it was written again"))
    journal.save_check("demo.first", True)
    assert json.loads(journal.path().read_text())["checks"] == {"demo.first": True}
