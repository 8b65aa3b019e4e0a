"""Grade what arrives: look at a folder once a second, grade what is new and complete, and make its feedback.

The servers stay warm between two hand-ins. What has been graded is known from the gradebook's folders, so that a process
that was interrupted continues where it stopped.
"""

import os
import stat
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from autograder.course import Assignment, notebooks_of
from autograder.errors import CourseError, JailError
from autograder.files import UNWRITABLE, Busy, course_lock, watch_lock
from autograder.gradebook.exchange import Inbound
from autograder.gradebook.feedback import make_pages, page_of
from autograder.gradebook.gradebook import recorded_students
from autograder.gradebook.history import read_history
from autograder.grading.engine import Engine
from autograder.grading.run import NotAllGraded, Options, grade_with, warm_engine
from autograder.results import Result
from autograder.untrusted.submission import (
    MOST_FILES,
    OF_THE_EXCHANGE,
    LeftOut,
    NotRead,
    left_out,
    read_handed,
    students,
    time_of,
)

SECONDS = 1.0
"""Between two looks. What is the same in two of them is complete."""
MOST_AT_ONCE = 32
"""Hand-ins that are graded before their feedback is made."""
AGAIN_AFTER = 60.0
"""Seconds until something is tried again that failed for another reason than the hand-in."""

RUN, EXCHANGE = "", "the exchange"
"""What a sentence is about that is about no student."""

State = frozenset[tuple[str, int, int, int]]
"""Of the files of a hand-in: the name, when it was changed, its size, and which file of the disk it is."""


@dataclass(frozen=True)
class Arrival:
    """A hand-in that was graded: the results of its notebooks, in order."""

    student: str
    results: Sequence[Result]


@dataclass
class Watch:
    """Looks at the hand-ins of an assignment, and grades what is new. To be used in a `with` block."""

    assignment: Assignment
    submitted: Path
    options: Options
    tell: Callable[[str], None]  # is told what somebody has to know, once
    wanted: Collection[str] = ()  # students; none: all
    inbound: Inbound | None = None  # of nbgrader's exchange
    clock: Callable[[], float] = time.monotonic
    _held: ExitStack = field(default_factory=ExitStack)
    _last: dict[str, State] = field(default_factory=dict)  # at the last look
    _done: dict[str, State] = field(default_factory=dict)  # as they were graded
    _failed: dict[str, tuple[State, float]] = field(default_factory=dict)  # with the time of the next trial
    _told: dict[str, str] = field(default_factory=dict)  # the last sentence about a student
    _engines: list[Engine] = field(default_factory=list)
    _sources: object = None  # as they were when the engines started

    def __enter__(self) -> "Watch":
        """Raises Busy where another process watches the course."""
        self._held.enter_context(watch_lock(self.assignment.root))
        self._held.callback(self._end_engines)
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def start(self) -> None:
        """Begin to start what runs notebooks, and do not wait for it. After a change of the exercises, start again."""
        sources = _sources(self.assignment)
        if self._engines and sources == self._sources:
            return
        if self._engines:
            self.tell(
                "The exercises have changed and have been read again. `autograder regrade` shows which earlier scores change."
            )
        self._end_engines()
        self._sources = sources
        for notebook in notebooks_of(self.assignment.root, self.assignment.name):
            self._engines.append(warm_engine(notebook, self.options))

    def look(self) -> list[Arrival]:
        """Grade what is complete and new, and make its feedback. Returns what was graded, and reports everything else.

        Raises JailError where no jail can be started.
        """
        if self.inbound:
            self._say(EXCHANGE, self.inbound.collect())
        arrivals: list[Arrival] = []
        try:
            if ready := self._ready():
                for arrival in self._graded(ready):
                    arrivals.append(arrival)
            self._told.pop(RUN, None)
        except CourseError as error:  # perhaps another run is grading: the next look goes on
            self._say(RUN, str(error))
        if arrivals:
            self._make_feedback([arrival.student for arrival in arrivals])
        return arrivals

    def _ready(self) -> dict[str, Path]:
        """The folders that are as they were at the last look, and not as they were when they were graded."""
        for one in left_out(self.submitted, self.assignment.name):
            self._say(one.student, one.reason)
        folders = dict(students(self.submitted, self.assignment.name))
        if self.wanted:
            folders = {student: folders[student] for student in self.wanted if student in folders}
        now = {student: state for student, folder in folders.items() if (state := _state(folder)) is not None}
        complete = [
            student
            for student, state in now.items()
            if state == self._last.get(student)
            and state != self._done.get(student)
            and not self._has_just_failed(student, state)
        ]
        self._last = now
        if not complete:
            return {}
        recorded = set(recorded_students(self.assignment))
        ready = {}
        for student in complete:
            if student in recorded and _is_graded(self.assignment, student, folders[student]):
                self._done[student] = now[student]
            else:
                ready[student] = folders[student]
        return dict(islice(ready.items(), MOST_AT_ONCE))

    def _has_just_failed(self, student: str, state: State) -> bool:
        failed, next_trial = self._failed.get(student, (None, 0.0))
        return failed == state and self.clock() < next_trial

    def _graded(self, folders: dict[str, Path]) -> Iterator[Arrival]:
        """All at once or, if that fails, one after the other, so that nobody is harmed by another. Raises Busy."""
        states = {student: self._last[student] for student in folders}
        try:
            results = self._grade(folders)
        except (Busy, JailError):
            raise
        except Exception as error:
            self._end_engines()
            if len(folders) > 1:
                for student, folder in folders.items():
                    yield from self._graded({student: folder})
                return
            (student,) = folders
            self._failed[student] = states[student], self.clock() + AGAIN_AFTER
            kind = "" if isinstance(error, CourseError) else f"{type(error).__name__}: "
            self._say(
                student, f"{kind}{error} `autograder` will try to grade this submission again in a minute."
            )
            return
        for student, of_student in results.items():
            self._done[student] = states[student]
            yield Arrival(student, of_student)

    def _grade(self, folders: dict[str, Path]) -> dict[str, list[Result]]:
        """The results of each student's notebooks, recorded in the gradebook."""
        self.start()
        results: dict[str, list[Result]] = {student: [] for student in folders}
        left: list[LeftOut] = []
        with course_lock(self.assignment.root):
            for engine in self._engines:
                try:
                    graded = grade_with(engine, folders, lambda result: None)
                except NotAllGraded as error:
                    graded = error.results
                    left += [one for one in error.left if one not in left]
                for result in graded:
                    results[result.student].append(replace(result, notebook=engine.assignment.part))
        for engine in self._engines:
            engine.draw_again()
            engine.start()
        for one in left:
            self._say(one.student, one.reason)
        for student in folders:
            if len(results[student]) < len(self._engines):  # this machine could not read it
                self._failed[student] = self._last[student], self.clock() + AGAIN_AFTER
                del results[student]
        return results

    def _make_feedback(self, graded: list[str]) -> None:
        try:
            made, left = make_pages(self.assignment, graded)
        except (CourseError, *UNWRITABLE) as error:
            if len(graded) > 1:
                for student in graded:
                    self._make_feedback([student])
            else:
                self.tell(f"No feedback for {LeftOut(graded[0], str(error))}")
            return
        for one in left:
            self.tell(f"No feedback for {one}")
        if self.inbound:
            for one in self.inbound.release(made):
                self.tell(f"Feedback not released for {one}")

    def _say(self, about: str, sentence: str) -> None:
        """Tell it, unless it was the last thing told about that."""
        if sentence and self._told.get(about) != sentence:
            self.tell(str(LeftOut(about, sentence)) if about else sentence)
        self._told[about] = sentence

    def _end_engines(self) -> None:
        engines, self._engines = self._engines, []
        for engine in engines:
            engine.__exit__()


