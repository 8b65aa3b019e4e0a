"""Every place at which nbgrader is changed, or its private parts are called, because no setting does it.

Each function says what nbgrader does, what a user would lose by it, and which issue upstream is about it. All were seen with
nbgrader 0.9.6, the version that pyproject.toml pins. `tests/autograder/test_nbgrader_patches.py` fails for a patch that
nbgrader no longer needs or no longer accepts. `nbgrader_steps.configure` applies them in nbgrader's programs; our own commands
need only `find_schema_version`, `log_no_traceback` and `save_cells`. `notebooks_to_convert` serves `nbgrader_steps`, too.

Students have one more, for Validate, in `checks.validating`: their installation holds nothing of ours but `checks`.

What is imported within a function takes half a second or more; our own commands do without it.
"""

import functools
import glob
import logging
import os
import re
import secrets
import shlex
import warnings
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from jinja2 import Environment
    from nbconvert.exporters import HTMLExporter
    from nbformat import NotebookNode
    from nbgrader.api import Gradebook
    from nbgrader.converters import Autograde, BaseConverter, GenerateAssignment


def _wrap(owner: Any, name: str, change: Callable[[Callable], Callable]) -> None:
    """Replace `owner.name` with `change(its original)`. A second call replaces the first, and wraps nothing twice.

    Not by `__wrapped__`: a handler's own wrapping, which asks for a login, stays around it.
    """
    found = getattr(owner, name)
    original = getattr(found, "of_nbgrader", found)
    ours: Any = functools.wraps(original)(change(original))
    ours.of_nbgrader = original
    setattr(owner, name, ours)


# Generating and grading ---------------------------------------------------------------------------------


def use_converters(generate: "type[GenerateAssignment]", autograde: "type[Autograde]") -> None:
    """Have `nbgrader generate_assignment`, `nbgrader autograde` and formgrader's buttons use our converters.

    nbgrader's own remove the release, or the graded notebook, before they make the new one: after a failure the old one is
    lost. Exporters and preprocessors can be set (jupyter/nbgrader#1376, #1437), the converters cannot. Not reported yet.
    """
    from nbgrader.apps import api, autogradeapp, generateassignmentapp  # start-up: nbgrader

    api.GenerateAssignment = generateassignmentapp.GenerateAssignment = generate
    api.Autograde = autogradeapp.Autograde = autograde


def show_own_words() -> None:
    """Have formgrader's dialogs show what a converter has put into its `told`, and nothing else.

    nbgrader shows the whole log and a traceback, among which an instructor has to find the sentence that helps. Not reported
    yet.
    """
    from nbgrader.apps import api  # start-up: nbgrader

    def change(theirs: Callable) -> Callable:
        def capture_log(converter: Any, *arguments: Any, **options: Any) -> dict[str, Any]:
            shown = theirs(converter, *arguments, **options)
            told = getattr(converter, "told", "")
            return {"success": shown["success"], "log": told} if told else shown

        return capture_log

    _wrap(api, "capture_log", change)


# Submissions --------------------------------------------------------------------------------------------


def list_students(can_be_a_student: Callable[[str], bool]) -> None:
    """Leave out of formgrader's lists the folders whose names cannot be a student's id.

    nbgrader lists every folder in submitted/, but its commands cut off spaces at the ends of a student's id: the button beside
    "ada " grades what ada handed in, and that beside a name which is not UTF-8 finds nothing. Not reported yet.
    """
    from nbgrader.apps.api import NbGraderAPI  # start-up: nbgrader

    def change(theirs: Callable) -> Callable:
        def get_submitted_students(self: NbGraderAPI, assignment_id: str) -> set[str]:
            return {student for student in theirs(self, assignment_id) if can_be_a_student(student)}

        return get_submitted_students

    _wrap(NbGraderAPI, "get_submitted_students", change)


def read_timestamps(handed_in_at: Callable[[Path], datetime | None]) -> None:
    """Read every timestamp.txt with `handed_in_at`, which gives None where a folder holds no time.

    nbgrader fails at a file that holds no time or cannot be read. In formgrader one such file empties the page of the whole
    class; in `nbgrader autograde` and `nbgrader collect` the error is "'CourseDirectory' object has no attribute 'fail'", which
    helps nobody to find the file. Not reported yet.
    """
    from nbgrader.apps.api import NbGraderAPI  # start-up: nbgrader
    from nbgrader.coursedir import CourseDirectory

    def get_existing_timestamp(self: CourseDirectory, dest_path: str) -> datetime | None:
        return handed_in_at(Path(dest_path))

    def get_submitted_timestamp(self: NbGraderAPI, assignment_id: str, student_id: str) -> datetime | None:
        submitted = self.coursedir.submitted_directory
        return handed_in_at(Path(self.coursedir.format_path(submitted, student_id, assignment_id)))

    _wrap(CourseDirectory, "get_existing_timestamp", lambda _: get_existing_timestamp)
    _wrap(NbGraderAPI, "get_submitted_timestamp", lambda _: get_submitted_timestamp)


