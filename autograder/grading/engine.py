"""Grade submissions: restore → job → jail → answers → verdicts → store.

A submission may need several jobs: again with cells of the release that it has lost, again with a demonstration that defines
a name it lacks, again with nothing beside it, again with the solution's functions in place of earlier ones that are wrong. Notebooks run while the solution is
being recorded; a known mistake is recorded when somebody has got its exercise wrong.

The same engine serves `autograder grade`, with jails on many workers, and nbgrader's own Autograde, with one here.
"""

import secrets
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import msgspec
from nbformat import NotebookNode

from autograder.checks.answer_key import ExerciseKey
from autograder.checks.answers import Malformed
from autograder.checks.status import CellEnding, Ending
from autograder.course import Assignment
from autograder.digests import rules_digest
from autograder.grading.demonstrations import Demonstrations, lacks_a_name, missing_names
from autograder.grading.dependants import Dependants, Loan
from autograder.grading.expected import Expected
from autograder.grading.own_notebook import as_file
from autograder.grading.reference import DrawnCases, solution_sources
from autograder.grading.remarks import remarks
from autograder.grading.setup_cells import SetupCells
from autograder.grading.store import Store, job_id
from autograder.grading.verdicts import (
    Reply,
    judge_again,
    judge_cells,
    unnamed,
    with_what_stopped,
    without_running,
)
from autograder.jail.inside.limits import Limits
from autograder.jail.outside import jobs
from autograder.jail.outside.client import Outcome
from autograder.pool.local import LocalPool
from autograder.pool.pool import Pool, settings_for
from autograder.pool.servers import ServerPool
from autograder.results import Result
from autograder.source import grade_id
from autograder.untrusted.frames import Frame, read_frame
from autograder.untrusted.submission import Submission

MOST_AT_ONCE = 10  # results that are held in memory, to be recorded together
HELD_SECONDS = 0.2  # that they wait for another one
MOST_PACKED = 32  # sets of exercises whose inputs are kept packed
MOST_REPAIRS = 2  # runs with cells of the release that a notebook has lost


@dataclass(frozen=True)
class CellRun:
    """One cell of a job: the exercise whose check it is, or the grade id of nbgrader's own test cell that it is.

    place is where it stands in the notebook (−1: it comes from us).
    """

    source: str
    exercise: str = ""
    place: int = -1
    test: str = ""


@dataclass(frozen=True)
class Response:
    """What came of a job: its readable frames, how it ended, and after how many seconds."""

    frames: list[Frame]
    ending: Ending
    seconds: float

    @property
    def _out_of_time(self) -> bool:
        """Whether the job, or a single cell in it, exceeded its time limit."""
        return self.ending == Ending.TIMEOUT or any(
            frame.problem == CellEnding.TIMEOUT for frame in self.frames
        )


@dataclass(frozen=True)
class Mistakes:
    """The exercises whose known mistakes a submission has to be compared with."""

    names: frozenset[str]


Grading = Generator[list[CellRun] | Mistakes, Any, Result]
"""Grades one submission: yields what is to be run, and is sent what came of it, or which mistakes are to be recorded,
and is resumed when they are. Returns the result."""


@dataclass
class Attempt:
    """A submission on its way: what its result is called in the store, and what is being run of it."""

    name: str
    grading: Grading
    steps: list[CellRun]
    notebook: str = ""  # as a file, which lies where it is run
    in_company: bool = False  # whether other jobs, or the solution, ran beside this one
    cases: DrawnCases = field(default_factory=dict)  # the inputs that were sent
    mistakes: Future[None] | None = None  # that are being recorded


