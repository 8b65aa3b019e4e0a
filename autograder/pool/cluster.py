"""The workers of a Dask cluster on several machines, each with warm servers.

Dask moves jobs and outcomes and replaces workers that die. Which job a death is blamed on is decided here:
whichever may have been running is run again, alone. On one machine nothing of this is needed (`autograder.pool.local`).
"""

import logging
import queue
import secrets
import threading
import time
import warnings
from contextlib import ExitStack, suppress
from dataclasses import replace

from distributed import CancelledError, Client, Future, KilledWorker

from autograder.checks.status import Ending
from autograder.errors import CourseError, ServerDied
from autograder.jail.outside.client import Outcome
from autograder.jail.outside.jobs import HARMLESS
from autograder.pool import worker
from autograder.pool.servers import Settings

PATIENCE_SECONDS = 300  # without a single worker
CONNECT_SECONDS = 20
LOOK_SECONDS = 5  # between looks at the workers that there are
PARTING_SECONDS = 5  # for workers to end what they run


class ClusterPool:
    """Runs jobs on the workers of the cluster at `scheduler`, such as tcp://host:8786.

    Nothing is connected before the first job is announced (`warm_up`) or handed over (`submit`).
    """

    def __init__(self, settings: Settings, scheduler: str):
        self.settings = replace(settings, run=secrets.token_hex(8))
        self.scheduler = scheduler
        self._client: Client | None = None
        self._open = ExitStack()
        self._count = 0
        self._running: dict[object, tuple[Future, str, bytes]] = {}
        self._ended: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._suspects: list[tuple[str, bytes]] = []
        self._threads = 0  # of the workers that were seen last
        self._counted = float("-inf")
        self._last_seen = time.monotonic()

    def warm_up(self) -> None:
        """Connect, and let the workers start their servers meanwhile. Raises CourseError without a suitable cluster."""
        self._connected()

    @property
    def full(self) -> bool:
        """Two jobs for each thread of a worker: one runs while the next is on its way, and few lie about in memory."""
        if not self._running:
            return False
        self._count_workers()
        return len(self._running) >= 2 * max(1, self._threads)

    def wait(self, seconds: float) -> bool:
        """Wait for a job to end, at most so long. Returns whether one has."""
        over = time.monotonic() + seconds
        while self._ended.empty() and time.monotonic() < over:
            time.sleep(0.01)
        return not self._ended.empty()

    def submit(self, name: str, job: bytes) -> None:
        """Send a job to the scheduler, which gives it to a worker; `take` returns its outcome with this name."""
        self._count += 1
        # Dask keeps the tasks of a large group at the scheduler until a worker is free, and groups by this name.
        key = (f"grade-{self.settings.run}", self._count)
        future = self._connected().submit(worker.run_job, self.settings, job, key=key, pure=False, retries=0)
        self._running[key] = future, name, job
        future.add_done_callback(self._ended.put)

    def take(self) -> tuple[str, Outcome]:
        """An outcome, as they come. Jobs whose worker died come last, each run again with nothing beside it."""
        while self._running:
            name, job, outcome = self._next()
            if outcome is not None:
                return name, outcome
            self._suspects.append((name, job))
        return self._run_again(*self._suspects.pop(0))

    def close(self) -> None:
        """Leave nothing of this run running, here or on somebody's cluster."""
        self._open.close()
        self._client = None

    def _run_again(self, name: str, job: bytes) -> tuple[str, Outcome]:
        outcome = self._run_alone(name, job)
        if outcome is None:
            if self._run_alone("a harmless job", HARMLESS) is None:
                raise ServerDied("The workers' processes stop during every job, even a harmless one.")
            outcome = Outcome((), Ending.DIED, 0.0, 0.0, 0)
        return name, outcome

    def _run_alone(self, name: str, job: bytes) -> Outcome | None:
        self.submit(name, job)
        return self._next()[2]

    def _next(self) -> tuple[str, bytes, Outcome | None]:
        """The name, the job and the outcome of one that has ended; no outcome if its worker died."""
        ended = self._wait()
        future, name, job = self._running.pop(ended.key)
        try:
            return name, job, future.result()
        except KilledWorker:
            return name, job, None
        except CancelledError:
            raise CourseError(f"The connection to the scheduler {self.scheduler} was lost.") from None
        finally:
            future.release()

    def _wait(self) -> Future:
        while True:
            with suppress(queue.Empty):
                return self._ended.get(timeout=LOOK_SECONDS)
            self._count_workers()
            if time.monotonic() - self._last_seen > PATIENCE_SECONDS:
                raise CourseError(
                    f"The cluster at {self.scheduler} has had no worker for {PATIENCE_SECONDS // 60} minutes."
                )

    def _count_workers(self) -> None:
        """Count the workers, every now and then: they come and go."""
        client, now = self._connected(), time.monotonic()
        if now - self._counted > LOOK_SECONDS or not self._threads:
            self._counted = now
            with suppress(OSError):  # the scheduler does not answer: that shows in the futures
                self._threads = sum(client.nthreads().values())
            if self._threads:
                self._last_seen = now

    def _connected(self) -> Client:
        if self._client is None:
            self.settings = replace(self.settings, versions=worker.versions(self.settings))
            self._client = self._open.enter_context(self._connect())
            self._open.callback(self._end, self._client)
            self._check_workers(self._client)
            self._client.run(worker.warm_up, self.settings, wait=False, on_error="ignore")
        return self._client

    def _connect(self) -> Client:
        warnings.filterwarnings("ignore", message="(?s)Sending large graph", category=UserWarning)
        warnings.filterwarnings(
            "ignore", message="(?s).*Mismatched versions"
        )  # we have words of our own for it
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            return Client(self.scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise CourseError(f"No scheduler can be reached at {self.scheduler}: {error}.") from None

    def _check_workers(self, client: Client) -> None:
        """Raises CourseError for a worker that would grade differently. Later ones check themselves."""
        try:
            client.wait_for_workers(1, timeout=PATIENCE_SECONDS)
        except TimeoutError:
            raise CourseError(
                f"The cluster at {self.scheduler} has no worker: start one with `dask worker`."
            ) from None
        for address, installed in client.run(worker.versions, self.settings, on_error="return").items():
            if isinstance(installed, OSError):
                continue  # it has just died: whoever takes its place is a later one
            if isinstance(installed, ModuleNotFoundError):
                raise CourseError(f"A worker of {self.scheduler} lacks {installed.name}: {worker.REMEDY}")
            if isinstance(installed, Exception):
                raise installed
            differs = worker.difference(dict(self.settings.versions), dict(installed))
            if differs:
                raise CourseError(
                    f"The worker {address} has a different installation ({differs}): {worker.REMEDY}"
                )

    def _end(self, client: Client) -> None:
        run = self.settings.run
        with suppress(Exception):  # whoever does not hear of it is closed or already gone
            client.cancel([future for future, _, _ in self._running.values()], force=True)

        def tell() -> None:
            with suppress(OSError):  # the connection ends when nobody waits for it any more
                client.run(worker.end, run, on_error="ignore")

        telling = threading.Thread(target=tell, daemon=True)
        telling.start()
        telling.join(PARTING_SECONDS)
