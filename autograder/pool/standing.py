"""Servers that stay for a while: formgrader's button grades one submission, and another often follows.

Every press draws inputs of its own; what is kept is only what takes seconds to start.
"""

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from autograder.course import Assignment
from autograder.digests import rules_digest
from autograder.grading.engine import Engine
from autograder.grading.store import Store
from autograder.pool.local import LocalPool
from autograder.pool.pool import settings_for
from autograder.pool.servers import ServerPool, Settings
from autograder.results import Result
from autograder.untrusted.submission import Submission

STAY_SECONDS = 300


class StandingEngine:
    """Grades one submission at a time, in servers that outlive it. All on the same inputs, while the servers stay."""

    def __init__(self, assignment: Assignment, store: Store):
        self.assignment = assignment
        self.store = store
        self.settings = settings_for(assignment, "bwrap")
        self._rules = rules_digest(assignment)
        self._engine: Engine | None = None

    def grade(self, submission: Submission) -> Result:
        with standing_servers(self.settings, self._rules) as servers:
            if self._engine is None or self._engine.pool is not servers.pool:
                self._engine = Engine(
                    self.assignment, self.store, pool=servers.pool, reference=servers.reference
                )
            return self._engine.grade(submission)


class StandingServers:
    """Some for students' notebooks and others for the solution: forks of one process, which sees neither."""

    def __init__(self, settings: Settings, rules: str):
        self.made_for = (settings, rules)
        self.pool = LocalPool(settings)
        self.reference = ServerPool(settings, beside=self.pool.servers)

    def close(self) -> None:
        self.pool.close()
        self.reference.close()


_servers: StandingServers | None = None
_in_use = threading.RLock()
_ending = threading.Timer(0, lambda: None)


@contextmanager
def standing_servers(settings: Settings, rules: str) -> Iterator[StandingServers]:
    """Those of the last time, if nothing that they have read has changed since; otherwise new ones."""
    global _servers, _ending
    with _in_use:
        _ending.cancel()
        if _servers is None or _servers.made_for != (settings, rules):
            end_servers()
            _servers = StandingServers(settings, rules)
        try:
            yield _servers
        finally:
            _ending = threading.Timer(STAY_SECONDS, end_servers)
            _ending.daemon = True
            _ending.start()


@atexit.register
def end_servers() -> None:
    global _servers
    with _in_use:
        if _servers is not None:
            _servers.close()
        _servers = None
