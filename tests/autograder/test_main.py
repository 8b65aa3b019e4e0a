"""How the command answers signals and the terminal, and what it leaves behind: nothing that runs."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from autograder.course import Assignment
from tests.autograder.road import hand_in, make_course, perfect_notebook
from tests.processes import processes_below, wait_until_gone

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("jail_possible")]

NAME = "02_attention"
SCRIPT = Path(sys.executable).with_name("autograder")


@pytest.fixture
def course(tmp_path):
    folder = make_course(tmp_path / "course")
    config = folder / "nbgrader_config.py"
    config.write_text(config.read_text().replace("cell_seconds = 4", "cell_seconds = 900"))
    give(folder)
    return folder


def give(course: Path, first_cell: str = "") -> None:
    """Hand in a perfect notebook for ada that first runs `first_cell`."""
    assignment = Assignment(course, NAME)
    notebook = perfect_notebook(assignment)
    notebook.cells.insert(1, new_code_cell(first_cell))
    hand_in(course, "ada", assignment, notebook)


def run(course: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([SCRIPT, *arguments], cwd=course, capture_output=True, text=True)


def running(course: Path, *before: str) -> tuple[subprocess.Popen, list[int]]:
    """A command that has started its servers, with all that runs below it. `before` might be nohup."""
    output = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    command = [*before, SCRIPT, "grade", NAME]
    process = subprocess.Popen(command, cwd=course, **output)
    while b"to be run" not in process.stderr.readline():
        assert process.poll() is None
    while not (below := processes_below(process.pid)):
        assert process.poll() is None
    return process, below


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_ends_the_command_with_all_that_it_runs(course, number):
    give(course, "import time\ntime.sleep(800)")
    # The tests may run under nohup.
    process, below = running(course, "env", "--default-signal=INT,HUP")
    process.send_signal(number)
    assert process.wait(60) == (130 if number == signal.SIGINT else -number)
    wait_until_gone(below)
    give(course)
    assert run(course, "grade", NAME).returncode == 0, "the next command goes on"


def test_it_goes_on_under_nohup(course):
    process, _ = running(course, "nohup")
    process.send_signal(signal.SIGHUP)
    assert process.wait(120) == 0


def test_it_leaves_no_process_behind(course):
    process, below = running(course)
    assert process.wait(120) == 0
    wait_until_gone(below)


def test_an_unknown_assignment_is_one_sentence_and_exit_status_1(course):
    done = run(course, "grade", "99_nothing")
    assert done.returncode == 1
    assert "99_nothing" in done.stdout and "Traceback" not in done.stdout + done.stderr


def test_a_terminal_shows_colours(course):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [SCRIPT, "grade", NAME], cwd=course, env={**os.environ, "TERM": "xterm"},
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 1 << 16)
        except OSError:  # the command has ended
            break
    assert process.wait(60) == 0
    assert b"\x1b[" in shown and b"ada" in shown
