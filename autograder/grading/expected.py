"""What the exercises expect in one run of grading, recorded beside the students' notebooks and no sooner than needed.

The inputs are there at once, and all that a jail needs; the solution's answers only to judge; the mistakes' answers
only for exercises that somebody got wrong. They are recorded in servers of their own: what students' code forks from
has never seen a solution.
"""

import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from autograder.checks.answer_key import ExerciseKey
from autograder.course import Assignment
from autograder.grading import reference
from autograder.pool.servers import ServerPool


class Expected:
    """The keys of an assignment on inputs that `seed` draws, by the exercise's name."""

    def __init__(self, assignment: Assignment, seed: int, servers: ServerPool):
        self.assignment = assignment
        self.seed = seed
        self.cases: reference.DrawnCases = reference.draw(assignment, assignment.exercises, seed)
        self._servers = servers
        self._thread = ThreadPoolExecutor(1, "reference")
        self._solution: Future[None] | None = None
        self._last: Future[None] | None = None  # all before it are done when it is
        self._keys: dict[str, ExerciseKey] = {}
        self._changing = threading.Lock()
        self._wanted: set[str] = set()
        self.named: frozenset[str] = frozenset()
        """The exercises whose mistakes the keys hold. It grows after them: ask it first."""

    def start(self) -> Future[None]:
        """Begin to record the solution, and do not wait for it."""
        if self._solution is None:
            self._last = self._solution = self._thread.submit(self._record_solution)
        return self._solution

    @property
    def busy(self) -> bool:
        """Whether something is being recorded, which slows down what runs beside it."""
        return self._last is not None and not self._last.done()

    @property
    def keys(self) -> Mapping[str, ExerciseKey]:
        """Waits for the solution. They hold the mistakes that are recorded by now.

        `cases` are those of the keys from now on: inputs on which the solution has no clean answer were drawn again.
        """
        self.start().result()
        self.cases = {name: key.cases for name, key in self._keys.items()}
        return self._keys

    def record_mistakes(self, names: Iterable[str]) -> Future[None]:
        """Begin to record the mistakes of these exercises. All that are asked for meanwhile are recorded at once."""
        with self._changing:
            self._wanted |= set(names)
        self._last = self._thread.submit(self._record_wanted)
        return self._last

    def close(self) -> None:
        """Stop what is being recorded, drop what has not begun, and end the servers."""
        self._servers.stop()
        self._thread.shutdown(cancel_futures=True)
        self._servers.close()

    def _record_solution(self) -> None:
        if self.cases:  # or else there is no exercise, and the solution need not be run
            self._keys = reference.solution_keys(self._servers, self.assignment, self.seed, self.cases)

    def _record_wanted(self) -> None:
        with self._changing:
            names, self._wanted = self._wanted - self.named, set()
        if names:
            keys = {name: self._keys[name] for name in self._keys if name in names}
            mistakes = reference.known_mistakes(self._servers, self.assignment, keys)
            self._keys = self._keys | {
                name: replace(keys[name], mistakes=mistakes[name]) for name in mistakes
            }
            self.named |= names