class Engine:
    """Keeps the expected answers on inputs drawn for this run, and judges what comes out of the jails."""

    def __init__(
        self,
        assignment: Assignment,
        store: Store,
        isolation: str = "bwrap",
        pool: Pool | None = None,
        fresh: bool = False,
    ):
        self.assignment = assignment
        self.store = store
        self.settings = settings_for(assignment, isolation)
        self.pool = pool or LocalPool(self.settings)
        self.fresh = fresh  # what the store held before this run does not count
        self.seed = secrets.randbits(128)
        self._reference = self._servers_for_the_solution()
        self._running: dict[str, Attempt] = {}
        self._unnamed: list[Attempt] = []  # that wait for mistakes to be recorded
        self._late: list[Attempt] = []  # that ran out of time while others worked
        self._waiting: dict[str, list[Submission]] = {}  # for the same result
        self._stored: set[str] = set()  # in this run
        self._inputs: dict[tuple[str, ...], tuple[DrawnCases, bytes]] = {}
        self._not_stored: dict[str, Result] = {}

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *error: object) -> None:
        self._forget_inputs()
        self.pool.close()

    def draw_again(self) -> None:
        """New inputs for what is graded from now on: an answer may be made from the feedback on an earlier one.

        Nothing may be on its way. The servers stay warm.
        """
        self._forget_inputs()
        self.seed = secrets.randbits(128)
        self._reference = self._servers_for_the_solution()
        self._inputs.clear()
        self._not_stored.clear()

    def _forget_inputs(self) -> None:
        if "expected" in vars(self):
            self.expected.close()
            del self.expected

    def _servers_for_the_solution(self) -> ServerPool:
        """Here, whatever runs the notebooks; beside those where these are here, too: torch is imported once.

        Where only the user keeps students' code apart, they run as root: one user's processes can read each other's memory.
        """
        if self.settings.isolation == "nobody":
            return ServerPool(replace(self.settings, isolation="none"))
        return ServerPool(self.settings, beside=getattr(self.pool, "servers", None))

    def start(self) -> None:
        """Begin to start what runs notebooks, and to record the solution. Waits for neither."""
        self.pool.warm_up()
        self.expected.start()

    @cached_property
    def release(self) -> NotebookNode:
        """The notebook as students received it, read once per engine."""
        return self.assignment.read_release()

    @cached_property
    def _rules(self) -> str:
        return rules_digest(self.assignment)

    @cached_property
    def expected(self) -> Expected:
        """Inputs of this run; with the solution's answers and those of known mistakes, as they are needed."""
        return Expected(self.assignment, self.seed, self._reference)

    @property
    def keys(self) -> Mapping[str, ExerciseKey]:
        """Waits for the solution's answers. With the mistakes that are recorded by now."""
        return self.expected.keys

    def grade(self, submission: Submission) -> Result:
        """The result of a single submission; waits until it is known."""
        ((_, result),) = self.grade_all([submission])
        return result

    def grade_all(self, submissions: Iterable[Submission]) -> Iterator[tuple[Submission, Result]]:
        """Each submission with its result, as they come. What is in the store is not run; twins are run once."""
        for batch in self.batches(submissions):
            yield from batch

    def batches(self, submissions: Iterable[Submission]) -> Iterator[list[tuple[Submission, Result]]]:
        """The same in lists: what is known at a time. Nothing is held back while a jail is waited for any longer."""
        batch = []
        for graded in self._results(submissions):
            if graded is not None:
                batch.append(graded)
            if batch and (graded is None or len(batch) == MOST_AT_ONCE):
                yield batch
                batch = []
        if batch:
            yield batch

    def _results(self, submissions: Iterable[Submission]) -> Iterator[tuple[Submission, Result] | None]:
        """Each submission with its result; None before a jail has to be waited for."""
        for submission in submissions:
            name = self._name(submission.digest)
            result = self._without_running(name, submission)
            if result is not None:
                yield submission, result
            elif name in self._waiting:
                self._waiting[name].append(submission)
            else:
                self._waiting[name] = [submission]
                grading = self._grading(submission)
                steps = next(grading)
                assert not isinstance(steps, Mistakes), "a submission is run first"
                self._send(Attempt(name, grading, steps, as_file(submission.notebook, self.release)))
            while self.pool.full:
                yield from self._receive()
            yield from self._resume(len(self._unnamed) > MOST_AT_ONCE)
        yield from self._finish()
        while self._late:  # time is measured by the clock: now nobody slows them down
            self._send(self._late.pop(0))
            yield from self._finish()

    def _finish(self) -> Iterator[tuple[Submission, Result] | None]:
        while self._running or self._unnamed:
            if self._running:
                yield from self._receive()
            yield from self._resume(wait=not self._running)

    def _name(self, digest: str) -> str:
        return job_id(digest, self._rules, self.settings)

    def _without_running(self, name: str, submission: Submission) -> Result | None:
        if submission.status:
            verdicts = tuple(without_running(self.assignment, submission))
            return Result(submission.student, verdicts, 0.0, ending=Ending.NOT_RUN)
        if name in self._not_stored:
            return replace(self._not_stored[name], student=submission.student)
        stored = self.store.get(name) if name in self._stored or not self.fresh else None
        if stored is None:
            return None
        return msgspec.convert({**stored, "student": submission.student}, Result, str_keys=True)

    def _send(self, attempt: Attempt) -> None:
        self.expected.start()
        attempt.in_company = bool(self._running) or self.expected.busy
        self._disturb()
        self._running[attempt.name] = attempt
        cases = self.expected.cases
        attempt.cases = {step.exercise: cases[step.exercise] for step in attempt.steps if step.exercise}
        cells = [jobs.cell(step.source, step.exercise) for step in attempt.steps]
        texts = {self.assignment.release.name: attempt.notebook}
        self.pool.submit(attempt.name, jobs.with_inputs(cells, self._packed(attempt.cases), texts))

    def _packed(self, cases: DrawnCases) -> bytes:
        """The inputs of these exercises. Most jobs ask for the same, which are packed once."""
        names = tuple(cases)
        inputs, packed = self._inputs.get(names, ({}, b""))
        if not inputs or any(inputs[name] is not cases[name] for name in names):
            packed = jobs.pack_inputs(cases, self.assignment.settings.arrays, self._files)
            if len(self._inputs) == MOST_PACKED:
                del self._inputs[next(iter(self._inputs))]
            self._inputs[names] = cases, packed
        return packed

    def _disturb(self) -> None:
        """From now on something else runs beside what is running."""
        for attempt in self._running.values():
            attempt.in_company = True

    def _receive(self) -> Iterator[tuple[Submission, Result] | None]:
        """Take what a jail gives back; with the last of a submission, yield its result for all who handed in the same."""
        if not self.pool.wait(HELD_SECONDS):
            yield None
        name, outcome = self.pool.take()
        attempt = self._running.pop(name)
        if any(cases is not self.keys[exercise].cases for exercise, cases in attempt.cases.items()):
            # The inputs were drawn again, because the solution had no clean answer to these.
            self._send(attempt)
            return
        frames = _readable(outcome, self.settings.limits, 2 * len(attempt.steps))
        response = Response(frames, outcome.status, outcome.seconds)
        if response._out_of_time and attempt.in_company:
            self._late.append(attempt)
        else:
            yield from self._go_on(attempt, response)

    def _resume(self, wait: bool) -> Iterator[tuple[Submission, Result] | None]:
        """Go on with those whose mistakes are recorded, or wait until they are."""
        waiting, self._unnamed = self._unnamed, []
        for attempt in waiting:
            recorded = attempt.mistakes
            if recorded and not recorded.done():
                if not wait:
                    self._unnamed.append(attempt)
                    continue
                yield None
            if recorded:
                recorded.result()
            yield from self._go_on(attempt, None)

    def _go_on(
        self, attempt: Attempt, response: Response | None
    ) -> Iterator[tuple[Submission, Result] | None]:
        try:
            request = attempt.grading.send(response)
        except StopIteration as end:
            self._keep(attempt.name, end.value)
            for duplicate in self._waiting.pop(attempt.name):
                yield duplicate, replace(end.value, student=duplicate.student)
            return
        if isinstance(request, Mistakes):
            self._disturb()
            attempt.mistakes = self.expected.record_mistakes(request.names)
            self._unnamed.append(attempt)
        else:
            attempt.steps = request
            self._send(attempt)

    def _grading(self, submission: Submission) -> Grading:
        notebook = submission.notebook
        runs = {place: self._cell_run(notebook.cells[place], place) for place in _code_places(notebook)}
        places = [place for place in runs if not self._demonstrations.unchanged(notebook.cells[place])]
        steps = [runs[place] for place in places]
        response: Response = yield steps
        replies, outputs, seconds = _replies(steps, response), _outputs(steps, response), response.seconds
        notes = remarks(notebook, self.release)
        why = ""
        lost: dict[int, list[str]] = {}
        for _ in range(MOST_REPAIRS):
            more = self._setup_cells.lacking(_names_lacking(steps, response, notebook), notebook)
            if not more or more == lost:
                break
            lost = more
            why = why or self._setup_cells.why(lost, notebook, outputs)
            steps = _with_lost(runs, places, lost)
            response = yield steps
            replies, outputs = _replies(steps, response), _outputs(steps, response)
            seconds += response.seconds
        tests = _replies(steps, response, attrgetter("test"))  # nbgrader's test cells, by grade id
        demos = self._demonstrations.that_define(missing_names(response.frames), notebook)
        if demos:
            places = sorted({*places, *demos})
            steps = _with_lost(runs, places, lost)
            again: Response = yield steps
            seconds += again.seconds
            better = {
                name: reply
                for name, reply in _replies(steps, again).items()
                if reply.frame and ((before := replies[name].frame) is None or lacks_a_name(before))
            }
            replies |= better
            visible = {step.place for step in steps if step.exercise in better or not step.exercise}
            outputs |= {place: of for place, of in _outputs(steps, again).items() if place in visible}
        named = self.expected.named
        verdicts = judge_cells(self.assignment, submission, self.keys, replies, tests)
        if names := unnamed(self.assignment, self.keys, replies, verdicts) - named:
            yield Mistakes(names)
            verdicts = judge_again(self.assignment, submission, self.keys, replies, verdicts, names)
        dependants = Dependants(self.assignment, submission, self._solutions, self.keys, replies, verdicts)
        spent = 0.0
        for loan in dependants.loans():
            steps = self._with_loan(_with_lost(runs, places, lost), loan)
            again = yield steps
            dependants.hear(loan, _replies(steps, again))
            spent += again.seconds
            if spent > self.settings.limits.notebook_seconds:
                break
        final = with_what_stopped(self.assignment, submission, dependants.verdicts(), replies, outputs)
        seed, ending = f"{self.seed:032x}", response.ending
        return Result(
            submission.student, tuple(final), seconds, outputs, seed, ending, (*filter(None, [why]), *notes)
        )

    def _cell_run(self, cell: NotebookNode, place: int) -> CellRun:
        test = grade_id(cell) if self.assignment.is_test(cell) else ""
        return CellRun(cell["source"], self._checked_exercise(cell), place, test)

    def _with_loan(self, steps: Iterable[CellRun], loan: Loan) -> list[CellRun]:
        """Only the checks that are asked for, and the lent functions in place of the student's."""
        return [
            CellRun(self._solutions[step.exercise]) if step.exercise in loan.lent else step
            for step in steps
            if not step.exercise or step.exercise in loan.lent | loan.checked
        ]

    def _keep(self, name: str, result: Result) -> None:
        """In the store, unless the machine may have had a part in how it ended: then for this run only."""
        if not result.trouble:
            self.store.put(name, _result_to_store(result))
            self._stored.add(name)
        else:
            self._not_stored[name] = result

    def _checked_exercise(self, cell: NotebookNode) -> str:
        exercise = self.assignment.by_check_id.get(grade_id(cell))
        return exercise.name if exercise else ""

    @cached_property
    def _demonstrations(self) -> Demonstrations:
        """None beside nbgrader's own test cells, which may use what any cell leaves: there every cell is run."""
        tests = self.assignment.test_cells(self.release)
        return Demonstrations(NotebookNode(cells=[] if tests else self.release.cells))

    @cached_property
    def _setup_cells(self) -> SetupCells:
        return SetupCells(self.release)

    @cached_property
    def _files(self) -> Mapping[str, bytes]:
        return {name: path.read_bytes() for name, path in self.assignment.handed_out.items()}

    @cached_property
    def _solutions(self) -> Mapping[str, str]:
        return solution_sources(self.assignment)


