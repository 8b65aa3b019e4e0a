"""A class on the workers of a cluster: the same results as on one, and none lost, whatever dies meanwhile.

Where torch does not matter the jail holds a light server (light.py), so that many can be started.
"""

import copy
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell
from typer.testing import CliRunner

from autograder import cluster as cluster_module
from autograder import worker
from autograder.cli import app
from autograder.cluster import Cluster
from autograder.course import Assignment
from autograder.engine import Engine, Result
from autograder.errors import CourseError
from autograder.grading import Options, find_submissions, grade_class
from autograder.jail.client import find_problem
from autograder.jail.limits import Limits
from autograder.store import Store
from autograder.submission import read_submission
from autograder.worker import Settings
from tests.autograder import light
from tests.autograder.killing import NAME, Class, graded, wait_until_gone
from tests.autograder.road import hand_in, hand_in_ten, make_course, perfect_notebook
from tests.conftest import ROOT
from tests.processes import processes_below

pytestmark = pytest.mark.slow

LIGHT = [sys.executable, str(Path(light.__file__))]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
HEAVY_FOR_ALL = frozenset({"torch", "transformers", "scipy", "sympy", "matplotlib", "pandas", "bokeh"})
HEAVY = HEAVY_FOR_ALL | {"nbgrader", "sqlalchemy", "nbconvert", "jupyter_server"}  # the gradebook's


@pytest.fixture(scope="module", autouse=True)
def jail_possible() -> None:
    problem = find_problem()
    if problem and not os.environ.get("CI"):
        pytest.skip(problem)


@pytest.fixture(scope="module")
def ten(tmp_path_factory) -> Class:
    return Class(tmp_path_factory.mktemp("ten") / "course")


@pytest.fixture
def kind(ten) -> Class:
    """Ten submissions of which nothing is graded yet."""
    ten.forget()
    return ten


@pytest.fixture
def light_jail(monkeypatch) -> None:
    monkeypatch.setattr(light.bubblewrap, "SERVE", light.bubblewrap.SERVE)  # put back afterwards
    light.install()
    preload = {"distributed.worker.preload": ["autograder.worker", light.__file__]}
    monkeypatch.setattr(cluster_module, "CONFIGURATION", cluster_module.CONFIGURATION | preload)


def run_light(course: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*LIGHT, "grade", NAME, *arguments],
        cwd=course,
        env=ENVIRONMENT | environment,
        capture_output=True,
        text=True,
        timeout=500,
    )


def without_seconds(results: list[Result]) -> list[dict]:
    return [{name: value for name, value in one.to_json().items() if name != "seconds"} for one in results]


def everything(kind: Class) -> dict[str, Path]:
    return find_submissions(kind.assignment, kind.course / "submitted", [])


@pytest.mark.timeout(1500)
def test_two_workers_give_what_one_gives(tmp_path):
    """With torch in the real jail; and none of it in Dask's processes."""
    course = make_course(tmp_path / "course")
    assignment = Assignment(course, NAME)
    failing = hand_in_ten(course, assignment)
    given = []
    for workers in (1, 2):
        jails = Cluster(Settings(Limits(cell_seconds=4), "bwrap"), workers)
        with Engine(assignment, Store(tmp_path / f"store-{workers}"), jails=jails) as engine:
            submissions = [
                read_submission(course / "submitted" / student / NAME, student, assignment, engine.release)
                for student in failing
            ]
            results = {one.student: result for one, result in engine.grade_all(submissions)}
            loaded = jails._client.run(lambda heavy=HEAVY: sorted(heavy & {*sys.modules}))
            shown = {word for pid in processes_below(os.getpid()) for word in words_of(pid)}
        given.append(without_seconds([results[student] for student in failing]))
        assert list(loaded.values()) == [[]]  # one process, whatever the number of its servers
        assert str(ROOT / "coursekit") in shown
    assert given[0] == given[1]
    for student, result in results.items():
        lost = {v.grade_id for v in result.verdicts if v.status != "passed" and v.grade_id.endswith("-check")}
        assert lost == {assignment.exercises[name].check_id for name in failing[student]}


