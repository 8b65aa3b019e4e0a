"""What stays after a command: the next one finds it, does the same as without it, and is not harmed by its end."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.cli import COMMANDS
from autograder.course import Assignment
from autograder.daemon import client, place
from autograder.signature import signature
from tests.autograder.road import hand_in, make_course, perfect_notebook, with_cell
from tests.processes import command, is_alive, processes_below, wait_until_gone

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("jail_possible"),
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux has handles of processes"),
]

NAME = "02_attention"
SLOW = "import time\ntime.sleep(800)"
SCRIPT = Path(sys.executable).with_name("autograder")


@pytest.fixture
def runtime():
    """A folder whose path is short: the address of a socket has 107 characters."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)
        stop(folder)


@pytest.fixture
def course(tmp_path):
    return course_of_ada(tmp_path / "course")


def course_of_ada(folder: Path) -> Path:
    make_course(folder)
    config = folder / "nbgrader_config.py"
    config.write_text(config.read_text().replace("cell_seconds = 4", "cell_seconds = 900"))
    give(folder, "ada", perfect(folder))
    return folder


def perfect(course: Path) -> NotebookNode:
    return perfect_notebook(Assignment(course, NAME))


def wrong(course: Path, source: str) -> NotebookNode:
    return with_cell(perfect(course), "attention-scale", source)


def with_first_cell(course: Path, source: str) -> NotebookNode:
    notebook = perfect(course)
    notebook.cells.insert(1, new_code_cell(source))
    return notebook


def give(course: Path, student: str, notebook: NotebookNode) -> None:
    hand_in(course, student, Assignment(course, NAME), notebook)


def environment(runtime, **more: str) -> dict[str, str]:
    return {**os.environ, "XDG_RUNTIME_DIR": str(runtime), place.VARIABLE: "600", **more}


def stop(runtime) -> subprocess.CompletedProcess:
    return subprocess.run(
        [SCRIPT, "stop"], env=environment(runtime), capture_output=True, text=True, check=True
    )


def run(course, runtime, *arguments: str, **more: str) -> subprocess.CompletedProcess:
    whole = [SCRIPT, *(arguments or ("grade", NAME))]
    return subprocess.run(whole, cwd=course, env=environment(runtime, **more), capture_output=True, text=True)


def grade(course, runtime, student: str = "ada", **more: str) -> dict:
    """The result of a student whose notebook is run again."""
    to = course / "results.json"
    done = run(course, runtime, "grade", NAME, student, "--fresh", "--json", str(to), **more)
    assert done.returncode == 0, done.stdout + done.stderr
    (result,) = json.loads(to.read_text())["submissions"]
    return result


def begun(course, runtime, *before: str) -> subprocess.Popen:
    """A command that has come as far as to run notebooks; `before` it stands, for instance, nohup."""
    where = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    whole = [*before, SCRIPT, "grade", NAME]
    started = subprocess.Popen(whole, cwd=course, env=environment(runtime), **where)
    while b"to be run" not in started.stderr.readline():
        assert started.poll() is None
    return started


def daemon(runtime) -> int | None:
    """The process that listens in that folder."""
    for stat in Path("/proc").glob("[0-9]*/cmdline"):
        pid = int(stat.parent.name)
        words = command(pid)
        if "autograder.daemon" in words and str(runtime) in words and is_alive(pid):
            return pid
    return None


def servers(runtime) -> set[int]:
    """What runs in the jail that stays: the process that imports, and all between it and the daemon."""
    return {pid for pid in processes_below(daemon(runtime)) if is_alive(pid)}


def test_a_second_command_finds_the_server_and_gives_the_same_grade(course, runtime):
    first = grade(course, runtime)
    stayed = servers(runtime)
    assert stayed
    second = grade(course, runtime)
    assert servers(runtime) == stayed
    assert [cell["score"] for cell in second["cells"]] == [cell["score"] for cell in first["cells"]]
    assert second["score"] == first["score"] > 0

    give(course, "ben", wrong(course, "def scale(scores, d):\n    return scores / d"))
    ben = grade(course, runtime, "ben")
    assert servers(runtime) == stayed
    assert ben["score"] < first["score"] and any(cell.get("mistake") for cell in ben["cells"])

    said = stop(runtime).stdout
    assert "Ended the server" in said
    wait_until_gone([*stayed])
    assert "No server" in stop(runtime).stdout


