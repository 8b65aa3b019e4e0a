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


@pytest.mark.slow
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
    assert journal.checks() == {"demo.first": True}


def test_each_course_has_a_part_of_its_own(tmp_path, monkeypatch):
    for number, name in enumerate(("statistics", "words")):
        folder = tmp_path / name / "notebooks" / "01_mean"
        folder.mkdir(parents=True)
        (tmp_path / name / "nbgrader_config.py").write_text(
            f'c = get_config()\nc.CourseDirectory.course_id = "{name}"\n'
        )
        monkeypatch.chdir(folder)
        journal.save_check("mean.mean", bool(number))
        journal.save("hints", "mean.mean", number + 1)
    assert journal.read()["hints"] == {"mean.mean": 2}
    monkeypatch.chdir(tmp_path / "statistics")
    assert journal.checks() == {"mean.mean": False} and journal.read()["hints"] == {"mean.mean": 1}
    assert [path.name for path in journal.path().parent.glob("*.json")] == ["progress.json"]


def test_a_file_from_before_there_were_parts_is_read_and_kept(tmp_path, monkeypatch):
    old = {
        "checks": {"demo.first": True},
        "predictions": {"demo.share": 0.5},
        "scoreboard": {"GPT": {"place": 1}},
    }
    journal.path().parent.mkdir()
    journal.path().write_text(json.dumps(old))
    assert {name: part for name, part in journal.read().items() if part} == old
    journal.save_check("demo.second", False)
    with journal.changing("scoreboard") as rows:
        rows["BERT"] = {"place": len(rows) + 1}
    assert journal.checks() == {"demo.first": True, "demo.second": False}
    assert journal.read()["predictions"] == old["predictions"]
    assert journal.read()["scoreboard"] == {"GPT": {"place": 1}, "BERT": {"place": 2}}
    monkeypatch.chdir(tmp_path)  # a notebook of no known course sees what no course is known of
    assert journal.checks() == {"demo.first": True}


def test_settings_that_cannot_be_read_are_those_of_no_course(tmp_path, monkeypatch):
    (tmp_path / "nbgrader_config.py").write_text("c = (")
    monkeypatch.chdir(tmp_path)
    assert journal.course() == ""
