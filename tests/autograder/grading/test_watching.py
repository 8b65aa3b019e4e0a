"""The command that watches, as a process of its own with real servers."""

import signal
import subprocess
from contextlib import contextmanager

import nbformat
import pytest

from autograder.course import Assignment
from autograder.gradebook.feedback import page_of
from autograder.gradebook.gradebook import register
from autograder.gradebook.history import read_history
from tests.autograder.killing import ENVIRONMENT, LIGHT
from tests.autograder.road import make_course, perfect_notebook
from tests.autograder.small_class import NAME
from tests.processes import processes_below, wait_until_gone

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("jail_possible")]


@pytest.fixture
def assignment(tmp_path):
    assignment = Assignment(make_course(tmp_path / "course"), NAME)
    register(assignment)
    return assignment


def put(assignment, student, text):
    """As a program that copies does: aside, then in its place."""
    folder = assignment.submitted / student / assignment.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".part").write_text(text)
    (folder / ".part").rename(folder / assignment.file)


@contextmanager
def watching(assignment):
    """A process that has said that it watches."""
    process = subprocess.Popen(
        [*LIGHT, "grade", assignment.name, "--watch", "--workers", "1"],
        cwd=assignment.root, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        line_with(process, "Watching submitted/")
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def line_with(process, words):
    """The next line that holds these words; the lines before it may hold none of another student."""
    for line in process.stdout:
        if words in line:
            return line
        assert " / " not in line, line
    raise AssertionError(f"it ended without saying {words!r}")


def test_a_watcher_grades_what_arrives_ends_cleanly_and_goes_on(assignment):
    perfect = nbformat.writes(perfect_notebook(assignment))
    with watching(assignment) as process:
        put(assignment, "ada", perfect)
        assert " / " in line_with(process, "ada")
        assert page_of(assignment, "ada").exists()
        put(assignment, "hao", "This is my homework.")
        assert "0 / " in line_with(process, "hao")
        refused = subprocess.run(
            [*LIGHT, "grade", assignment.name, "--watch"],
            cwd=assignment.root, env=ENVIRONMENT, capture_output=True, text=True,
        )  # fmt: skip
        assert refused.returncode == 1 and "watching this course already" in " ".join(refused.stdout.split())
        below = processes_below(process.pid)
        process.send_signal(signal.SIGTERM)
        assert "2 graded" in line_with(process, "Stopped")
        assert process.wait(60) == 0
        wait_until_gone(below)
    put(assignment, "bob", perfect)
    with watching(assignment) as process:
        assert " / " in line_with(process, "bob")  # and no line of ada's or hao's before
        process.send_signal(signal.SIGINT)
        assert "1 graded" in line_with(process, "Stopped")
    assert len(read_history(assignment, "ada").hand_ins) == 1