def test_a_student_s_code_leaves_nothing_in_it(course, runtime):
    """The server forks for each notebook, and runs none itself: a name, a file and a process end with the first."""
    spoil = """
import builtins, torch, subprocess, pathlib
builtins.left = torch.left = True
torch.softmax = torch.matmul = lambda *a, **k: torch.zeros(1)
pathlib.Path("left.txt").write_text("left")
subprocess.Popen(["sleep", "600"])
"""
    give(course, "eve", with_first_cell(course, spoil))
    grade(course, runtime, "eve")
    stayed = servers(runtime)
    assert not [pid for pid in stayed if command(pid).startswith("sleep")]
    look = 'import builtins, os, torch; print([hasattr(builtins, "left"), hasattr(torch, "left"), os.path.exists("left.txt")])'
    give(course, "ida", with_first_cell(course, look))
    best = grade(course, runtime, "ida")
    assert servers(runtime) == stayed
    shown = (course / "autograded" / "ida" / NAME / f"{NAME}.ipynb").read_text()
    assert "[False, False, False]" in shown
    assert best["score"] == grade(course, runtime, "ada")["score"]


def test_what_has_changed_is_read_anew(course, runtime):
    """Another setting of the jail starts another server; the one before ends."""
    grade(course, runtime)
    before = servers(runtime)
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text() + "\nc.Jail.cell_seconds = 19\n")
    grade(course, runtime)
    wait_until_gone([*before])
    assert servers(runtime)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_the_command_and_not_the_daemon(course, runtime, number):
    grade(course, runtime)
    give(course, "ada", wrong(course, SLOW))
    started = begun(course, runtime)
    listening = daemon(runtime)
    started.send_signal(number)
    assert started.wait(200) != 0, "it does not wait for the notebook"
    assert daemon(runtime) == listening
    give(course, "ada", perfect(course))
    assert grade(course, runtime)["score"] > 0


def test_a_command_that_is_killed_ends_with_all_it_did(course, runtime):
    grade(course, runtime)
    give(course, "ada", wrong(course, SLOW))
    started = begun(course, runtime)
    listening = daemon(runtime)
    doing = [pid for pid in processes_below(listening) if command(pid) == command(listening)]
    assert doing
    started.kill()
    wait_until_gone(doing)
    give(course, "ada", perfect(course))
    assert grade(course, runtime)["score"] > 0
    assert daemon(runtime) == listening


def test_a_command_goes_on_under_nohup_whoever_started_the_daemon(course, runtime):
    grade(course, runtime)
    give(course, "ada", with_first_cell(course, "import time\ntime.sleep(5)"))
    started = begun(course, runtime, "nohup")
    doing = [pid for pid in processes_below(daemon(runtime)) if command(pid) == command(daemon(runtime))]
    for pid in (started.pid, *doing):
        os.kill(pid, signal.SIGHUP)
    assert doing and started.wait(200) == 0


def test_a_daemon_of_a_command_that_ignores_signals_does_not_ignore_them_for_others(course, runtime):
    assert subprocess.run(
        ["sh", "-c", 'trap "" INT HUP; exec "$0" grade "$1"', SCRIPT, NAME], cwd=course, env=environment(runtime)
    ).returncode == 0  # fmt: skip
    listening = daemon(runtime)
    give(course, "ada", wrong(course, SLOW))
    for number in (signal.SIGINT, signal.SIGHUP):
        started = begun(course, runtime, "env", "--default-signal=INT,HUP")  # the tests may run under nohup
        started.send_signal(number)
        assert started.wait(200) != 0, number
    assert daemon(runtime) == listening is not None


def test_a_command_ends_with_the_daemon_that_runs_it(course, runtime):
    grade(course, runtime)
    give(course, "ada", wrong(course, SLOW))
    started = begun(course, runtime)
    listening = daemon(runtime)
    below = [*processes_below(listening)]
    os.kill(listening, signal.SIGKILL)
    assert started.wait(200) != 0
    wait_until_gone(below)
    give(course, "ada", perfect(course))
    assert grade(course, runtime)["score"] > 0, "and nobody else is grading this course"


@pytest.mark.parametrize("what", ["the daemon", "its server"])
def test_what_stays_may_be_killed(course, runtime, what):
    score = grade(course, runtime)["score"]
    stayed = servers(runtime)
    for pid in [daemon(runtime)] if what == "the daemon" else stayed:
        os.kill(pid, signal.SIGKILL)
    wait_until_gone([*stayed])
    assert grade(course, runtime)["score"] == score
    assert servers(runtime) and not servers(runtime) & stayed


