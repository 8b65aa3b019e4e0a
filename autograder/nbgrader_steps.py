"""nbgrader's Autograde and GenerateAssignment through our engine. `configure` puts them in the place of nbgrader's.

Generate       instead of GenerateAssignment: everything is made aside, then swapped in
Grade          instead of Autograde: it reads, grades and records as `autograder grade` does, a failure is one sentence,
               and what was graded before stays

What no setting of nbgrader's reaches is in `nbgrader_patches`, which `configure` applies.
"""

import logging
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.converters.base import NbGraderException
from traitlets.config import Config

from autograder import nbgrader_patches
from autograder.authoring import builder
from autograder.checks.status import Status
from autograder.checks.validating import name_what_fails
from autograder.course import Assignment, composed
from autograder.errors import CourseError, JailError, ServerDied
from autograder.files import UNWRITABLE, course_lock, restored_on_failure
from autograder.generating import generate
from autograder.gradebook.gradebook import (
    GradebookWriter,
    explained_faults,
    register,
    registering,
)
from autograder.gradebook.summary import FeedbackPages
from autograder.grading.engine import Engine
from autograder.grading.old_points import OldPoints, scores_with_old_points
from autograder.grading.reference import own_server
from autograder.grading.run import NotAllGraded
from autograder.grading.store import Store
from autograder.kernels import remark
from autograder.registered import registered_release
from autograder.results import Result
from autograder.untrusted.pages import A_STUDENTS_FILE, Pages, policy_of_formgrader
from autograder.untrusted.staging import staged
from autograder.untrusted.submission import (
    LeftOut,
    NotRead,
    Submission,
    can_be_a_student,
    left_out,
    read_handed,
    read_submission,
    students,
    time_of,
)
from autograder.untrusted.templates import formgraders
from autograder.untrusted.times import read_time
from autograder.untrusted.titles import titles

