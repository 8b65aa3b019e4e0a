"""Which job's outcome is whose, and what becomes of the jobs under which a server dies. No server is started."""

import threading

import pytest

from autograder.checks.status import Ending
from autograder.errors import ServerDied
from autograder.jail.inside.limits import Limits
from autograder.jail.outside.client import Outcome
from autograder.jail.outside.jobs import HARMLESS
from autograder.pool import local, servers
from autograder.pool.local import LocalPool
from autograder.pool.servers import ServerPool, Settings
from autograder.pool.worker import difference

SETTINGS = Settings(Limits(), "none")


def outcome(job: bytes, ending: Ending = Ending.FINISHED) -> Outcome:
    return Outcome((job,), ending, 1.0, 1.0, 0)


class ServerOf:
    """In the place of a server."""

    def __init__(self, run):
        self.run = run

    def stop(self): ...

    def close(self): ...


class Forks:
    """In the place of what forks servers: `run` says what each of them does with a job."""

    def __init__(self, run):
        self.run, self.made = run, 0

    def start(self): ...

    def stop(self): ...

    def close(self): ...

    def server(self):
        self.made += 1
        return ServerOf(self.run)

    def __call__(self, *how, **more):
        return self


@pytest.fixture
def pool_of(monkeypatch):
    """pool_of(run, workers) is a local pool whose servers run jobs by that function."""
    made = []

    def make(run, workers=2):
        forks = Forks(run)
        monkeypatch.setattr(servers, "Zygote", forks)
        made.append(LocalPool(SETTINGS, workers))
        return made[-1], forks

    yield make
    for pool in made:
        pool.close()


def test_each_outcome_has_the_name_of_its_job_in_whatever_order_they_end(pool_of):
    first_may_end = threading.Event()

    def run(job):
        if job == b"1":
            first_may_end.wait(10)
        return outcome(job)

    pool, _ = pool_of(run)
    for name in ("1", "2"):
        pool.submit(name, name.encode())
    assert pool.take() == ("2", outcome(b"2"))
    first_may_end.set()
    assert pool.take() == ("1", outcome(b"1"))


def test_two_jobs_are_taken_for_each_server_and_no_more(pool_of):
    go_on = threading.Event()
    pool, _ = pool_of(lambda job: go_on.wait(10) and outcome(job), workers=2)
    for number in range(4):
        assert not pool.full
        pool.submit(str(number), b"")
    assert pool.full and not pool.wait(0)
    go_on.set()
    assert pool.wait(10) and sorted(pool.take()[0] for _ in range(4)) == ["0", "1", "2", "3"]


def test_a_pool_says_whether_an_outcome_waits(pool_of):
    go_on = threading.Event()
    pool, _ = pool_of(lambda job: go_on.wait(10) and outcome(job))
    assert not pool.wait(0)
    pool.submit("1", b"1")
    assert not pool.wait(0.01)
    go_on.set()
    assert pool.wait(10) and pool.wait(0)
    assert pool.take() == ("1", outcome(b"1")) and not pool.wait(0)


def test_a_job_under_which_a_server_dies_comes_last_and_once_more(pool_of):
    seen = []

    def run(job):
        seen.append(job)
        if job == b"suspect" and seen.count(job) == 1:
            raise ServerDied("killed by its neighbour")
        return outcome(job)

    pool, _ = pool_of(run, workers=1)
    for name in ("suspect", "other"):
        pool.submit(name, name.encode())
    assert pool.take() == ("other", outcome(b"other"))
    assert pool.take() == ("suspect", outcome(b"suspect"))


def test_a_job_that_ends_servers_where_a_harmless_one_ends_none_has_died(pool_of):
    def run(job):
        if job != HARMLESS:
            raise ServerDied("again")
        return outcome(job)

    pool, _ = pool_of(run)
    pool.submit("evil", b"evil")
    name, died = pool.take()
    assert (name, died.status, died.frames) == ("evil", Ending.DIED, ())


def test_where_a_harmless_job_dies_too_the_fault_is_ours(pool_of):
    def run(job):
        raise ServerDied("everything dies here")

    pool, _ = pool_of(run)
    pool.submit("ada", b"ada")
    with pytest.raises(ServerDied, match="everything dies here"):
        pool.take()


def test_a_job_that_the_system_killed_is_run_again_once(pool_of):
    seen = []

    def run(job):
        seen.append(job)
        return outcome(job, Ending.KILLED if len(seen) < 3 else Ending.FINISHED)

    pool, _ = pool_of(run)
    pool.submit("ada", b"ada")
    assert pool.take()[1].status == Ending.KILLED and len(seen) == 2
    pool.submit("ada", b"ada")
    assert pool.take()[1].status == Ending.FINISHED and len(seen) == 3


def test_servers_are_used_again_and_never_more_than_workers(pool_of):
    pool, forks = pool_of(outcome, workers=2)
    for number in range(6):
        pool.submit(str(number), b"")
        pool.take()
    assert forks.made <= 2


def test_a_pool_beside_another_forks_from_the_same_and_leaves_it_open(monkeypatch):
    forks = Forks(outcome)
    monkeypatch.setattr(servers, "Zygote", forks)
    own = ServerPool(SETTINGS)
    beside = ServerPool(SETTINGS, beside=own)
    assert beside.run(b"x") == outcome(b"x")
    beside.close()
    assert own.run(b"y") == outcome(b"y")


@pytest.mark.parametrize(("quota", "count"), [("150000 100000", 2), ("100000 100000", 1), ("max 100000", 4)])
def test_a_container_s_share_of_the_processors_counts(monkeypatch, tmp_path, quota, count):
    file = tmp_path / "cpu.max"
    file.write_text(quota)
    monkeypatch.setattr(local, "CPU_QUOTA", file)
    monkeypatch.setattr(local.os, "sched_getaffinity", lambda process: range(4), raising=False)
    assert local.cores() == count


def test_a_worker_with_another_version_is_told_which():
    here, there = {"numpy": "2.1", "torch": "2.9"}, {"numpy": "2.0", "torch": "2.9"}
    assert difference(here, there) == "numpy: 2.0 there, 2.1 here"
    assert difference(here, here) == ""
    assert "torch: none there" in difference(here, {"numpy": "2.1"})


def test_a_folder_of_the_course_is_shown_and_the_course_itself_is_not(tmp_path):
    (tmp_path / "data").mkdir()
    view = Settings(Limits(), "bwrap", course=str(tmp_path), readable=("data", "none")).view
    assert view.readable == (tmp_path / "data",) and tmp_path in view.hidden