def test_its_time_begins_when_a_command_ends(course, runtime):
    give(course, "ada", with_first_cell(course, "import time\ntime.sleep(20)"))
    grade(course, runtime, AUTOGRADER_STAY_SECONDS="15")
    assert servers(runtime)


def test_it_does_sooner_what_the_command_line_has():
    assert {*COMMANDS} >= client.USES


def test_it_ends_by_itself(course, runtime):
    grade(course, runtime, AUTOGRADER_STAY_SECONDS="1")
    left = [daemon(runtime), *servers(runtime)] if daemon(runtime) else []
    wait_until_gone([*filter(None, left)])
    assert not list((runtime / f"autograder-{os.getuid()}").glob("[0-9a-f]*"))


def test_nothing_stays_where_that_was_said(course, runtime):
    grade(course, runtime, AUTOGRADER_STAY_SECONDS="0")
    assert daemon(runtime) is None and not list(runtime.iterdir())


@pytest.mark.parametrize("what", ["open to others", "a link", "a file"])
def test_a_folder_that_is_not_ours_alone_is_not_used(course, runtime, what):
    folder, elsewhere = runtime / f"autograder-{os.getuid()}", runtime / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    if what == "a link":
        folder.symlink_to(elsewhere)
    elif what == "a file":
        folder.write_text("")
    else:
        folder.mkdir()
        folder.chmod(0o755)
    assert grade(course, runtime)["score"] > 0
    assert daemon(runtime) is None and not list(elsewhere.iterdir())


def test_other_code_or_another_environment_has_another_name(monkeypatch, tmp_path):
    before = place.identity()
    assert place.identity() == before
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path))
        assert place.identity() != before
    assert place.identity() == before != place.identity([*sys.path, str(tmp_path)])
    ask = [
        sys.executable,
        "-c",
        "import sys; from autograder.daemon import place; print(place.identity(sys.argv))",
    ]
    plain, nice, few = (
        subprocess.run([*means, *ask], capture_output=True, text=True, check=True).stdout
        for means in ([], ["nice", "-n", "5"], ["sh", "-c", 'ulimit -n 100; exec "$@"', "sh"])
    )
    assert len({plain, nice, few}) == 3
    (tmp_path / "a.py").write_text("1")
    first = signature([tmp_path])
    (tmp_path / "b.py").write_text("2")
    assert signature([tmp_path]) != first


def test_words_status_and_files_are_the_caller_s(course, runtime, tmp_path):
    """Its streams, folder, environment and mask, and how it ends: all as without a daemon."""
    grade(course, runtime)
    assert daemon(runtime)
    alone = run(course, runtime, "grade", "99_nothing", AUTOGRADER_STAY_SECONDS="0")
    done = run(course, runtime, "grade", "99_nothing")
    assert (done.returncode, done.stdout, done.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    assert done.returncode == 1 and "99_nothing" in done.stdout
    outside = run(tmp_path, runtime, "report", NAME)
    assert outside.returncode == 1 and "Traceback" not in outside.stderr
    os.umask(mask := os.umask(0o077))
    before = os.umask(0o027)
    try:
        assert run(course, runtime, "report", NAME).returncode == 0
    finally:
        os.umask(before)
    assert mask == before
    assert (course / "report.html").exists()


def test_a_terminal_is_one_for_the_command_too(course, runtime):
    grade(course, runtime)
    ours, theirs = pty.openpty()
    started = subprocess.Popen(
        [SCRIPT, "grade", NAME, "--fresh"], cwd=course, env=environment(runtime, TERM="xterm"),
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    said = b""
    while True:
        try:
            more = os.read(ours, 1 << 16)
        except OSError:  # it has ended
            break
        said += more
        if not more:
            break
    assert started.wait(60) == 0
    assert re.search(rb"\x1b\[", said), "colours and a bar, as on any terminal"
    assert b"ada" in said


def test_two_commands_at_once(course, runtime, tmp_path):
    """The second has a server of its own, and both grades are there."""
    other = course_of_ada(tmp_path / "other")
    grade(course, runtime)
    whole = [SCRIPT, "grade", NAME, "--fresh"]
    both = [
        subprocess.Popen(whole, cwd=folder, env=environment(runtime), stdout=subprocess.PIPE, text=True)
        for folder in (course, other)
    ]
    for started in both:
        said, _ = started.communicate(timeout=120)
        assert started.returncode == 0 and "ada" in said
