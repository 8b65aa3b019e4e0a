"""What nbgrader does in a small course of its own, with or without `autograder`'s configuration.

Run in an empty folder as `python -m tests.autograder.nbgrader_symptoms [configured]`. Its last line is a JSON object: for each
function below, whether its symptom was seen.
"""

import asyncio
import json
import logging
import os
import shutil
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

import nbformat
from jupyter_server.serverapp import ServerApp
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader import utils
from nbgrader.api import Gradebook, InvalidEntry
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import compute_checksum
from nbgrader.validator import Validator
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

NAME = "one"
SCRIPT = "<script>alert('from a student')</script>"
SETTINGS = """
c = get_config()
c.CourseDirectory.course_id = "course"
c.CourseDirectory.root = {root!r}
c.Exchange.root = {root!r} + "/exchange"
"""
CONFIGURED = """
from autograder.nbgrader_plugin import configure
configure(c)
"""


class Course:
    """A folder with a student's submission of an assignment that the gradebook knows."""

    def __init__(self, root: Path, settings: str):
        self.root = root
        self.db_url = f"sqlite:///{root}/gradebook.db"
        root.mkdir()
        os.chdir(root)
        Path("nbgrader_config.py").write_text(SETTINGS.format(root=str(root)) + settings)
        Path("exchange").mkdir()
        Path("exchange").chmod(0o777)
        self.config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
        for step in ("submitted/ada", "autograded/ada"):
            self.write(
                f"{step}/{NAME}/{NAME}.ipynb", new_notebook(cells=[new_markdown_cell(f"Mine. {SCRIPT}")])
            )
        (root / "submitted" / "ada" / NAME / "timestamp.txt").write_text("2026-10-01 10:00:00 UTC")

    def write(self, path: str, notebook: nbformat.NotebookNode) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, file)
        return file

    @property
    def directory(self) -> CourseDirectory:
        return CourseDirectory(config=self.config)

    @property
    def api(self) -> NbGraderAPI:
        return NbGraderAPI(self.directory, config=self.config)

    @contextmanager
    def gradebook(self) -> Iterator[Gradebook]:
        with Gradebook(self.db_url, "course") as gradebook:
            yield gradebook


def graded(points: int, **more: Any) -> dict[str, Any]:
    about = {"grade": True, "solution": False, "locked": True, "task": False, "schema_version": 3}
    return {"nbgrader": {**about, "grade_id": "cell", "points": points, **more}}


# The gradebook


def no_gradebook_without_alembic_on_path(course: Course) -> bool:
    path, os.environ["PATH"] = os.environ["PATH"], ""
    try:
        with course.gradebook():
            return False
    except FileNotFoundError:
        return True
    finally:
        os.environ["PATH"] = path


def an_error_is_logged_with_a_traceback(course: Course) -> bool:
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append
    logging.getLogger("tornado.application").addHandler(handler)
    with course.gradebook() as gradebook:
        gradebook.add_student("twice")
        with suppress(InvalidEntry):
            gradebook.add_student("twice")
    return any(record.exc_info for record in records)


def a_submission_makes_sqlalchemy_warn(course: Course) -> bool:
    seen: list[str] = []
    show, warnings.showwarning = warnings.showwarning, lambda message, *more: seen.append(str(message))
    with course.gradebook() as gradebook:
        gradebook.add_assignment(NAME)
        gradebook.add_notebook(NAME, NAME)
        gradebook.add_student("ada")
        gradebook.add_submission(NAME, "ada")
    warnings.showwarning = show
    return any("not in session" in words for words in seen)


# Generating and grading


def a_source_with_a_fault(course: Course) -> Path:
    """The path of the release that was made before the fault."""
    cells = [new_code_cell("assert True", metadata=graded(1)) for _ in range(2)]  # of the same name
    course.write(f"source/{NAME}/{NAME}.ipynb", new_notebook(cells=cells))
    return course.write(f"release/{NAME}/{NAME}.ipynb", new_notebook())


def a_failure_removes_the_release(course: Course) -> bool:
    release = a_source_with_a_fault(course)
    assert not course.api.generate_assignment(NAME, force=True)["success"]
    return not release.exists()


def a_dialog_shows_a_traceback(course: Course) -> bool:
    a_source_with_a_fault(course)
    return "error" in course.api.generate_assignment(NAME, force=True)


def a_failure_removes_the_graded_notebook(course: Course) -> bool:
    shutil.rmtree(course.root / "release", ignore_errors=True)
    assert not course.api.autograde("unknown", "ada")["success"]
    for step in ("submitted/ada", "autograded/ada"):
        course.write(f"{step}/two/two.ipynb", new_notebook())  # which was never generated
    assert not course.api.autograde("two", "ada")["success"]
    return not (course.root / "autograded" / "ada" / "two" / "two.ipynb").exists()


# Submissions


def a_button_belongs_to_another_student(course: Course) -> bool:
    """Whether formgrader lists a folder "ada ", whose name nbgrader shortens to that of another student."""
    odd = course.root / "submitted" / "ada " / NAME
    odd.mkdir(parents=True)
    directory = course.directory
    listed = {one["student"] for one in course.api.get_submissions(NAME)}
    directory.student_id = "ada "
    odd.rmdir()
    odd.parent.rmdir()
    assert "ada" in listed
    return "ada " in listed and directory.student_id == "ada"


@contextmanager
def a_timestamp_without_a_time(course: Course) -> Iterator[Path]:
    file = course.root / "submitted" / "ada" / NAME / "timestamp.txt"
    before = file.read_text()
    file.write_text("yesterday")
    yield file.parent
    file.write_text(before)


