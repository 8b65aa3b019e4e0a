"""Grade a class: everything under submitted/, one submission after the other, then the gradebook."""

import fcntl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from autograder.course import Assignment
from autograder.engine import Engine, Result
from autograder.errors import CourseError
from autograder.gradebook import open_gradebook, record, register
from autograder.store import Store
from autograder.submission import Submission, read_submission, students


def find_submissions(assignment: Assignment, submitted: Path, wanted: Sequence[str]) -> list[Submission]:
    """The submissions of the wanted students, or of all. Raises CourseError for a student without one."""
    release = assignment.read_release()
    found = dict(students(submitted, assignment.name))
    unknown = [student for student in wanted if student not in found]
    if unknown:
        raise CourseError(f"{submitted} holds no {assignment.name} of {', '.join(unknown)}.")
    if not found:
        raise CourseError(
            f"{submitted} holds no submission of {assignment.name} (STUDENT/{assignment.name}/)."
        )
    chosen = wanted or list(found)
    return [read_submission(found[student], student, assignment, release) for student in chosen]


def grade_class(
    assignment: Assignment,
    submissions: Sequence[Submission],
    isolation: str,
    on_result: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Grade all, then record all. An error of ours stops the run before anything is recorded."""
    with course_lock(assignment.root):
        register(assignment)
        results = []
        store = Store(assignment.root / ".autograder" / "store")
        with Engine(assignment, store, isolation) as engine:
            for submission in submissions:
                result = engine.grade(submission)
                results.append(result)
                on_result(result)
        with open_gradebook(assignment.root) as gradebook:
            for submission, result in zip(submissions, results, strict=True):
                record(gradebook, assignment, submission, result)
    return results


@contextmanager
def course_lock(root: Path) -> Iterator[None]:
    """Only one run at a time writes the gradebook of a course."""
    path = root / ".autograder" / "lock"
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseError(
                f"Another run is grading this course (it holds {path}). Try again when it is done."
            ) from None
        yield
