"""nbgrader's Autograde through our engine: a safe reader and three preprocessors, set by `configure`. Also generating.

Generate       instead of GenerateAssignment: everything is made aside, then swapped in
Grade          instead of Autograde: a failure is one sentence, and what was graded before stays
SafeReader     instead of the notebook exporter's reader: a file that cannot be read becomes a verdict
Restore        locked cells and all metadata from the release
RunInJail      instead of Execute
SaveVerdicts   instead of SaveAutoGrades and AssignLatePenalties: both or neither
"""

import logging
import os
import stat
import textwrap
import weakref
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.apps import api, autogradeapp, generateassignmentapp
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import CheckCellMetadata, NbGraderPreprocessor
from nbgrader.server_extensions.formgrader.handlers import template_path
from traitlets import Unicode
from traitlets.config import Config

from autograder import builder
from autograder.autograded import fill_outputs
from autograder.course import Assignment
from autograder.engine import Result
from autograder.errors import CourseError
from autograder.files import course_lock, kept
from autograder.gradebook import explained_faults, register, registering, save_scores
from autograder.history import remember
from autograder.jail.client import JailError, Server, ServerDied
from autograder.nbgrader_settings import put_alembic_on_path
from autograder.stale import Stale, stale_scores
from autograder.standing import PromptEngine
from autograder.store import Store
from autograder.submission import Submission, from_notebook, read_handed, restore, to_notebook

