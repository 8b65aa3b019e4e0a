"""Servers that stay for a while: formgrader's button grades one submission, and another often follows.

Every press draws inputs of its own; what is kept is only what takes seconds to start.
"""

import atexit
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from autograder import reference
from autograder.course import Assignment
from autograder.engine import Engine, Result
from autograder.jail.client import Server
from autograder.jails import OwnJail
from autograder.source import imported_ahead
from autograder.store import Store
from autograder.submission import Submission
from autograder.worker import Settings
from coursekit.answer_key import ExerciseKey

STAY_SECONDS = 300


class PromptEngine(Engine):
    """An engine for one submission at a time. Its servers import ahead what the release needs, and start sooner."""

    def __init__(self, assignment: Assignment, store: Store):
        super().__init__(assignment, store)
        self.settings = replace(self.settings, modules=imported_ahead(self.release))

    def grade(self, submission: Submission) -> Result:
        with standing_servers(self.settings, self._rules) as self.servers:
            self.jails = self.servers.jail
            return super().grade(submission)

    @cached_property
    def keys(self) -> Mapping[str, ExerciseKey]:
        """Recorded while the jail starts, as every engine does it."""
        self.jails.warm_up()
        return reference.exercise_keys(self.servers.reference, self.assignment, self.seed)


class Servers:
    """One for the solution; in the jail another, which never sees a solution."""

    def __init__(self, settings: Settings, rules: str):
        self.made_for = (settings, rules)
        self.jail = OwnJail(settings)
        self._settings = settings

    @cached_property
    def reference(self) -> Server:
        settings = self._settings
        return Server(settings.limits, settings.isolation, modules=settings.modules)

    def close(self) -> None:
        self.jail.close()
        if "reference" in vars(self):
            self.reference.close()


_servers: Servers | None = None
_in_use = threading.RLock()
_ending = threading.Timer(0, lambda: None)


@contextmanager
def standing_servers(settings: Settings, rules: str) -> Iterator[Servers]:
    """Those of the last time, if nothing that they have read has changed since; otherwise new ones."""
    global _servers, _ending
    with _in_use:
        _ending.cancel()
        if _servers is None or _servers.made_for != (settings, rules):
            end_servers()
            _servers = Servers(settings, rules)
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