def read_zones(read_time: Callable[[str], datetime]) -> None:
    """Read times that name their zone, as in "2026-10-05 23:58:00 +0200", with `read_time`, which raises ValueError.

    nbgrader takes +0200 for 200 seconds, and an abbreviation that it does not know, such as CEST, for UTC: due dates, and
    the times of hand-ins in an exchange with c.Exchange.timezone, are off by hours. Not reported yet.
    """
    from nbgrader import utils  # start-up: nbgrader
    from nbgrader.exchange.default import collect

    def change(theirs: Callable) -> Callable:
        def parse_utc(ts: datetime | str | None) -> datetime | None:
            return read_time(ts) if isinstance(ts, str) and ZONED.search(ts) else theirs(ts)

        return parse_utc

    _wrap(utils, "parse_utc", change)

    def parse_utc(ts: str) -> datetime | None:
        """Of the folders in an exchange, which are only put in order by it: one of them must not stop all others."""
        try:
            return utils.parse_utc(ts)
        except ValueError:
            return utils.parse_utc.__wrapped__(ts)

    collect.parse_utc = parse_utc


ZONED = re.compile(r"\d:\d.*?[\d.)\s](?:[+-]\d|[A-Za-z]{2,})")
"""A time of day, and something behind it that may be a zone."""


# The gradebook ------------------------------------------------------------------------------------------


def find_schema_version() -> None:
    """Let a new gradebook find the version of its tables without a program named `alembic`.

    nbgrader starts that program by its bare name. Where the environment is not activated it is not found, and an empty gradebook
    stays behind that nbgrader later takes for a complete one; where it is found it takes a second. Not reported yet.
    """
    from nbgrader import api  # start-up: nbgrader
    from nbgrader.dbutil import ALEMBIC_DIR

    def get_alembic_version() -> str | None:
        from alembic.script import ScriptDirectory  # start-up: only a new gradebook asks

        return ScriptDirectory(ALEMBIC_DIR).get_current_head()

    _wrap(api, "get_alembic_version", lambda _: get_alembic_version)


def log_no_traceback() -> None:
    """Keep two remarks of nbgrader's gradebook out of the terminal, about which a user can do nothing.

    It logs a traceback of every database error that it raises again, above the sentence that says what to do; and it makes a
    submission's rows in an order that SQLAlchemy warns of, although none is lost. Not reported yet.
    """
    from sqlalchemy.exc import SAWarning  # start-up: sqlalchemy

    logging.getLogger("tornado.application").addFilter(_is_of_no_rollback)
    warnings.filterwarnings("ignore", category=SAWarning, module=r"nbgrader\.api")


def _is_of_no_rollback(record: logging.LogRecord) -> bool:
    return "Rolling back session" not in record.getMessage()


class CellsChanged(Exception):
    """Cells of a notebook that was already handed in were added or removed: `names`, empty where only their kind changed."""

    def __init__(self, names: Iterable[str]):
        super().__init__()
        self.names = sorted(names)


def save_cells(gradebook: "Gradebook", assignment: str, part: str, notebook: "NotebookNode") -> None:
    """Register the cells of an assignment's notebook called `part` in an open gradebook. Raises CellsChanged where there are submissions of other cells.

    nbgrader's SaveCells opens the gradebook itself, and commits after each cell: a run that fails leaves half of the cells
    registered. What it does in an open gradebook is private. Not reported yet.
    """
    from nbgrader.preprocessors import SaveCells  # start-up: nbgrader

    saver = SaveCells()
    saver.gradebook, saver.notebook_id, saver.assignment_id = gradebook, part, assignment
    saver.new_grade_cells, saver.new_solution_cells = {}, {}
    saver.new_task_cells, saver.new_source_cells = {}, {}
    for number, cell in enumerate(notebook.cells):
        saver.preprocess_cell(cell, {}, number)
    try:
        saver._create_notebook(notebook)
    except RuntimeError as error:
        raise CellsChanged(saver.old_source_cells ^ set(saver.new_source_cells)) from error


# Pages --------------------------------------------------------------------------------------------------


