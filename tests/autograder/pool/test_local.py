"""A class in the servers of one machine: the same results with one as with two, and none lost, whatever dies meanwhile.

Where torch does not matter the jail holds a light server (light.py), so that many can be started.
"""

import copy
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from autograder.course import Assignment
from autograder.errors import CourseError, ServerDied
from autograder.grading.engine import Engine
from autograder.grading.run import Options, find_submissions, grade_class, look_ahead, read_all
from autograder.grading.store import Store
from autograder.jail.inside.limits import Limits
from autograder.jail.outside.bubblewrap import find_bubblewrap
from autograder.jail.outside.jobs import HARMLESS
from autograder.pool.local import LocalPool
from autograder.pool.pool import settings_for
from autograder.pool.servers import Settings
from autograder.results import Result
from tests.autograder import light
from tests.autograder.commands import refusal
from tests.autograder.killing import (
    ENVIRONMENT,
    LIGHT,
    NAME,
    Class,
    graded,
    run_light,
)
from tests.autograder.road import hand_in, hand_in_ten, make_course, perfect_notebook
from tests.autograder.small_class import use_light_server
from tests.conftest import ROOT
from tests.processes import command, is_alive, processes_below, wait_until_gone

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("jail_possible")]

NOT_NEEDED = frozenset(
    {
        "torch",
        "transformers",
        "scipy",
        "sympy",
        "matplotlib",
        "pandas",
        "bokeh",
        "dask",
        "distributed",
        "sklearn",
    }
)


@pytest.fixture
def light_jail(monkeypatch) -> None:
    use_light_server(monkeypatch)


def without_seconds(results: list[Result]) -> list[dict]:
    return [{name: value for name, value in one.to_json().items() if name != "seconds"} for one in results]


def everything(kind: Class) -> dict[str, Path]:
    return find_submissions(kind.assignment, kind.course / "submitted", [])


@pytest.mark.timeout(1500)
def test_two_workers_give_what_one_gives(tmp_path):
    """With torch in the real jail."""
    course = make_course(tmp_path / "course")
    assignment = Assignment(course, NAME)
    failing = hand_in_ten(course, assignment)
    found = []
    for workers in (1, 2):
        pool = LocalPool(replace(settings_for(assignment, "bwrap"), limits=Limits(cell_seconds=4)), workers)
        with Engine(assignment, Store(tmp_path / f"store-{workers}"), pool=pool) as engine:
            folders = find_submissions(assignment, course / "submitted", [*failing])
            submissions = list(read_all(assignment, folders, engine.release, []))
            results = {one.student: result for one, result in engine.grade_all(submissions)}
            shown = {word for pid in processes_below(os.getpid()) for word in command(pid).split()}
        found.append(without_seconds([results[student] for student in failing]))
        assert str(ROOT / "coursekit") in shown
    assert found[0] == found[1]
    for student, result in results.items():
        lost = {v.grade_id for v in result.verdicts if v.status != "passed" and v.grade_id.endswith("-check")}
        assert lost == {assignment.exercises[name].check_id for name in failing[student]}


def test_the_command_s_own_process_loads_nothing_large(kind):
    """While it grades; and it loads every assignment's exercises without torch."""
    script = f"""if __name__ == "__main__":
        import pathlib, sys
        from tests.autograder import light
        light.install()
        from autograder import cli
        from autograder.course import assignments
        assert [a.exercises for a in assignments(pathlib.Path({str(ROOT)!r}))]
        try:
            cli.app(["grade", "{NAME}", "perfect", "--workers", "1", "--isolation", "none"])
        finally:
            print("loaded:", sorted({NOT_NEEDED!r} & {{*sys.modules}}))
    """
    file = kind.course / "grade.py"
    file.write_text(script)
    done = subprocess.run(
        [sys.executable, str(file)], cwd=kind.course, env=ENVIRONMENT, capture_output=True, text=True
    )
    file.unlink()
    assert done.stdout.endswith("loaded: []\n") and "perfect" in done.stdout, done.stdout + done.stderr


