"""A run that was started elsewhere can be watched, until it ends in one way or another."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from autograder import progress
from autograder.cli import app
from autograder.course import Assignment
from autograder.progress import Record, follow, read
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


def test_an_interrupted_run_and_a_killed_one_are_told_as_such(one):
    with pytest.raises(KeyboardInterrupt), Record(one, "grading it", 3) as record:
        record.add(troubled=False)
        raise KeyboardInterrupt
    assert "1 of 3" in str(read(one)) and "interrupted" in str(read(one))
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    path = one.root / ".autograder" / "progress" / f"{NAME}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"ended": "", "process": killed.pid}))
    assert "the same command goes on" in str(list(follow(one))[-1])


def test_a_second_run_that_is_refused_leaves_no_trace(one):
    with Record(one, "grading it", 3) as record:
        record.add(troubled=False)
        with pytest.raises(ValueError), Record(one, "grading it", 7):
            raise ValueError
        record.add(troubled=False)
        assert (read(one).done, read(one).total, read(one).ended) == (2, 3, "")


@pytest.mark.slow
def test_grade_can_be_watched(own_class):
    before = CliRunner().invoke(app, ["watch", NAME])
    assert "No run of 02_attention is known" in str(before.exception)
    graded = CliRunner().invoke(app, ["grade", NAME, "--isolation", "none"])
    assert graded.exit_code == 0, graded.output
    shown = CliRunner().invoke(app, ["watch", NAME])
    assert shown.exit_code == 0
    assert f"grading {NAME}: 17 of 17" in shown.output and "finished" in shown.output