def words_of(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


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
            print("loaded:", sorted({HEAVY_FOR_ALL!r} & {{*sys.modules}}))
    """
    file = kind.course / "grade.py"
    file.write_text(script)
    done = subprocess.run(
        [sys.executable, str(file)], cwd=kind.course, env=ENVIRONMENT, capture_output=True, text=True
    )
    file.unlink()
    assert done.stdout.endswith("loaded: []\n") and "perfect" in done.stdout, done.stdout + done.stderr


@contextmanager
def cluster_elsewhere(folder: Path) -> Iterator[tuple[str, subprocess.Popen]]:
    """A scheduler and a worker as other people start them. Yields the address, and the worker."""
    file = folder / "scheduler.json"
    options = {"env": ENVIRONMENT, "cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "dask"]
    start = [
        "scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
        "--scheduler-file",
        str(file),
    ]
    with subprocess.Popen([*dask, *start], **options) as scheduler:
        start = ["worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard"]
        with subprocess.Popen([*dask, *start, "--preload", light.__file__], **options) as worker:
            try:
                deadline = time.monotonic() + 120
                while not file.exists() or not file.read_text():
                    assert time.monotonic() < deadline and scheduler.poll() is None
                    time.sleep(0.1)
                yield json.loads(file.read_text())["address"], worker
            finally:
                worker.terminate()
                scheduler.terminate()


def test_a_cluster_of_somebody_s_own(kind, tmp_path):
    here = run_light(kind.course, "--workers", "1", "--json", "here.json")
    assert here.returncode == 0, here.stdout + here.stderr
    want = graded(kind.course)
    kind.forget()
    with cluster_elsewhere(tmp_path) as (address, other):
        there = run_light(kind.course, "--scheduler", address, "--json", "there.json")
        assert there.returncode == 0, there.stdout + there.stderr
        left = [pid for pid in processes_below(other.pid) if "jail import server" in " ".join(words_of(pid))]
        assert other.poll() is None and left == []
        assert graded(kind.course) == want

        settings = Settings(Limits(), "bwrap")
        monkeyed = Cluster(settings, scheduler=address)
        with (
            pytest.MonkeyPatch.context() as patch,
            pytest.raises(CourseError, match="torch: .* there, 1.0 here"),
        ):
            patch.setattr(worker, "versions", pretending(dict(worker.versions()) | {"torch": "1.0"}))
            monkeyed.warm_up()
        monkeyed.close()


def pretending(versions: dict[str, str]):
    """A function that tells these versions here, and the true ones where it is sent."""

    class Pretender:
        def __call__(self) -> tuple[tuple[str, str], ...]:
            return tuple(versions.items())

        def __reduce__(self):
            return getattr, (worker, "versions")

    return Pretender()


def test_without_a_scheduler_there_is_a_sentence(kind, monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1)
    monkeypatch.chdir(kind.course)
    result = CliRunner().invoke(app, ["grade", NAME, "--scheduler", "tcp://127.0.0.1:1"])
    assert "no scheduler to be reached at tcp://127.0.0.1:1" in str(result.exception)
    result = CliRunner().invoke(app, ["grade", NAME, "--scheduler", "tcp://127.0.0.1:1", "--workers", "2"])
    assert "choose one" in str(result.exception)
    assert isinstance(result.exception, CourseError)


def test_killed_at_random_moments(tmp_path):
    command = [
        sys.executable,
        "-m",
        "tests.autograder.killing",
        "--moments",
        "3",
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
    assert "{'run': 1, 'worker': 1, 'server': 1}" in done.stdout


def test_a_job_that_ends_workers_twice_is_that_student_s_verdict(kind, light_jail, tmp_path):
    """The workers are killed from outside while they run it: from the jail nobody reaches them."""
    deadly = copy.deepcopy(perfect_notebook(kind.assignment))
    deadly.cells.insert(0, new_code_cell("# run this\nimport time\ntime.sleep(100)"))
    hand_in(kind.course, "deadly", kind.assignment, deadly)
    jails = Cluster(Settings(Limits(), "bwrap"), 2)
    with Engine(kind.assignment, Store(tmp_path), jails=jails) as engine:
        submissions = {
            student: read_submission(folder, student, kind.assignment, engine.release)
            for student, folder in everything(kind).items()
        }
        name = engine._name(submissions["deadly"])
        killed: list[int] = []
        killer = threading.Thread(target=kill_who_runs, args=(jails, name, killed), daemon=True)
        killer.start()
        results = {one.student: result for one, result in engine.grade_all(submissions.values())}
        killer.join()
    for path in (kind.course / "submitted" / "deadly").rglob("*.ipynb"):
        path.unlink()
    assert len(set(killed)) == 2
    reasons = {v.reason for v in results["deadly"].verdicts if v.grade_id.endswith("-check")}
    assert reasons == {"The notebook's process ended before this check was answered."}
    assert results["deadly"].score == 0 and results["deadly"].trouble
    assert engine.store.get(name) is None
    assert results["perfect"].score > 0 and len(results) == 11


def kill_who_runs(jails: Cluster, name: str, killed: list[int]) -> None:
    """Kill the process of the worker that runs the job of that name, twice."""
    while len(killed) < 2:
        time.sleep(0.1)
        keys = {key for key, (_, job, _) in list(jails._running.items()) if job == name}
        if keys and jails._client is not None:
            running = jails._client.processing()
            pids = jails._client.run(os.getpid, on_error="ignore")
            for address, tasks in running.items():
                if keys & {*tasks} and pids.get(address) not in (None, *killed):
                    killed.append(pids[address])
                    os.kill(pids[address], signal.SIGKILL)


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
        began = time.monotonic()
        printed, errors = run.communicate(timeout=120)
        took = time.monotonic() - began
    wait_until_gone(running)
    assert run.returncode == 130 and "are recorded; the next run goes on" in printed, errors
    assert "Traceback" not in errors
    print(f"ended after {took:.1f} s")
    assert run_light(kind.course, "--workers", "2").returncode == 0
    assert graded(kind.course) == undisturbed


def test_a_gradebook_that_is_locked_in_the_middle_loses_nothing(kind, light_jail):
    folders = everything(kind)
    with closing(sqlite3.connect(kind.course / "gradebook.db", check_same_thread=False)) as other:

        def lock(result: Result) -> None:
            if not other.in_transaction:  # several students may have been recorded together
                other.execute("BEGIN EXCLUSIVE")

        with pytest.raises(CourseError, match="locked. Another program writes in it"):
            grade_class(kind.assignment, folders, Options(workers=1), lock)
        other.rollback()
    grade_class(kind.assignment, folders, Options(workers=1), lambda result: None)
    assert {row[0] for row in graded(kind.course).rows} == set(folders)


def test_a_damaged_gradebook_is_left_as_it_is(kind, monkeypatch):
    gradebook = kind.course / "gradebook.db"
    gradebook.write_bytes(b"This was a gradebook once." * 1000)
    monkeypatch.chdir(kind.course)
    result = CliRunner().invoke(app, ["grade", NAME])
    assert isinstance(result.exception, CourseError)
    assert "It is damaged and was left as it is" in str(result.exception)
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
    """In a file system of 12 MB that bubblewrap makes, for which nobody needs to be root."""
    assert run_light(kind.course, "--workers", "1").returncode == 0
    want = graded(kind.course)
    kind.forget()
    small = tmp_path / "small"
    small.mkdir()
    rights = ["--cap-add", "ALL"] if os.getuid() == 0 else []
    box = ["bwrap", *rights, "--dev-bind", "/", "/", "--size", str(12 << 20), "--tmpfs", str(small)]
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
    assert "Make room and run the command again" in " ".join(first.split())
    assert "perfect" in second
    assert graded(kind.course) == want