def use_exporter(exporter: "type[HTMLExporter]") -> None:
    """Have formgrader make its pages of submissions with this exporter. (For feedback a setting names it.)

    nbgrader's pages hold the HTML and the scripts of a student's notebook as they were written: opened by an instructor, they
    act with the instructor's rights. Not reported yet.

    The exporter's `nonce` is that of the response, and `hosts` are the names of the host that was asked. It is made when a page is
    asked for: formgrader may have been started elsewhere, and have opened this course later.
    """
    from nbgrader.server_extensions.formgrader.base import BaseHandler  # start-up: nbgrader
    from tornado.httputil import split_host_and_port

    def exporter_of(self: BaseHandler) -> "HTMLExporter":
        made: Any = self.settings["nbgrader_exporter"]
        if not isinstance(made, exporter):
            made = exporter(config=self.settings["nbgrader_formgrader"].config)
            self.settings["nbgrader_exporter"] = made
        named = f"{self.request.host},{self.request.headers.get('X-Forwarded-Host', '')}"
        made.nonce = nonce(self)
        made.hosts = tuple(split_host_and_port(name.strip())[0] for name in named.split(",") if name.strip())
        return made

    BaseHandler.exporter = property(exporter_of)


def nonce(handler: Any) -> str:
    """The nonce of a handler's one response, by which its policy knows nbgrader's own scripts."""
    if not hasattr(handler, "_autograder_nonce"):
        handler._autograder_nonce = secrets.token_urlsafe(16)
    return handler._autograder_nonce


def render_with(templates: "Environment", titles: Callable[[Path, str], dict[str, str]]) -> None:
    """Have formgrader render its pages with these templates, to which the nonce of the response is given.

    They are also given the titles of assignments and notebooks, which `titles` finds in the course's folder: nbgrader shows
    names alone.

    nbgrader's own escape nothing: an id in the address, or one in the gradebook, becomes HTML and script as it is, and acts
    with the rights of whoever follows a link. Not reported yet.
    """
    from nbgrader.server_extensions.formgrader.base import BaseHandler  # start-up: nbgrader

    def render(self: BaseHandler, name: str, **values: Any) -> str:
        known = titles(Path(self.coursedir.root), values.get("assignment_id", ""))
        return templates.get_template(name).render(**values, titles=known, nonce=nonce(self))

    _wrap(BaseHandler, "render", lambda _: render)


def send_policies(of_pages: Callable[[str], str], of_files: str) -> None:
    """Send these content security policies with formgrader's pages and with the files of a submission, after Jupyter's own.

    `of_pages` makes the policy of a nonce. nbgrader sends none of its own, and serves a student's files under Jupyter's address,
    where a script in an HTML file acts with its reader's rights. A header in ServerApp's settings would be sent with every page of
    JupyterLab. Not reported yet; about the policy for frames there is jupyter/nbgrader#1870.
    """
    from nbgrader.server_extensions.formgrader import handlers  # start-up: nbgrader

    _send_policy(handlers.BaseHandler, of_pages)
    _send_policy(handlers.SubmissionFilesHandler, lambda nonce: of_files)


def _send_policy(handler: Any, policy: Callable[[str], str]) -> None:
    """Jupyter's own policy says who may frame a page. If a directive occurs twice, the first one counts."""
    from jupyter_server.base.handlers import JupyterHandler  # start-up: jupyter_server

    their_property: Any = JupyterHandler.content_security_policy
    jupyters = their_property.fget
    handler.content_security_policy = property(lambda self: f"{jupyters(self)}; {policy(nonce(self))}")


def send_answers_as_text() -> None:
    """Send what formgrader's pages fetch as plain text.

    nbgrader sends it as HTML, so that a browser that is led to such an address draws a student's name, or a comment, as a page.
    Not as JSON: jQuery would parse it, and nbgrader's scripts parse it themselves. Not reported yet.
    """
    from nbgrader.server_extensions.formgrader.base import BaseApiHandler  # start-up: nbgrader

    def change(theirs: Callable) -> Callable:
        def set_default_headers(self: BaseApiHandler) -> None:
            theirs(self)
            self.set_header("Content-Type", "text/plain; charset=UTF-8")

        return set_default_headers

    _wrap(BaseApiHandler, "set_default_headers", change)


def open_courses_for_jupyterlab_alone() -> None:
    """Let formgrader change to the course in another folder only when JupyterLab's menu asks for it.

    nbgrader runs the nbgrader_config.py of whatever folder the address names, also one that a student has handed in: who follows a
    link to /formgrader?path=submitted/mallory/… runs the student's program with all rights. Not reported yet.
    """
    from nbgrader.server_extensions.formgrader.handlers import FormgraderHandler  # start-up: nbgrader
    from tornado.web import HTTPError

    def change(theirs: Callable) -> Callable:
        def get(self: FormgraderHandler) -> Any:
            path = self.get_argument("path", "")
            if path and (not _by_jupyterlab(self) or _is_of_students(path, self.coursedir)):
                raise HTTPError(
                    400,
                    "Formgrader opens the course of another folder only from JupyterLab's menu (Nbgrader, Formgrader (local)), "
                    "and never in a folder of submissions, because it would run the nbgrader_config.py there.",
                )
            return theirs(self)

        return get

    _wrap(FormgraderHandler, "get", change)