def _code_places(notebook: NotebookNode) -> list[int]:
    return [
        place
        for place, cell in enumerate(notebook.cells)
        if cell["cell_type"] == "code" and cell["source"].strip()
    ]


def _readable(outcome: Outcome, limits: Limits, most: int) -> list[Frame]:
    """The frames that are what they claim to be, the first of each cell. A forged one counts as not sent."""
    frames: dict[int, Frame] = {}
    for blob in outcome.frames[:most]:
        try:
            frame = read_frame(blob, limits)
        except Malformed:
            continue
        frames.setdefault(frame.cell, frame)
    return list(frames.values())


def _replies(
    steps: list[CellRun], response: Response, name: Callable[[CellRun], str] = attrgetter("exercise")
) -> dict[str, Reply]:
    """What came back for each step that has a name: for each check that was asked, by its exercise."""
    frames = {frame.cell: frame for frame in response.frames}
    return {
        name(step): Reply(frames.get(number), response.ending)
        for number, step in enumerate(steps)
        if name(step)
    }


def _outputs(steps: list[CellRun], response: Response) -> dict[int, list[dict[str, Any]]]:
    """What each cell of the notebook showed, by its place there."""
    return {
        steps[frame.cell].place: list(frame.outputs)
        for frame in response.frames
        if frame.cell < len(steps) and steps[frame.cell].place >= 0
    }


def _names_lacking(steps: list[CellRun], response: Response, notebook: NotebookNode) -> set[str]:
    """The names that any cell asked for in vain, if an answer or a test did: what only shows something may fail."""
    count = len(steps)
    graded = [
        frame
        for frame in response.frames
        if frame.cell < count and (place := steps[frame.cell].place) >= 0 and grade_id(notebook.cells[place])
    ]
    return missing_names(response.frames) if missing_names(graded) else set()


def _with_lost(
    runs: Mapping[int, CellRun], places: Iterable[int], lost: Mapping[int, list[str]]
) -> list[CellRun]:
    """The cells to run, in order, with those of the release ahead of the places where they are missing."""
    steps = []
    for place in sorted({*places, *lost}):
        steps += [CellRun(source) for source in lost.get(place, [])]
        if place in runs and place in places:
            steps.append(runs[place])
    return steps


def _result_to_store(result: Result) -> dict[str, Any]:
    """What does not depend on who handed it in."""
    return {
        "verdicts": [asdict(verdict) for verdict in result.verdicts],
        "seconds": result.seconds,
        "outputs": {str(place): outputs for place, outputs in result.outputs.items()},
        "seed": result.seed,
        "notes": list(result.notes),
    }
