"""Grade a class: everything under submitted/, in the servers of this machine or on a cluster, into the gradebook."""

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nbformat import NotebookNode

from autograder.course import Assignment
from autograder.digests import rules_digest
from autograder.errors import CourseError, install_command
from autograder.files import course_lock
from autograder.grading.store import Store, job_id
from autograder.kernels import remark
from autograder.pool.local import LocalPool, cores
from autograder.pool.pool import Pool, settings_for
from autograder.pool.servers import Settings
from autograder.untrusted.submission import (
    LeftOut,
    NotRead,
    Submission,
    Unreadable,
    left_out,
    read_regular_file,
    read_submission,
    students,
)

if TYPE_CHECKING:
    from autograder.grading.engine import Engine
    from autograder.results import Result

CLUSTER_PACKAGES = ("dask", "distributed")
OnResult = Callable[["Result"], None]
Tell = Callable[[str], None]
"""Is told what is being done, in a sentence."""
GRADED_AS_IT_IS = "This notebook is graded as it is. If the right notebook is there under another name, replace the wrong one with it and grade again."
GRADED_IN_TIME = "The submission is graded, and counts as on time. If you know the time, write it as 2026-10-05 21:58:00 UTC and grade again."
LOOK_BYTES, LOOK_EACH = 256 << 20, 8 << 20
"""How much of a class, and of each, is looked at before anything starts: at most a second's work."""


class NotAllGraded(CourseError):
    """Everybody was graded but these, who are named with what to do about it."""

    def __init__(self, left: Sequence[LeftOut], results: "Sequence[Result]" = ()):
        self.left, self.results = list(left), list(results)
        which = "1 submission" if len(left) == 1 else f"{len(left)} submissions"
        lines = [f"Something is wrong with {which} (the others are not affected):", *map(str, left)]
        super().__init__("\n  ".join(lines))


@dataclass(frozen=True)
class Options:
    """How to grade."""

    isolation: str = "bwrap"
    workers: int | None = None  # on this machine; None: one for each core
    scheduler: str = ""  # of a cluster of one's own, whose workers are used instead
    fresh: bool = False  # run also what is in the store


def find_submissions(assignment: Assignment, submitted: Path, wanted: Sequence[str]) -> dict[str, Path]:
    """The folders of the wanted students, or of all. Raises CourseError for a student without one."""
    folders = dict(students(submitted, assignment.name))
    left = {hand_in.student: hand_in for hand_in in left_out(submitted, assignment.name)}
    if unreadable := [left[student] for student in wanted if student in left]:
        raise NotAllGraded(unreadable)
    unknown = [student for student in wanted if student not in folders]
    if unknown:
        raise CourseError(f"{submitted} contains no {assignment.name} from {', '.join(unknown)}.")
    if not folders:
        if left:
            raise NotAllGraded(list(left.values()))
        raise CourseError(
            f"{submitted} contains no submission of {assignment.name} (STUDENT/{assignment.name}/). `nbgrader collect` puts them "
            "there, or `autograder collect FILE.zip` from what Moodle or Canvas lets you download."
        )
    return {student: folders[student] for student in wanted or folders}


def grade_class(
    assignment: Assignment,
    folders: Mapping[str, Path],
    options: Options,
    on_result: OnResult,
    tell: Tell = lambda sentence: None,
) -> "list[Result]":
    """Grade all and record each as soon as it is known, so that a run that is killed leaves what it graded.

    `folders` are the submissions by student; so is the order of the results, which come without outputs. An
    error of ours stops the run, and nothing is recorded of the submission that met it. A hand-in that the machine
    does not let us read stops nobody: NotAllGraded, raised at the end, has it and the results of the others.
    """
    with course_lock(assignment.root), make_engine(assignment, folders, options, tell) as engine:
        return grade_with(engine, folders, on_result, tell)


def grade_with(
    engine: "Engine", folders: Mapping[str, Path], on_result: OnResult, tell: Tell = lambda sentence: None
) -> "list[Result]":
    """The same with an engine that is there already, under the course's lock."""
    assignment = engine.assignment
    results: dict[str, Result] = {}
    left: list[LeftOut] = []
    from autograder.gradebook.gradebook import (  # start-up: nbgrader takes a second, and servers start meanwhile
        GradebookWriter,
        open_gradebook,
        register,
    )

    whole = register(assignment)
    if said := remark(whole):
        tell(said)
    with open_gradebook(assignment.root) as gradebook:
        recorder = GradebookWriter(gradebook, assignment)
        for batch in engine.batches(read_all(assignment, folders, whole, left)):
            left += recorder.record(batch)
            for submission, result in batch:
                results[submission.student] = replace(result, outputs={})
                on_result(result)
    graded = [results[student] for student in folders if student in results]
    if left:
        raise NotAllGraded(left, graded)
    return graded


