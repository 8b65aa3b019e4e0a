"""What runs in a worker: the servers of one run at a time, and none of a run that is over."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.errors import ServerDied
from autograder.jail.inside.limits import Limits
from autograder.jail.outside.jobs import HARMLESS
from autograder.pool import worker
from autograder.pool.servers import Settings


def test_a_run_that_ends_while_it_waits_for_its_turn_starts_nothing(monkeypatch):
    current = worker._CurrentRun()
    monkeypatch.setattr(worker, "_current", current)
    one, other = (
        Settings(Limits(), "none", run=run, versions=worker.versions(Settings(Limits(), "none")))
        for run in ("one", "other")
    )
    with ThreadPoolExecutor(2) as pool:
        with current.of(one) as servers:
            waiting = pool.submit(worker.run_job, other, HARMLESS)
            pool.submit(asyncio.run, worker.end("other")).result()  # Playwright has a loop in this thread
        with pytest.raises(ServerDied, match="The run is over"):
            waiting.result()
    assert current.servers is servers
