"""Grade a class: everything under submitted/, on the workers of a cluster, into the gradebook."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dask.system import cpu_count
from nbformat import NotebookNode

from autograder.cluster import Cluster
from autograder.course import Assignment
from autograder.engine import Engine, Result
from autograder.errors import CourseError
from autograder.files import course_lock
from autograder.gradebook import Recorder, open_gradebook, register
from autograder.nbgrader_settings import limits
from autograder.store import Store
from autograder.submission import Submission, read_submission, students
from autograder.worker import Settings

OnResult = Callable[[Result], None]


@dataclass(frozen=True)
class Options:
    """How to grade."""

    isolation: str = "bwrap"
    workers: int | None = None  # on this machine; None: one for each core
    scheduler: str = ""  # of a cluster of one's own, whose workers are used instead
    fresh: bool = False  # run also what is in the store


def find_submissions(assignment: Assignment, submitted: Path, wanted: Sequence[str]) -> dict[str, Path]:
    """The folders of the wanted students, or of all. Raises CourseError for a student without one."""
    found = dict(students(submitted, assignment.name))
    unknown = [student for student in wanted if student not in found]
    if unknown:
        raise CourseError(f"{submitted} holds no {assignment.name} of {', '.join(unknown)}.")
    if not found:
        raise CourseError(
            f"{submitted} holds no submission of {assignment.name} (STUDENT/{assignment.name}/)."
        )
    return {student: found[student] for student in wanted or found}


def grade_class(
    assignment: Assignment, folders: Mapping[str, Path], options: Options, on_result: OnResult
) -> list[Result]:
    """Grade all and record each as soon as it is known, so that a run that is killed leaves what it graded.

    `folders` are the submissions by student; so is the order of the results, which come without outputs. An
    error of ours stops the run, and nothing is recorded of the submission that met it.
    """
    with course_lock(assignment.root):
        register(assignment)
        results = {}
        with (
            make_engine(assignment, len(folders), options) as engine,
            open_gradebook(assignment.root) as gradebook,
        ):
            recorder = Recorder(gradebook, assignment)
            for several in engine.batches(read_all(assignment, folders, engine.release)):
                recorder.record(several)
                for submission, result in several:
                    results[submission.student] = replace(result, outputs={})
                    on_result(result)
    return [results[student] for student in folders]


def make_engine(assignment: Assignment, submissions: int, options: Options) -> Engine:
    """An engine with as many workers as there is work for, and the course's store."""
    settings = Settings(limits(assignment.root), options.isolation)
    jails = Cluster(settings, min(options.workers or cpu_count(), submissions), options.scheduler)
    store = Store(assignment.root / ".autograder" / "store")
    return Engine(assignment, store, options.isolation, jails, options.fresh)


def read_all(
    assignment: Assignment, folders: Mapping[str, Path], release: NotebookNode
) -> Iterator[Submission]:
    """One after the other, as they are needed: a class is larger than memory."""
    for student, folder in folders.items():
        yield read_submission(folder, student, assignment, release)