def test_killed_at_random_moments(tmp_path):
    command = [
        sys.executable,
        "-m",
        "tests.autograder.killing",
        "--moments",
        "4",
        "--seed",
        str(time.time_ns()),
    ]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=ENVIRONMENT | {"LIGHT_SECONDS": "0.1"},
        capture_output=True,
        text=True,
        timeout=550,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "{'run': 2, 'server': 2}" in done.stdout


def test_a_job_under_which_its_servers_always_die_is_that_student_s_verdict(kind, light_jail, tmp_path):
    """They are killed from outside: from the jail nobody reaches them."""
    deadly = copy.deepcopy(perfect_notebook(kind.assignment))
    mark = "# run this\nimport ctypes, time\nctypes.CDLL(None).prctl(15, b'deadly')  # PR_SET_NAME\nwhile True: time.sleep(1)"
    deadly.cells.insert(0, new_code_cell(mark))
    hand_in(kind.course, "deadly", kind.assignment, deadly)
    folders = everything(kind)
    pool = LocalPool(settings_for(kind.assignment, "bwrap"), 2)
    with Engine(kind.assignment, Store(tmp_path), pool=pool) as engine:
        submissions = list(read_all(kind.assignment, folders, engine.release, []))
        over = threading.Event()
        killed: list[int] = []
        killer = threading.Thread(target=kill_the_server_of, args=("deadly", over, killed), daemon=True)
        killer.start()
        results = {one.student: result for one, result in engine.grade_all(submissions)}
        over.set()
        killer.join()
        stored = engine.store.holds(
            engine._name(next(one.digest for one in submissions if one.student == "deadly"))
        )
    for path in (kind.course / "submitted" / "deadly").rglob("*.ipynb"):
        path.unlink()
    assert len(killed) >= 4  # twice beside others, twice alone
    reasons = {v.reason for v in results["deadly"].verdicts if v.grade_id.endswith("-check")}
    assert reasons == {"The notebook's process stopped before this check was answered."}
    assert results["deadly"].score == 0 and results["deadly"].trouble and not stored
    assert results["perfect"].score > 0 and len(results) == 11


def kill_the_server_of(name: str, over: threading.Event, killed: list[int]) -> None:
    """Kill, again and again, the server under which a process of that name runs."""
    while not over.wait(0.05):
        for pid in processes_below(os.getpid()):
            try:
                found = Path(f"/proc/{pid}/comm").read_text().strip() == name
                parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if found and parent not in killed:
                killed.append(parent)
                os.kill(parent, signal.SIGKILL)


def test_a_pool_that_is_closed_while_its_server_starts_waits_for_nothing(monkeypatch):
    monkeypatch.setattr(light.bubblewrap, "SERVE", "import time; time.sleep(1000)")
    before = {*processes_below(os.getpid())}
    pool = LocalPool(Settings(Limits(), "none"))
    pool.warm_up()
    while not (started := {*processes_below(os.getpid())} - before):
        time.sleep(0.01)
    pool.submit("never", HARMLESS)
    pool.close()
    assert not any(map(is_alive, started))
    with pytest.raises(ServerDied, match="over|stop"):
        pool.servers.run(HARMLESS)


def test_what_is_imported_ahead_is_what_the_release_or_somebody_needs(tmp_path):
    course = make_course(tmp_path / "course")
    assignment = Assignment(course, NAME)
    notebook = perfect_notebook(assignment)
    hand_in(course, "plain", assignment, notebook)
    folders = find_submissions(assignment, course / "submitted", [])
    digests, modules = look_ahead(assignment, folders)
    assert len(digests) == 1 and modules == []

    notebook.cells.insert(1, new_code_cell("from transformers import BertModel"))
    hand_in(course, "curious", assignment, notebook)
    hand_in(course, "none", assignment, "")
    (course / "submitted" / "none" / NAME / f"{NAME}.ipynb").unlink()
    folders["curious"], folders["none"] = (course / "submitted" / who / NAME for who in ("curious", "none"))
    digests, modules = look_ahead(assignment, folders)
    assert len(digests) == 2 and modules == [assignment.settings.preload_where["transformers"]]
    assert set(modules) <= {*settings_for(assignment, "bwrap", modules).modules}
    assert not {*modules} & {*settings_for(assignment, "bwrap").modules}


