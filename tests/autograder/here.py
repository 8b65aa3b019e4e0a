"""A real run of grading without walls: jobs run in this process, one at a time, in a small course that needs numpy only.

The runner, the recorder, the engine and the gradebook are the real ones. What a jail adds (a fork, its limits, its end)
is not there; a test says with `Fault` where a job is to end badly. `test_engine` and tests/autograder/jail try the rest.
"""

import atexit
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import RLock

import numpy as np
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder import digests
from autograder.checks import recording
from autograder.checks.status import Ending
from autograder.course import Assignment, assignments
from autograder.grading.engine import Engine
from autograder.grading.store import Store
from autograder.jail.inside import runner
from autograder.jail.inside.limits import Limits
from autograder.jail.inside.shell import Shell, make_shell
from autograder.jail.outside.client import Outcome
from autograder.registered import registered_release
from autograder.results import Result
from autograder.untrusted.submission import Submission, read_submission
from tests.autograder.road import grade_all, hand_in, with_cell

NAME = "01_steps"
SMALL = Path(__file__).parent / "small"
_one_at_a_time = RLock()
_installed_versions, _imports = cache(digests.installed_versions), cache(digests._imports)
"""What these say does not change while the tests run, and takes a tenth of a second each time."""


def run_here(job: bytes, limits: Limits | None = None) -> Outcome:
    """What a fork of a server does with a job, in this process, which is left as it was."""
    limits = limits or Limits()
    frames: list[bytes] = []
    with _one_at_a_time, _as_it_was(), tempfile.TemporaryDirectory() as folder, chdir(folder):
        shell = make_shell(limits)
        runner.run_job(runner.read_job(job), shell, limits, frames.append)
        atexit.unregister(shell.atexit_operations)  # which would keep each of them until the end
    return Outcome(tuple(frames), Ending.FINISHED, 0.25, 0.2, 1 << 20)


@contextmanager
def _as_it_was():
    main, recorder, environment = sys.modules["__main__"], recording.active(), dict(os.environ)
    seeds = random.getstate(), np.random.get_state()
    Shell.clear_instance()
    try:
        yield
    finally:
        Shell.clear_instance()
        sys.modules["__main__"] = main
        recording.start(recorder)
        os.environ.clear()
        os.environ.update(environment)
        random.setstate(seeds[0])
        np.random.set_state(seeds[1])


class Servers:
    """In the place of a ServerPool, for the solution and its known mistakes."""

    def __init__(self, *settings: object, beside: object = None):
        self.jobs: list[bytes] = []

    def run(self, job: bytes) -> Outcome:
        self.jobs.append(job)
        return run_here(job)

    def stop(self) -> None: ...

    def close(self) -> None: ...


Fault = Callable[[Outcome], Outcome]
"""What becomes of an outcome. It may raise."""


def cut_off(ending: Ending, frames: int = 0) -> Fault:
    """The job ended so, after that many frames."""
    return lambda outcome: Outcome(outcome.frames[:frames], ending, 1.0, 1.0, 0)


@dataclass
class Pool:
    """Jobs run when their outcome is taken, the last that came first; of what was sent a list is kept.

    `faults` are those of the first jobs, in their order.
    """

    faults: list[Fault | None] = field(default_factory=list)
    sent: list[runner.Job] = field(default_factory=list)
    closed: bool = False
    _waiting: list[tuple[str, bytes, Fault | None]] = field(default_factory=list)

    def warm_up(self) -> None: ...

    @property
    def full(self) -> bool:
        return len(self._waiting) >= 4

    def wait(self, seconds: float) -> bool:
        return True

    def submit(self, name: str, job: bytes) -> None:
        self.sent.append(runner.read_job(job))
        fault = self.faults.pop(0) if self.faults else None
        self._waiting.append((name, job, fault))

    def take(self) -> tuple[str, Outcome]:
        name, job, fault = self._waiting.pop()
        outcome = run_here(job)
        return name, fault(outcome) if fault else outcome

    def close(self) -> None:
        self.closed = True


class AtOnce(Executor):
    """Runs what it is given before it gives back the future: what the solution answers is there when it is wanted."""

    def __init__(self, *how: object): ...

    def submit(self, function, /, *arguments, **named) -> Future:
        future = Future()
        try:
            future.set_result(function(*arguments, **named))
        except BaseException as error:
            future.set_exception(error)
        return future