def _by_jupyterlab(handler: Any) -> bool:
    """Whether a frame in a page of this server asks, as JupyterLab does. A link that a person follows opens no frame.

    Browsers say so wherever the connection is encrypted or stays on the machine; elsewhere they at least name the page.
    """
    headers = handler.request.headers
    if site := headers.get("Sec-Fetch-Site"):
        return site == "same-origin" and headers.get("Sec-Fetch-Dest") in ("iframe", "frame")
    page = urlsplit(headers.get("Referer", ""))
    return page.netloc == handler.request.host and "/formgrader" not in page.path


def _is_of_students(path: str, coursedir: Any) -> bool:
    """Whether a path leads through a folder in which students' files lie."""
    folders = {coursedir.submitted_directory, coursedir.autograded_directory, coursedir.feedback_directory}
    return not folders.isdisjoint(Path(os.path.realpath(path)).parts)


# Feedback -----------------------------------------------------------------------------------------------


def take_ids_literally() -> None:
    """Let `nbgrader generate_feedback` and formgrader's button make the page of a student called [ab], and no other.

    nbgrader takes ids for patterns (jupyter/nbgrader#1843): [ab] means a and b, and the student gets no feedback. A pattern
    that is nobody's id still is one, and * always means everybody.
    """
    from nbgrader.converters import GenerateFeedback  # start-up: nbgrader

    def change(theirs: Callable) -> Callable:
        def init_notebooks(self: GenerateFeedback) -> None:
            found = notebooks_to_convert(self)
            self.assignments = {folder: notebooks for folder, notebooks in found.items() if notebooks}
            self.notebooks = []
            if not self.assignments:
                theirs(self)  # says so

        return init_notebooks

    _wrap(GenerateFeedback, "init_notebooks", change)


def notebooks_to_convert(converter: "BaseConverter") -> dict[str, list[str]]:
    """The notebooks in the folder of each student who is meant: of the one with just this id, else of a pattern's students.

    * always means everybody, though somebody may be called so.
    """
    name, student = converter.coursedir.assignment_id, converter.coursedir.student_id
    literally = student != "*" and os.path.isdir(converter._format_source(name, student))
    pattern = converter._format_source(glob.escape(name), glob.escape(student) if literally else student)
    file = f"{converter.coursedir.notebook_id}.ipynb"
    return {folder: glob.glob(os.path.join(glob.escape(folder), file)) for folder in glob.glob(pattern)}


def release_feedback_of_a_part() -> None:
    """Let `nbgrader release_feedback` name the students who did not hand in through the exchange, and serve the others.

    nbgrader ends with a traceback at the first page without a submission_secret.txt beside it (jupyter/nbgrader#1897), and
    everybody after that student gets no feedback. A class could be set as c.ExchangeFactory.release_feedback; but set by a
    course it would replace the exchange that a hub has set for all courses, such as ngshare's.
    """
    from nbgrader.exchange.default.release_feedback import ExchangeReleaseFeedback  # start-up: nbgrader

    def change(theirs: Callable) -> Callable:
        def copy_files(self: ExchangeReleaseFeedback) -> None:
            outside = _prepare_feedback(
                Path(page) for page in glob.glob(os.path.join(self.src_path, "*.html"))
            )
            if outside:
                self.log.warning(
                    "These students did not hand in through the exchange and cannot fetch from it: %s. `autograder feedback %s --zip` packs "
                    "their pages for Moodle or Canvas.",
                    ", ".join(ascii(student)[1:-1] for student in outside),
                    shlex.quote(self.coursedir.assignment_id),
                )
            before = self.coursedir.student_id_exclude
            self.coursedir.student_id_exclude = ",".join([*filter(None, [before]), *outside])
            try:
                theirs(self)
            finally:
                self.coursedir.student_id_exclude = before

        return copy_files

    _wrap(ExchangeReleaseFeedback, "copy_files", change)


def _prepare_feedback(pages: Iterable[Path]) -> list[str]:
    """The students whose pages have no secret. A page with one and without a time gets an empty time, which is only logged."""
    outside: dict[str, None] = {}
    for page in sorted(pages):
        if not (page.parent / "submission_secret.txt").exists():
            outside[page.parents[1].name] = None
        elif not (page.parent / "timestamp.txt").exists():
            (page.parent / "timestamp.txt").touch()
    return list(outside)
