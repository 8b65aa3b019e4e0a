"""`autograder demo`: what an instructor sees before reading a line. Real grading, in a copy that is the course's no more."""

import json
import shutil
from pathlib import Path

import pytest

from autograder.authoring.demo import copy_course, for_a_demonstration, make_class
from autograder.checks.status import Status
from autograder.course import Assignment, assignments
from autograder.errors import CourseError
from autograder.gradebook.gradebook import open_gradebook
from autograder.gradebook.history import read_history
from autograder.gradebook.queries import class_scores
from autograder.settings import course_directory
from tests.autograder.commands import command
from tests.conftest import ASSIGNMENTS, ROOT

pytestmark = pytest.mark.slow

NAME = "01_describing"


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course whose settings say where its own gradebook is."""
    folder = tmp_path_factory.mktemp("course") / "statistics"
    shutil.copytree(ROOT / "examples" / "statistics", folder)
    settings = folder / "nbgrader_config.py"
    settings.write_text(f"{settings.read_text()}\nc.CourseDirectory.db_url = 'sqlite:///{folder}/real.db'\n")
    return folder


@pytest.fixture(scope="module")
def shown(course, tmp_path_factory, jail_possible) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("demo") / "class"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(course)
        return folder, command("demo", "--folder", folder, "--no-browser")


def test_the_course_itself_is_not_touched(course, shown):
    there = {
        path.relative_to(ROOT / "examples" / "statistics")
        for path in (ROOT / "examples" / "statistics").rglob("*")
    }
    now = {path.relative_to(course) for path in course.rglob("*")}
    assert not [path for path in now - there if "__pycache__" not in path.parts]
    assert course_directory(shown[0]).db_url == f"sqlite:///{shown[0]}/gradebook.db"


def test_twenty_are_graded_each_as_made(shown):
    folder, _ = shown
    one = Assignment(folder, NAME)
    with open_gradebook(folder) as gradebook:
        scores = class_scores(gradebook, NAME)
    students = {student.id: student.kind for student in make_class(one)}
    assert scores.keys() == students.keys() and len(scores) == 20
    assert sum(score.penalty > 0 for score in scores.values()) == 2
    by_kind = {kind: read_history(one, student) for student, kind in students.items()}
    checks = {
        kind: [known.by_cell()[check].status for check in one.by_check_id] for kind, known in by_kind.items()
    }
    for right in ("everything right", "right in another way", "looks for the solutions"):
        assert set(checks[right]) == {Status.PASSED}
    assert set(checks["nothing answered"]) == {Status.MISSING}
    # What can be read of it counts, and a note says what is lost.
    broken = by_kind["a file damaged in transit"]
    assert set(checks["a file damaged in transit"]) == {Status.PASSED, Status.MANUAL}
    assert any(note.startswith("The file breaks off") for note in broken.notes)
    assert Status.TIMEOUT in checks["never returns in one exercise"]
    assert any(verdict.mistake for verdict in by_kind["a frequent mistake"].verdicts)


def test_what_there_is_to_look_at_is_printed_and_is_there(shown):
    folder, said = shown
    assert (folder / "report.html").exists() and str(folder / "report.html") in said
    assert "autograder collect download.zip" in said and "For Moodle:" in said
    pages = list(folder.glob("feedback/*/*/*.html"))
    assert len(pages) == said.count("Feedback  ") and pages
    assert not any("<script>alert" in page.read_text() for page in pages)


def test_a_folder_with_something_in_it_is_left_alone(course, tmp_path):
    (tmp_path / "mine").write_text("")
    with pytest.raises(CourseError, match="not empty"):
        copy_course(course, tmp_path)


def test_the_notebooks_have_one_to_show():
    assert for_a_demonstration(assignments(ROOT)).name in ASSIGNMENTS
    for student in make_class(ASSIGNMENTS["02_attention"]):
        if "damaged" not in student.kind:
            assert "BEGIN SOLUTION" not in json.dumps(json.loads(student.content))


def test_no_two_of_many_have_written_the_same():
    """What is graded by hand looks as a class's answers do, of different lengths."""
    texts = set()
    for student in make_class(ASSIGNMENTS["02_attention"], hostile=False):
        if "damaged" not in student.kind and student.kind != "nothing answered":
            cells = json.loads(student.content)["cells"]
            texts.add(
                tuple(
                    "".join(cell["source"])
                    for cell in cells
                    if "-reflection-" in str(cell["metadata"].get("nbgrader"))
                )
            )
    assert len(texts) == 18 and all(all(answers) for answers in texts)