def _state(folder: Path) -> State | None:
    """What distinguishes one version of a hand-in from another; None while there is no file of the student's."""
    try:
        with os.scandir(folder) as entries:
            files = [(entry.name, entry.stat(follow_symlinks=False)) for entry in islice(entries, MOST_FILES)]
    except OSError:  # it is being moved, or will be named when it is read
        return frozenset() if os.path.lexists(folder) else None
    if all(name in OF_THE_EXCHANGE or stat.S_ISDIR(found.st_mode) for name, found in files):
        return None
    return frozenset((name, found.st_mtime_ns, found.st_size, found.st_ino) for name, found in files)


def _is_graded(assignment: Assignment, student: str, folder: Path) -> bool:
    """Whether what is handed in was graded as it is, and has its feedback."""
    for notebook in notebooks_of(assignment.root, assignment.name):
        history = read_history(notebook, student)
        page, autograded = page_of(notebook, student), notebook.autograded(student) / notebook.file
        try:
            if not history or page.stat().st_mtime_ns < autograded.stat().st_mtime_ns:
                return False
            handed, when = read_handed(folder, notebook), time_of(folder)[0]
        except (NotRead, OSError):
            return False
        last = history.hand_ins[-1]
        if handed.digest != last.digest or (when and when.isoformat(sep=" ") != last.timestamp):
            return False
    return True


def _sources(assignment: Assignment) -> frozenset[tuple[Path, int]]:
    """The files of which the exercises and the release are made, and when they were changed."""
    folders = {assignment.source.parent, assignment.release.parent}
    paths = [path for folder in folders for path in folder.glob("*") if path.is_file()]
    return frozenset((path, path.stat().st_mtime_ns) for path in paths)