def a_timestamp_without_a_time_empties_the_list(course: Course) -> bool:
    with a_timestamp_without_a_time(course):
        try:
            course.api.get_submissions(NAME)
        except ValueError:
            return True
        return False


def a_timestamp_without_a_time_ends_a_command(course: Course) -> bool:
    with a_timestamp_without_a_time(course) as folder:
        try:
            return course.directory.get_existing_timestamp(str(folder)) is not None
        except AttributeError:
            return True


def an_offset_is_read_as_seconds(course: Course) -> bool:
    return utils.parse_utc("2026-10-05 23:58:00 +0200").hour != 21


def an_abbreviation_is_read_as_utc(course: Course) -> bool:
    return utils.parse_utc("2026-10-05 23:58:00 CEST").hour != 21


# Feedback


def feedback_ends_at_the_first_student_outside_the_exchange(course: Course) -> bool:
    for student in ("ada", "bob"):
        page = course.root / "feedback" / student / NAME / f"{NAME}.html"
        page.parent.mkdir(parents=True)
        page.write_text(student)
        (page.parent / "timestamp.txt").write_text("2026-10-01 10:00:00 UTC")
    (page.parent / "submission_secret.txt").write_text("bob's")
    answer = course.api.release_feedback(NAME)
    released = [page.read_text() for page in (course.root / "exchange").rglob("*.html")]
    return not answer["success"] or released != ["bob"]


# Pages


def fetch(course: Course, *paths: str) -> list[tuple[str, Message]]:
    """These pages, each with its headers, from a Jupyter server with formgrader in the course's folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = Config()
    config.ServerApp.jpserver_extensions = {"nbgrader.server_extensions.formgrader": True}
    config.ServerApp.update(root_dir=str(course.root), port=port, open_browser=False, allow_root=True)
    config.ServerApp.update(disable_check_xsrf=True, log_level="CRITICAL")
    config.IdentityProvider.token = ""
    server = ServerApp(config=config)
    server.initialize(argv=[])

    def read(path: str) -> tuple[str, Message]:
        try:
            answer = urlopen(f"http://127.0.0.1:{port}{path}", timeout=60)
        except HTTPError as error:
            answer = error
        with answer:
            return answer.read().decode(), answer.headers

    async def answers() -> list[tuple[str, Message]]:
        return [await asyncio.to_thread(read, path) for path in paths]

    try:
        return asyncio.get_event_loop().run_until_complete(answers())
    finally:
        server.http_server.stop()
        ServerApp.clear_instance()


def pages_of_a_submission(course: Course) -> dict[str, bool]:
    """The symptoms of one server."""
    (course.root / "autograded" / "ada" / NAME / "page.html").write_text(SCRIPT)
    program = course.root / "submitted" / "ada" / NAME / "nbgrader_config.py"
    program.write_text("from pathlib import Path\nPath(__file__).with_name('ran').touch()")
    with course.gradebook() as gradebook:
        submission = gradebook.find_submission_notebook(NAME, NAME, "ada").id
        gradebook.update_or_create_student("ada", first_name=SCRIPT)
    place = f"/formgrader/submissions/{submission}"
    (page, _), (_, of_file), (around, of_around), (answer, of_answer), _ = fetch(
        course,
        f"{place}/",
        f"{place}/page.html",
        f"/formgrader/manage_students/{quote(SCRIPT, safe='')}",
        "/formgrader/api/students",
        f"/formgrader?path={quote(str(program.parent))}",
    )
    assert "Mine. " in page and "manage_students_assignments.js" in around and SCRIPT in answer
    return {
        "a_students_script_is_in_the_page": SCRIPT in page,
        "a_students_file_may_run_scripts": "sandbox" not in of_file["Content-Security-Policy"],
        "formgraders_pages_may_load_anything": "default-src" not in of_around["Content-Security-Policy"],
        "an_id_becomes_a_script": SCRIPT in around,
        "an_answer_to_a_script_is_a_page": "html" in of_answer["Content-Type"],
        "a_link_runs_a_students_program": program.with_name("ran").exists(),
    }


# Validate


def validate_names_no_question(course: Course) -> bool:
    question = new_markdown_cell("What is a *query*?")
    answer = new_markdown_cell("*Your answer.*", metadata=graded(2, solution=True, locked=False))
    answer.metadata.nbgrader.checksum = compute_checksum(answer)  # nothing was written
    notebook = course.write("mine.ipynb", new_notebook(cells=[question, answer]))
    (failed,) = Validator().validate(str(notebook))["failed"]
    return "What is a query?" not in failed["source"] + failed["raw_error"]


IN_ORDER = (  # a new gradebook first, then what fills it
    no_gradebook_without_alembic_on_path,
    an_error_is_logged_with_a_traceback,
    a_submission_makes_sqlalchemy_warn,
    a_button_belongs_to_another_student,
    a_timestamp_without_a_time_empties_the_list,
    a_timestamp_without_a_time_ends_a_command,
    an_offset_is_read_as_seconds,
    an_abbreviation_is_read_as_utc,
    feedback_ends_at_the_first_student_outside_the_exchange,
    a_failure_removes_the_release,
    a_dialog_shows_a_traceback,
    a_failure_removes_the_graded_notebook,
    validate_names_no_question,
)


def main() -> None:
    course = Course(Path.cwd() / "course", CONFIGURED if "configured" in sys.argv[1:] else "")
    seen = {}
    for symptom in IN_ORDER:
        seen[symptom.__name__] = symptom(course)
        if symptom is no_gradebook_without_alembic_on_path:
            Path("gradebook.db").unlink()
            os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    seen |= pages_of_a_submission(course)
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