def stay_in_this_process(monkeypatch: pytest.MonkeyPatch) -> Pool:
    """From now on whatever grades, grades in this process. Returns the pool of the next run."""
    pool = Pool()
    monkeypatch.setattr("autograder.grading.expected.ThreadPoolExecutor", AtOnce)
    monkeypatch.setattr("autograder.grading.engine.ServerPool", Servers)
    monkeypatch.setattr("autograder.grading.run.make_pool", lambda *how: pool)
    monkeypatch.setattr("autograder.grading.engine.LocalPool", lambda settings: Pool())
    monkeypatch.setattr(digests, "installed_versions", _installed_versions)
    monkeypatch.setattr(digests, "_imports", _imports)
    return pool


@dataclass
class Course:
    """The small course, in a folder of its own. `pool` is that of each run which is not given another."""

    root: Path
    pool: Pool = field(default_factory=Pool)

    @property
    def assignment(self) -> Assignment:
        return Assignment(self.root, NAME)

    @property
    def perfect(self) -> NotebookNode:
        """The release with right answers; who wrote it has not answered the question."""
        return self.with_cells(RIGHT)

    def with_cells(self, cells: Mapping[str, str]) -> NotebookNode:
        """The release with these answers in it."""
        notebook = self.assignment.read_release()
        for name, source in cells.items():
            notebook = with_cell(notebook, name, source)
        return notebook

    def hand_in(self, student: str, notebook: NotebookNode | str | None = None, **cells: str) -> Path:
        """A notebook, or the perfect one with other cells: `total="…"` is the cell steps-total."""
        names = {f"steps-{name}": source for name, source in cells.items()}
        hand_in(self.root, student, self.assignment, notebook or self.with_cells(RIGHT | names))
        return self.root / "submitted" / student / NAME

    def read(self, student: str) -> Submission:
        folder = self.root / "submitted" / student / NAME
        return read_submission(folder, student, self.assignment, registered_release(self.assignment))

    def engine(self, *faults: Fault | None, fresh: bool = False) -> Engine:
        """An engine with a pool of its own. Call `stay_in_this_process` before."""
        store = Store(self.root / ".autograder" / "store")
        return Engine(self.assignment, store, "none", Pool(list(faults)), fresh)

    def grade_class(self, *faults: Fault | None, fresh: bool = False) -> list[Result]:
        """Everything that was handed in, into the gradebook; `faults` are those of the next jobs."""
        self.pool.faults += faults
        return grade_all(self.assignment, fresh=fresh)

    @contextmanager
    def gradebook(self) -> Iterator[Gradebook]:
        with Gradebook(f"sqlite:///{self.root}/gradebook.db", "small") as gradebook:
            yield gradebook

    def scores(self) -> dict[str, float]:
        """{student: points} as the gradebook has them, with extra credit and without penalties."""
        with self.gradebook() as gradebook:
            return {s.student.id: s.score for s in gradebook.assignment_submissions(NAME)}

    def finish(self, *students: str, points: float = 1.0) -> None:
        """A person gives these the same points for their answers to the question."""
        with self.gradebook() as gradebook:
            for student in students:
                grade = gradebook.find_grade("steps-question", NAME, NAME, student)
                grade.manual_score, grade.needs_manual_grade = points, False
            gradebook.db.commit()

    def correct(self, old: str, new: str) -> None:
        """Change the solution in the source, as an instructor does who has found a mistake in it."""
        source = self.assignment.source
        text = source.read_text()
        assert text.count(old) == 1
        source.write_text(text.replace(old, new))

    def grade(self, student: str, *faults: Fault | None, **cells: str) -> Result:
        """Hand in and grade, without a gradebook."""
        self.hand_in(student, **cells)
        with self.engine(*faults) as engine:
            return engine.grade(self.read(student))


RIGHT = {
    "steps-total": "def total(values):\n    return values.sum()",
    "steps-shares": "def shares(values):\n    return values / total(values)",
    "steps-largest": "def largest(values):\n    return shares(values).max()",
}


def by_name(result: Result) -> dict:
    """The verdicts by the last part of their cell's name: total, shares, largest, question."""
    return {v.grade_id.removeprefix("steps-").removesuffix("-check"): v for v in result.verdicts}


def make_small_course(folder: Path) -> Course:
    """Built by the real builder, which records the key in this process."""
    from autograder.authoring import builder
    from autograder.generating import generate

    shutil.copytree(SMALL, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for assignment in assignments(folder):
        builder.put(builder.products(Servers(), assignment, generate(assignment)))
    return Course(folder)


def own_copy(course: Course, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A copy in which the test now runs. Whatever grades in it does so in this process."""
    shutil.copytree(course.root, folder)
    monkeypatch.chdir(folder)
    return Course(folder, stay_in_this_process(monkeypatch))