def make_engine(
    assignment: Assignment, folders: Mapping[str, Path], options: Options, tell: Tell = lambda sentence: None
) -> "Engine":
    """An engine with as many workers as there is work for, and the course's store. If there is any, it starts."""
    digests, modules = look_ahead(assignment, folders)
    settings = settings_for(assignment, options.isolation, modules)
    pool = make_pool(settings, min(options.workers or cores(), len(folders)), options.scheduler)
    store, rules = Store(assignment.root / ".autograder" / "store"), rules_digest(assignment)
    new = sum(options.fresh or not store.holds(job_id(digest, rules, settings)) for digest in digests)
    if new:
        tell(
            f"{new} of {len(folders)} submissions to be run: {_starting(settings, options)}, and running the solution on new inputs."
        )
        pool.warm_up()
    else:
        tell("Nothing to run: nothing has changed since the last grading.")
    from autograder.grading.engine import Engine  # start-up: servers start meanwhile

    engine = Engine(assignment, store, options.isolation, pool, options.fresh)
    if new:
        engine.start()
    return engine


def warm_engine(assignment: Assignment, options: Options) -> "Engine":
    """An engine for whatever will come, with the course's store. It starts, and its servers stay until it is closed."""
    settings = settings_for(assignment, options.isolation)
    pool = make_pool(settings, options.workers or cores(), options.scheduler)
    pool.warm_up()
    from autograder.grading.engine import Engine  # start-up: as above

    store = Store(assignment.root / ".autograder" / "store")
    engine = Engine(assignment, store, options.isolation, pool)
    engine.start()
    return engine


def _starting(settings: Settings, options: Options) -> str:
    where = "without a jail, with your own permissions" if settings.isolation == "none" else "in the jail"
    ahead = dict.fromkeys(module.partition(".")[0] for module in settings.modules)
    imports = f", which import {', '.join(ahead)}" if ahead else ""
    return f"asking {options.scheduler}" if options.scheduler else f"starting servers {where}{imports}"


def make_pool(settings: Settings, workers: int, scheduler: str) -> Pool:
    """`workers` servers here, or the workers of the cluster at `scheduler`. Raises CourseError where Dask is missing."""
    if not scheduler:
        return LocalPool(settings, workers)
    try:
        from autograder.pool.cluster import ClusterPool  # optional: dask
    except ModuleNotFoundError as error:
        if error.name not in CLUSTER_PACKAGES:
            raise
        raise CourseError(
            f"--scheduler {scheduler} needs {error.name}, which is not installed: run `{install_command('cluster')}`."
        ) from None
    return ClusterPool(settings, scheduler)


def look_ahead(assignment: Assignment, folders: Mapping[str, Path]) -> tuple[list[str], list[str]]:
    """What was handed in, by its digests, and the modules to import ahead for it beside what the release needs.

    A module is imported ahead when some notebook holds its words more often than the release does, as code or not:
    that costs seconds at most. A notebook that was not looked at imports what it needs itself.
    """
    needed_for = assignment.settings.preload_where
    released = assignment.release.read_bytes() if assignment.release.exists() else b""
    usual = {sign: released.count(sign.encode()) for sign in needed_for}
    digests, left = [], LOOK_BYTES
    seen: set[str] = set()
    for folder in folders.values():
        try:
            blob = read_regular_file(folder, assignment.file, min(left, LOOK_EACH))
        except (Unreadable, OSError):  # said when it is read to be graded
            continue
        left -= len(blob)
        digests.append(hashlib.sha256(blob).hexdigest())
        seen |= {sign for sign in usual.keys() - seen if blob.count(sign.encode()) > usual[sign]}
    return digests, [module for sign, module in needed_for.items() if sign in seen]


def read_all(
    assignment: Assignment, folders: Mapping[str, Path], release: NotebookNode, left: list[LeftOut]
) -> Iterator[Submission]:
    """One after the other, as they are needed: a class is larger than memory. Whom, or whose time, it cannot read it adds to `left`."""
    for student, folder in folders.items():
        try:
            submission = read_submission(folder, student, assignment, release)
        except NotRead as error:
            left.append(LeftOut(student, str(error)))
        except Exception as error:  # ours, and no reason to grade nobody
            logging.getLogger(__name__).exception("%s was not graded.", student)
            fault = f"{type(error).__name__}: {error}".removesuffix(": ")
            left.append(
                LeftOut(
                    student,
                    f"This submission could not be read because of a fault in the autograder: {fault}. Send the traceback "
                    "above to the course's authors.",
                )
            )
        else:
            troubles = (submission.time_unread, GRADED_IN_TIME), (submission.another, GRADED_AS_IT_IS)
            for trouble, what_to_do in troubles:
                named = LeftOut(student, f"{trouble} {what_to_do}")
                if trouble and named not in left:
                    left.append(named)
            yield submission