WRAP = textwrap.TextWrapper(78, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def configure(c: Config) -> None:
    """Put our steps in the place of nbgrader's. Called by nbgrader_config.py, through `autograder.nbgrader_plugin`."""
    nbgrader_patches.use_converters(Generate, Grade)
    nbgrader_patches.show_own_words()
    nbgrader_patches.list_students(can_be_a_student)
    nbgrader_patches.read_timestamps(_handed_in_at)
    nbgrader_patches.read_zones(lambda text: read_time(text, UTC))
    nbgrader_patches.find_schema_version()
    nbgrader_patches.log_no_traceback()
    nbgrader_patches.use_exporter(Pages)
    nbgrader_patches.render_with(formgraders(), titles)
    nbgrader_patches.send_policies(policy_of_formgrader, A_STUDENTS_FILE)
    nbgrader_patches.send_answers_as_text()
    nbgrader_patches.open_courses_for_jupyterlab_alone()
    nbgrader_patches.take_ids_literally()
    nbgrader_patches.release_feedback_of_a_part()
    name_what_fails()
    c.GenerateFeedback.exporter_class = FeedbackPages


def _handed_in_at(folder: Path) -> datetime | None:
    try:
        return time_of(folder)[0]
    except NotRead:
        return None


class Generate(GenerateAssignment):
    """Makes the release, the answer key and the gradebook's rows aside, and swaps them in when nothing can fail any more.

    nbgrader's own deletes the release first and writes its rows one by one. The source is the script, so that
    what was edited in it counts although nobody ran `autograder build`.
    """

    told = ""

    def start(self) -> None:
        """Make everything, or change nothing. Raises NbGraderException after saying in the log what is wrong."""
        root, name = Path(self.coursedir.root), self.coursedir.assignment_id
        notebooks = Assignment(root, name).notebooks  # of a missing one, `generate` says so
        releases = [notebook.release for notebook in notebooks]
        if all(release.exists() for release in releases) and not self.force:
            there, verb = " and ".join(map(str, releases)), "is" if len(releases) == 1 else "are"
            self.log.info("%s %s there already: --force creates it again.", there, verb)
            return
        try:
            old_points = self._generate(root, notebooks)
        except (CourseError, JailError, ServerDied) as error:
            self.told = f"{_in_lines(str(error))}\nNothing was changed.\n"
            self.log.error("%s", self.told.rstrip())
            raise NbGraderException("see the log above") from None
        for release in releases:
            self.log.info("Made %s with its answer key.", release)
        for of_one in old_points:
            self.log.warning("%s", _in_lines(str(of_one)))

    def _generate(self, root: Path, notebooks: list[Assignment]) -> list[OldPoints]:
        generated = {notebook: generate(notebook) for notebook in notebooks}
        made: dict[Path, bytes | None] = {}
        with own_server(root) as server:
            for notebook, of_it in generated.items():
                made |= builder.products(server, notebook, of_it)
        if self.no_database:
            builder.put(made)
        else:
            cells = {notebook: of_it.cells for notebook, of_it in generated.items()}
            with course_lock(root), registering(cells):
                builder.put(made)
        return list(filter(None, map(scores_with_old_points, notebooks)))


class Grade(Autograde):
    """Grades as nbgrader does. It would remove the graded notebook of before, and show a failure as a traceback."""

    told = ""
    _staged: Mapping[str, Path] = {}  # instead of the folder in `submitted/`, by student
    _engines: dict[Assignment, Engine]

    def init_notebooks(self) -> None:
        """nbgrader's, which takes a folder's name for a pattern: of [ab] it would grade what a has handed in."""
        files_in = nbgrader_patches.notebooks_to_convert(self)
        self.assignments = {folder: notebooks for folder, notebooks in files_in.items() if notebooks}
        for folder in files_in.keys() - self.assignments:
            self.log.warning("There is no notebook in %s.", ascii(folder))
        if not self.assignments:
            for hand_in in self._left_out():
                self._tell(str(hand_in))
            where = self._format_source(self.coursedir.assignment_id, self.coursedir.student_id)
            self._tell(
                f"There is no notebook in {where}: put the student's notebook there, named {self._files}."
            )
            raise NbGraderException("There is nothing to grade, see the log above")

    def _left_out(self) -> list[LeftOut]:
        """Who would be meant, and cannot be graded: nbgrader passes over them, or stops."""
        submitted, name = self._submitted, self.coursedir.assignment_id
        left = left_out(submitted, name)
        for student, folder in students(submitted, name):
            if str(folder) not in self.assignments:
                try:
                    read_handed(folder, self._meant[0])
                except NotRead as error:
                    left.append(LeftOut(student, str(error)))
        wanted = self.coursedir.student_id
        return [
            hand_in for hand_in in left if wanted == hand_in.student or fnmatchcase(hand_in.student, wanted)
        ]

    @property
    def _submitted(self) -> Path:
        return Path(self.coursedir.root) / self.coursedir.submitted_directory

    def convert_notebooks(self) -> None:
        """Grade everybody who is meant, in servers that end with this run."""
        self._engines = {}
        with ExitStack() as self._open:
            self._grade_everybody()

    def engine(self, assignment: Assignment) -> Engine:
        """The engine of this run, which draws inputs of its own. Its servers start with the first submission."""
        if assignment not in self._engines:
            store = Store(assignment.root / ".autograder" / "store")
            self._engines[assignment] = self._open.enter_context(Engine(assignment, store))
            if said := remark(self._engines[assignment].release):
                self._tell(said, logging.WARNING)
        return self._engines[assignment]

    def _grade_everybody(self) -> None:
        left = self._left_out()
        for hand_in in left:
            self._tell(str(hand_in))
        failed = len(left)
        for folder, notebooks in sorted(self.assignments.items()):
            if not can_be_a_student(Path(folder).parent.name):
                continue  # it was named
            student = self.init_single_notebook_resources(notebooks[0])["nbgrader"]["student"]
            try:
                with restored_on_failure(Path(self._format_dest(self.coursedir.assignment_id, student))):
                    self._grade(student, sorted(notebooks))
            except NotAllGraded as error:
                self._tell("\n".join(map(str, error.left)))
                failed += 1
            except (CourseError, JailError, ServerDied) as error:
                self._tell(f"{student} was not graded. {error}\nThe earlier grade is unchanged.")
                failed += 1
            except UNWRITABLE as error:
                self._tell(
                    f"{student} was not graded: {error.filename} cannot be read or written ({error.strerror}). "
                    "Correct its permissions."
                )
                failed += 1
            except Exception as error:
                logging.getLogger(__name__).exception("%s was not graded.", student)
                self._tell(
                    f"{student} was not graded because of a fault in the autograder: {type(error).__name__}: {error}\n"
                    "The notebook graded earlier was restored. The terminal of JupyterLab, or its log, contains the "
                    "traceback: send it to the course's authors."
                )
                failed += 1
        if failed:
            raise NbGraderException(f"{failed} not graded or not completely recorded, see above") from None

    def _grade(self, student: str, notebooks: list[str]) -> None:
        with staged(Path(notebooks[0]).parent) as (copy, left_out):
            self._staged = {student: copy}
            try:
                self._grade_staged(student, notebooks, left_out)
            finally:
                self._staged = {}

    def _grade_staged(self, student: str, notebooks: list[str], left_out: list[str]) -> None:
        folder = Path(notebooks[0]).parent
        names = [Path(notebook).name for notebook in notebooks]
        there = [meant for meant in self._meant if composed(meant.file) in map(composed, names)]
        if not there:
            raise CourseError(
                f"{folder} contains no {self._files}, only {', '.join(names)}: rename the student's notebook, or record 0 "
                f"points with `autograder grade {shlex.join([self.coursedir.assignment_id, student])}`."
            )
        self.notebooks = [str(folder / meant.file) for meant in there]
        name = self.coursedir.assignment_id
        if not self.init_destination(name, student):
            return
        for path in left_out:
            self.log.warning("%s is not copied: it is not a regular file, or is too large.", ascii(path))
        for meant in self._meant:
            register(meant)
        self.run_pre_convert_hook()
        with explained_faults(self.coursedir.db_url):
            self.init_assignment(name, student)
            graded = self._record(student, folder)
        self.set_permissions(name, student)
        self.run_post_convert_hook()
        self._tell(_summary(graded), logging.INFO)
        if unread := graded[0][0].time_unread:
            self._tell(f"{student} counts as on time: {unread}", logging.WARNING)

    def _format_source(self, assignment_id: str, student_id: str, escape: bool = False) -> str:
        """While a student is graded: a copy, of which nbgrader may follow every name and read every timestamp."""
        if student_id in self._staged:
            return str(self._staged[student_id])
        return super()._format_source(assignment_id, student_id, escape)

    def _record(self, student: str, folder: Path) -> list[tuple[Submission, Result]]:
        """Grade and record every notebook that is meant, as `autograder grade` does: one that is missing gets 0 points.

        What is read is the hand-in itself: of a link, or a file that is too large, the copy lacks what the verdict is about.
        Raises NotAllGraded where the scores are recorded, but files that go with them cannot be written.
        """
        read = [
            read_submission(folder, student, notebook, registered_release(notebook))
            for notebook in self._meant
        ]
        graded, left = [], []
        for notebook, submission in zip(self._meant, read, strict=True):
            self.log.info("Autograding %s", folder / notebook.file)
            graded.append((submission, self.engine(notebook).grade(submission)))
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            for notebook, of_it in zip(self._meant, graded, strict=True):
                left += GradebookWriter(gradebook, notebook, self.coursedir).record([of_it])
        if left:
            raise NotAllGraded(left)
        return graded

    @cached_property
    def _meant(self) -> list[Assignment]:
        """The notebooks of the assignment that are to be graded: all, unless one is named."""
        root, name = Path(self.coursedir.root), self.coursedir.assignment_id
        notebooks = Assignment(root, name).notebooks
        wanted = self.coursedir.notebook_id
        return [one for one in notebooks if fnmatchcase(one.notebook, wanted)] or notebooks

    @property
    def _files(self) -> str:
        return " or ".join(notebook.file for notebook in self._meant)

    def _tell(self, sentence: str, level: int = logging.ERROR) -> None:
        lines = _in_lines(sentence)
        self.told += f"{lines}\n"
        self.log.log(level, "%s", lines)


def _summary(graded: Sequence[tuple[Submission, Result]]) -> str:
    """What a grading of a student's notebooks came to."""
    results = [result for _, result in graded]
    score, most = sum(result.score for result in results), sum(result.max_score for result in results)
    points = f"{graded[0][0].student}: {score:g} of {most:g} points"
    if waiting := sum(verdict.score is None for result in results for verdict in result.verdicts):
        points += f", {waiting} to grade by hand"
    sentences = [points]
    for submission, result in graded:
        if submission.status == Status.MISSING and len(graded) > 1:
            sentences.append(submission.reason.removesuffix("."))
        elif submission.status:
            sentences.append(f"The submission could not be read. {submission.reason}".removesuffix("."))
        elif result.trouble:
            sentences.append(
                "The notebook could not be run to its end; the copy in autograded/ gives the reasons"
            )
    return f"{'. '.join(sentences)}."


def _in_lines(text: str) -> str:
    """Lines that fit into formgrader's dialog, which breaks none."""
    return "\n".join(WRAP.fill(line) for line in text.splitlines())