OUR_TEMPLATES = Path(__file__).parent / "templates" / "nbgrader"
WRAP = textwrap.TextWrapper(78, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
MARK = "autograder"
"""Notebook metadata that carries a submission's digest, status and reason from reading to running."""


def configure(c: Config) -> None:
    """Put our steps in the place of nbgrader's. Called by nbgrader_config.py."""
    put_alembic_on_path()
    # No setting names these: formgrader and `nbgrader generate_assignment` find them here.
    api.GenerateAssignment = generateassignmentapp.GenerateAssignment = Generate
    api.Autograde = autogradeapp.Autograde = Grade
    api.capture_log = capture_log
    c.Autograde.exporter_class = SafeReader
    c.Autograde.sanitize_preprocessors = [Restore, CheckCellMetadata]
    c.Autograde.autograde_preprocessors = [RunInJail, SaveVerdicts, CheckCellMetadata]
    c.Autograde.pre_convert_hook = remove_links
    c.CourseStep.course = c.CourseDirectory.root
    # Formgrader and feedback: formulas without a network.
    c.HTMLExporter.filters = {"markdown2html": "autograder.formulas.markdown2html"}
    c.HTMLExporter.extra_template_basedirs = [str(OUR_TEMPLATES), template_path]


def remove_links(assignment: str, student: str, notebooks: list[str]) -> None:
    """Remove what is not a regular file from a submission, before nbgrader copies it (following links)."""
    for folder in {Path(notebook).parent for notebook in notebooks}:
        for place, folders, files in os.walk(folder):
            for name in files + [name for name in folders if (Path(place) / name).is_symlink()]:
                path = Path(place) / name
                if not stat.S_ISREG(path.lstat().st_mode):
                    path.unlink()


class Generate(GenerateAssignment):
    """Makes the release, the answer key and the gradebook's rows aside, and swaps them in when nothing can fail any more.

    nbgrader's own deletes the release first and writes its rows one by one. The source is the script, so that
    what was edited in it counts although nobody ran `make notebooks`.
    """

    told = ""

    def start(self) -> None:
        assignment = Assignment(Path(self.coursedir.root), self.coursedir.assignment_id)
        if assignment.release.exists() and not self.force:
            self.log.info("%s is there already: --force makes it again.", assignment.release)
            return
        try:
            stale = self._generate(assignment)
        except (CourseError, JailError, ServerDied) as error:
            self.told = f"{_in_lines(str(error))}\nNothing was changed.\n"
            self.log.error("%s", self.told.rstrip())
            raise NbGraderException("see the log above") from None
        self.log.info("Made notebooks/%s with its answer key.", assignment.name)
        if stale:
            self.log.warning("%s", _in_lines(str(stale)))

    def _generate(self, assignment: Assignment) -> Stale | None:
        generated = builder.generate(assignment)
        with Server(isolation="none") as server:
            made = builder.products(server, assignment, generated)
        if self.no_database:
            builder.put(made)
        else:
            with course_lock(assignment.root), registering(assignment, generated.cells):
                builder.put(made)
        return stale_scores(assignment)


class Grade(Autograde):
    """Grades as nbgrader does. It would remove the graded notebook of before, and show a failure as a traceback."""

    told = ""
    graded: tuple[Submission, Result]  # the last, set by SaveVerdicts

    def init_notebooks(self) -> None:
        try:
            super().init_notebooks()
        except NbGraderException:
            where = self._format_source(self.coursedir.assignment_id, self.coursedir.student_id)
            self._tell(f"There is no notebook in {where}: put the student's there, named {self._file}.")
            raise

    def convert_notebooks(self) -> None:
        failed = 0
        for _, notebooks in sorted(self.assignments.items()):
            student = self.init_single_notebook_resources(notebooks[0])["nbgrader"]["student"]
            try:
                with kept(Path(self._format_dest(self.coursedir.assignment_id, student))):
                    self._grade(student, sorted(notebooks))
            except (CourseError, JailError, ServerDied) as error:
                self._tell(f"{student} was not graded. {error}\nWhat was graded before stays as it was.")
                failed += 1
            except Exception as error:
                logging.getLogger(__name__).exception("%s was not graded.", student)
                self._tell(
                    f"{student} was not graded, by a fault of the autograder: {type(error).__name__}: {error}\n"
                    "The graded notebook of before was put back. The terminal of JupyterLab, or its log, has the "
                    "traceback: send it to the course's authors."
                )
                failed += 1
        if failed:
            raise NbGraderException(f"{failed} not graded, see the log above") from None

    def _grade(self, student: str, notebooks: list[str]) -> None:
        name = self.coursedir.assignment_id
        if not self.init_destination(name, student):
            return
        found = [Path(notebook).name for notebook in notebooks]
        if self._file not in found:
            raise CourseError(
                f"{Path(notebooks[0]).parent} holds no {self._file} but {', '.join(found)}: rename the student's "
                f"notebook, or record 0 points with `autograder grade {name} {student}`."
            )
        register(Assignment(Path(self.coursedir.root), name))
        self.notebooks = notebooks
        self.run_pre_convert_hook()
        with explained_faults(self.coursedir.db_url):
            self.init_assignment(name, student)
            for notebook in self.notebooks:
                self.convert_single_notebook(notebook)
        self.set_permissions(name, student)
        self.run_post_convert_hook()
        self._tell(_summary(*self.graded), logging.INFO)

    @property
    def _file(self) -> str:
        return f"{self.coursedir.assignment_id}.ipynb"

    def _tell(self, words: str, level: int = logging.ERROR) -> None:
        lines = _in_lines(words)
        self.told += f"{lines}\n"
        self.log.log(level, "%s", lines)


def _summary(submission: Submission, result: Result) -> str:
    """What a grading came to."""
    points = f"{submission.student}: {result.score:g} of {result.max_score:g} points"
    if waiting := sum(verdict.score is None for verdict in result.verdicts):
        points += f", {waiting} to grade by hand"
    if submission.status:
        return f"{points}. The submission could not be read. {submission.reason}"
    if result.trouble:
        return f"{points}. The notebook could not be run to its end; autograded/ holds it with the reasons."
    return f"{points}."


def capture_log(converter: Any) -> dict[str, Any]:
    """nbgrader's: what formgrader's dialogs show. Where our own words are, its log and a traceback are of no use."""
    shown = utils.capture_log(converter)
    if told := getattr(converter, "told", ""):
        return {"success": shown["success"], "log": told}
    return shown


def _in_lines(words: str) -> str:
    """Lines that fit into formgrader's dialog, which breaks none."""
    return "\n".join(WRAP.fill(line) for line in words.splitlines())


class SafeReader(NotebookExporter):
    """Reads submissions as `autograder grade` does; what it has written itself it reads as it is."""

    def from_filename(self, filename: str, resources: dict[str, Any] | None = None, **kw: Any):
        where = resources["nbgrader"]
        coursedir = self.parent.coursedir
        own = coursedir.format_path(coursedir.autograded_directory, where["student"], where["assignment"])
        if Path(filename).parent == Path(own):
            return super().from_filename(filename, resources=resources, **kw)
        assignment = Assignment(Path(coursedir.root), where["assignment"])
        folder = Path(filename).absolute().parent
        handed = read_handed(folder, assignment)
        notebook = to_notebook(handed.cells)
        notebook.metadata[MARK] = {"digest": handed.digest, "status": handed.status, "reason": handed.reason}
        return self.from_notebook_node(notebook, resources=resources, **kw)


class CourseStep(NbGraderPreprocessor):
    """A preprocessor that knows the course folder."""

    course = Unicode(help="The course folder.").tag(config=True)

    def assignment(self, resources: dict[str, Any]) -> Assignment:
        return Assignment(Path(self.course), resources["nbgrader"]["assignment"])

    def submission(self, notebook: NotebookNode, resources: dict[str, Any]) -> Submission:
        mark = notebook.metadata[MARK]
        student = resources["nbgrader"]["student"]
        return Submission(student, notebook, mark["digest"], mark["status"], mark["reason"])


class Restore(CourseStep):
    """Puts back what a student must not change: locked cells, points, and every other piece of metadata."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        restored = restore(from_notebook(nb), self.assignment(resources).read_release())
        restored.metadata[MARK] = nb.metadata[MARK]
        return restored, resources


class RunInJail(CourseStep):
    """Runs the notebook in the jail, and puts its outputs and our verdicts into the cells."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        assignment = self.assignment(resources)
        submission = self.submission(nb, resources)
        result = engine_of(self.parent.parent, assignment).grade(submission)
        verdicts = {verdict.grade_id: verdict for verdict in result.verdicts}
        resources["submission"], resources["result"] = submission, result
        shown = {name: verdict for name, verdict in verdicts.items() if name in assignment.by_check_id}
        filled = fill_outputs(nb, result.outputs, shown)
        del filled.metadata[MARK]
        return filled, resources


class SaveVerdicts(CourseStep):
    """Writes the verdicts and the late penalty into the gradebook."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        where, assignment = resources["nbgrader"], self.assignment(resources)
        submission, result = resources["submission"], resources["result"]
        with Gradebook(where["db_url"]) as gradebook:
            save_scores(gradebook, assignment, submission, result.verdicts)
        remember(assignment, submission, result)
        self.parent.parent.graded = submission, result
        return nb, resources


_engines: "weakref.WeakKeyDictionary[Any, dict[str, PromptEngine]]" = weakref.WeakKeyDictionary()


def engine_of(converter: Any, assignment: Assignment) -> PromptEngine:
    """One engine for each run of nbgrader's Autograde: every run draws inputs of its own."""
    engines = _engines.setdefault(converter, {})
    if assignment.name not in engines:
        engines[assignment.name] = PromptEngine(assignment, Store(assignment.root / ".autograder" / "store"))
    return engines[assignment.name]
