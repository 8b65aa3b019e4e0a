"""A class on the workers of a cluster: the same results as here, and what is said when there is no cluster.

The jails hold a light server (light.py): here it is about what happens around them.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autograder.errors import CourseError
from autograder.jail.inside.limits import Limits
from autograder.pool import cluster as cluster_module
from autograder.pool import worker
from autograder.pool.cluster import ClusterPool
from autograder.pool.servers import Settings
from tests.autograder import light
from tests.autograder.commands import refusal
from tests.autograder.killing import ENVIRONMENT, NAME, graded, run_light, servers

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("jail_possible")]


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
        assert other.poll() is None and servers(other.pid) == []
        assert graded(kind.course) == want

        settings = Settings(Limits(), "bwrap")
        monkeyed = ClusterPool(settings, scheduler=address)
        with (
            pytest.MonkeyPatch.context() as patch,
            pytest.raises(CourseError, match="torch: .* there, 1.0 here"),
        ):
            patch.setattr(worker, "versions", pretending(dict(worker.versions(settings)) | {"torch": "1.0"}))
            monkeyed.warm_up()
        monkeyed.close()


def test_a_worker_with_other_data_or_without_it_differs(tmp_path):
    """Whatever the course calls its folders, and though it has no package."""
    told = {}
    for machine in ("here", "same", "other", "without"):
        (tmp_path / machine).mkdir()
        settings = Settings(Limits(), "bwrap", course=str(tmp_path / machine), readable=("tables",))
        if machine != "without":
            (tmp_path / machine / "tables").mkdir()
            (tmp_path / machine / "tables" / "years.csv").write_text("2026" if machine == "other" else "2025")
        told[machine] = dict(worker.versions(settings))
    assert worker.difference(told["here"], told["same"]) == ""
    assert worker.difference(told["here"], told["other"]).startswith("the course's tables: ")
    assert worker.difference(told["here"], told["without"]).startswith("the course's tables: none there, ")


def pretending(versions: dict[str, str]):
    """A function that tells these versions here, and the true ones where it is sent."""

    class Pretender:
        def __call__(self, settings: Settings) -> tuple[tuple[str, str], ...]:
            return tuple(versions.items())

        def __reduce__(self):
            return getattr, (worker, "versions")

    return Pretender()


def test_without_dask_a_scheduler_is_refused_by_what_to_install(kind, monkeypatch):
    """As where the extra was not installed; one machine needs none of it."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "autograder.pool.cluster")
    monkeypatch.chdir(kind.course)
    said = refusal("grade", NAME, "--scheduler", "tcp://127.0.0.1:1")
    assert (
        "needs distributed, which is not installed: run `pip install 'autograder-notebooks[cluster]'`" in said
    )


def test_without_a_scheduler_there_is_a_sentence(kind, monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1)
    monkeypatch.chdir(kind.course)
    nowhere = "grade", NAME, "--scheduler", "tcp://127.0.0.1:1"
    assert "No scheduler can be reached at tcp://127.0.0.1:1" in refusal(*nowhere)
    assert "choose one" in refusal(*nowhere, "--workers", "2")