def test_ctrl_c_ends_everything_in_seconds_and_the_next_run_goes_on(kind):
    want = run_light(kind.course, "--workers", "2")
    assert want.returncode == 0, want.stderr
    undisturbed = graded(kind.course)
    kind.forget()
    with subprocess.Popen(
        [*LIGHT, "grade", NAME, "--workers", "2"],
        cwd=kind.course,
        env=ENVIRONMENT | {"LIGHT_SECONDS": "2"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a process group of its own, as in a terminal
        # Where the tests run in the background, Ctrl-C is ignored, and so it would be below.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as run:
        while not list(kind.course.glob("autograded/[!n]*")):  # "not-json" is known at once
            assert run.poll() is None
            time.sleep(0.05)
        running = processes_below(run.pid)
        os.killpg(run.pid, signal.SIGINT)
        printed, errors = run.communicate(timeout=120)
    wait_until_gone(running)
    assert run.returncode == 130 and "are recorded. Run the same command again" in printed, errors
    assert "Traceback" not in errors
    assert run_light(kind.course, "--workers", "2").returncode == 0
    assert graded(kind.course) == undisturbed


def test_a_gradebook_that_is_locked_in_the_middle_loses_nothing(kind, light_jail):
    folders = everything(kind)
    with closing(sqlite3.connect(kind.course / "gradebook.db", check_same_thread=False)) as other:

        def lock(result: Result) -> None:
            if not other.in_transaction:  # several students may have been recorded together
                other.execute("BEGIN EXCLUSIVE")

        with pytest.raises(CourseError, match="locked. Another program is writing to the gradebook"):
            grade_class(kind.assignment, folders, Options(workers=1), lock)
        other.rollback()
    grade_class(kind.assignment, folders, Options(workers=1), lambda result: None)
    assert {row[0] for row in graded(kind.course).rows} == set(folders)


def test_a_damaged_gradebook_is_left_as_it_is(kind, monkeypatch):
    gradebook = kind.course / "gradebook.db"
    gradebook.write_bytes(b"This was a gradebook once." * 1000)
    monkeypatch.chdir(kind.course)
    assert "The gradebook is damaged and was left unchanged" in refusal("grade", NAME)
    assert gradebook.read_bytes() == b"This was a gradebook once." * 1000


IN_A_SMALL_FOLDER = """
import shutil, subprocess, sys
course, small, *command = sys.argv[1:]
shutil.copytree(course, small, dirs_exist_ok=True)
free = shutil.disk_usage(small).free
with open(f"{small}/filler", "wb") as filler:
    filler.write(b"x" * (free - 120_000))
full = subprocess.run(command, cwd=small, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
print(full.returncode, full.stdout)
open(f"{small}/filler", "wb").close()
again = subprocess.run(command, cwd=small, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
print(again.returncode, again.stdout)
shutil.copytree(f"{small}/autograded", f"{course}/autograded")
shutil.copy(f"{small}/gradebook.db", course)
"""


def test_a_full_disk_gets_a_sentence_and_the_next_run_goes_on(kind, tmp_path):
    """In a file system of 32 MB that bubblewrap makes, for which nobody needs to be root."""
    assert run_light(kind.course, "--workers", "1").returncode == 0
    want = graded(kind.course)
    kind.forget()
    small = tmp_path / "small"
    small.mkdir()
    rights = ["--cap-add", "ALL"] if os.getuid() == 0 else []
    box = [
        str(find_bubblewrap()),
        *rights,
        "--dev-bind",
        "/",
        "/",
        "--size",
        str(32 << 20),
        "--tmpfs",
        str(small),
    ]
    if subprocess.run([*box, "true"], capture_output=True).returncode:
        pytest.skip("bubblewrap makes no small file system here")
    inside = [sys.executable, "-c", IN_A_SMALL_FOLDER, str(kind.course), str(small)]
    done = subprocess.run(
        [*box, *inside, *LIGHT, "grade", NAME, "--workers", "1"],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    first, _, second = done.stdout.partition("\n0 ")
    assert first.startswith("1 ") and "Traceback" not in first, first
    assert "Free some disk space and run the command again" in " ".join(first.split())
    assert "perfect" in second
    assert graded(kind.course) == want
