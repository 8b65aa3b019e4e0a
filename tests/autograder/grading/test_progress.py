"""A run that was started elsewhere can be watched, until it ends in one way or another."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pexpect
import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course import Assignment
from autograder.grading import progress
from autograder.grading.progress import Progress, Record, follow, read
from tests.autograder.commands import command, refusal
from tests.autograder.small_class import NAME


@pytest.fixture
def one(tmp_path, monkeypatch) -> Assignment:
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    return Assignment(tmp_path, NAME)


def test_a_run_is_followed_to_its_end(one):
    assert list(follow(one)) == []
    with Record(one, "grading it", 3) as record:
        seen = follow(one)
        assert next(seen).done == 0
        record.add(troubled=False)
        record.add(troubled=True)
        now = next(seen)
        assert (now.done, now.total, now.troubled, now.ended) == (2, 3, 1, "")
        assert "2 of 3" in str(now) and "1 could not be run to the end" in str(now) and "to go" in str(now)
        record.add(troubled=False)
    *_, last = seen
    assert (last.done, last.ended) == (3, "finished") and "to go" not in str(last)


def test_what_is_left_is_told_by_what_was_done_since_the_jails_had_started():
    now = Progress("grading it", total=60, process=1, started=0.0, done=11, seconds=35.0, begun=30.0)
    assert "11 of 60 after 35 s; about 24 s to go" in str(now)  # 0.5 s for each of 49
    assert "to go" not in str(replace(now, done=1)) and "starting" in str(replace(now, done=0))


def test_an_interrupted_run_and_a_killed_one_are_told_as_such(one):
    with pytest.raises(KeyboardInterrupt), Record(one, "grading it", 3) as record:
        record.add(troubled=False)
        raise KeyboardInterrupt
    assert "1 of 3" in str(read(one)) and "interrupted" in str(read(one))
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    path = one.root / ".autograder" / "progress" / f"{NAME}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"ended": "", "process": killed.pid}))
    assert "run the same command again to continue" in str(list(follow(one))[-1])


def test_a_number_that_another_process_has_by_now_is_no_run(one):
    """As after a reboot. A new run is not taken for a second one, and can be watched."""
    with Record(one, "grading it", 3):
        path = one.root / ".autograder" / "progress" / f"{NAME}.json"
        entry = json.loads(path.read_text())
        assert not read(one).ended
        path.write_text(json.dumps(entry | {"process_began": entry["process_began"] - 100}))
        assert "run the same command again to continue" in str(read(one))
        with Record(one, "grading again", 5):
            assert (read(one).title, read(one).ended) == ("grading again", "")


def test_a_second_run_that_is_refused_leaves_no_trace(one):
    with Record(one, "grading it", 3) as record:
        record.add(troubled=False)
        with pytest.raises(ValueError), Record(one, "grading it", 7):
            raise ValueError
        record.add(troubled=False)
        assert (read(one).done, read(one).total, read(one).ended) == (2, 3, "")


@pytest.mark.slow
def test_in_a_cell_of_a_notebook_it_stays_on_one_line(one):
    """IPython gives `!autograder watch` a terminal of 80 columns; what is longer than the line would stay there."""
    one.source.parent.mkdir(parents=True)
    one.source.touch()
    (one.root / "nbgrader_config.py").touch()
    command = Path(sys.executable).with_name("autograder")
    with Record(one, f"grading {NAME}", 1000) as record:
        watching = pexpect.spawn(
            str(command), ["watch", NAME], cwd=one.root, dimensions=(24, 80), encoding="utf-8"
        )
        watching.expect("0 of 1000; starting")
        shown = watching.before + watching.after
        record.add(troubled=True)
        record.add(troubled=False)
        watching.expect("2 of 1000 after .* to go; 1 could not")
        shown += watching.before + watching.after
    watching.expect(pexpect.EOF)
    shown += watching.before
    assert shown.count("\n") == 1 and shown.rstrip().endswith("finished; 1 could not be run to the end")
    *lines, _ = filter(None, shown.rstrip().split("\r"))
    assert len(lines) >= 2 and {len(line) for line in lines} == {79}


@pytest.mark.slow
def test_grade_can_be_watched(own_class):
    assert "02_attention is not being graded" in refusal("watch", NAME)
    command("grade", NAME, "--isolation", "none")
    shown = command("watch", NAME)
    assert f"grading {NAME}: 17 of 17" in shown and "finished" in shown


@pytest.mark.slow
def test_grading_says_what_it_starts_also_when_it_is_not_on_a_terminal(own_class):
    (own_class.course / ".autograder" / "store").rename(own_class.course / "forgotten")
    arguments = ["grade", NAME, "ada", "hao", "--isolation", "none"]
    said = CliRunner().invoke(app, arguments).stderr
    assert f"{NAME}: 2 students in submitted/." in said
    assert "to be run: starting servers" in said and "running the solution" in said
    assert said.index("starting servers") < said.index("The first notebook has been graded")
    again = CliRunner().invoke(app, ["grade", NAME, "ada", "--isolation", "none"]).stderr
    assert "starting servers" not in again and "nothing has changed" in again
