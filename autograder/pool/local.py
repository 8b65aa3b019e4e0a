"""Servers of this machine. Threads hand them their jobs and wait; the work is done in the servers' own processes."""

import os
import queue
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from math import ceil
from pathlib import Path

from autograder.errors import ServerDied
from autograder.jail.outside.client import Outcome
from autograder.pool.servers import ServerPool, Settings

CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def cores() -> int:
    """How many processors this process may use: a container may have fewer than the machine."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):  # there is no quota
        quota, period = map(int, CPU_QUOTA.read_text().split())
        allowed = min(allowed, ceil(quota / period))
    return max(1, allowed)


class LocalPool:
    """Runs jobs in `workers` servers at once. Nothing is started before `warm_up` or the first job."""

    def __init__(self, settings: Settings, workers: int = 1):
        self.servers = ServerPool(settings)
        self.workers = workers
        self._threads = ThreadPoolExecutor(workers, "jail")
        self._running: dict[Future[Outcome], tuple[str, bytes]] = {}
        self._ended: queue.SimpleQueue[Future[Outcome]] = queue.SimpleQueue()
        self._suspects: list[tuple[str, bytes]] = []

    def warm_up(self) -> None:
        """Let the process that imports everything start in another thread."""
        self._threads.submit(self.servers.start)  # if it fails, so does the first job

    @property
    def full(self) -> bool:
        """Two jobs for each server: one runs while the next waits, and few lie about in memory."""
        return len(self._running) >= 2 * self.workers

    def wait(self, seconds: float) -> bool:
        """Wait for a job to end, at most so long. Returns whether one has."""
        return bool(wait(self._running, seconds, FIRST_COMPLETED).done)

    def submit(self, name: str, job: bytes) -> None:
        """Queue a job for the next free server; `take` returns its outcome with this name."""
        future = self._threads.submit(self.servers.try_to_run, job)
        self._running[future] = name, job
        future.add_done_callback(self._ended.put)

    def take(self) -> tuple[str, Outcome]:
        """An outcome, as they come. Jobs under which servers died come last, each run again with nothing beside it."""
        while self._running:
            future = self._ended.get()
            name, job = self._running.pop(future)
            try:
                return name, future.result()
            except ServerDied:  # perhaps because of what ran beside it
                self._suspects.append((name, job))
        name, job = self._suspects.pop(0)
        return name, self.servers.run(job)

    def close(self) -> None:
        """End everything, also a job that is running and a server that is starting."""
        self.servers.stop()
        self._threads.shutdown(cancel_futures=True)
        self.servers.close()
