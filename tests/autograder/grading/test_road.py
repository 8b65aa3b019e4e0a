"""The whole road: ten submissions through `autograder grade`, and the same ten through nbgrader itself.

The gradebook, the feedback and the JSON report must agree on every cell.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.course import Assignment
from autograder.source import read_source, write_notebook
from tests.autograder import here
from tests.autograder.road import hand_in_ten, make_course, read_report
from tests.conftest import ASSIGNMENTS

pytestmark = pytest.mark.slow

NAME = "02_attention"
BIN = Path(sys.executable).parent


def run(course: Path, *command: str, **environment: str) -> subprocess.CompletedProcess:
    variables = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", **environment}
    return subprocess.run(
        [BIN / command[0], *command[1:]],
        cwd=course,
        env=variables,
        capture_output=True,
        text=True,
        timeout=500,
    )


def rows(course: Path, name: str = NAME) -> dict[tuple[str, str], tuple]:
    """Every score in the gradebook, by student and cell."""
    with Gradebook(f"sqlite:///{course}/gradebook.db", "words-in-context") as gradebook:
        return {
            (submission.student.id, grade.name): (
                grade.auto_score,
                grade.manual_score,
                grade.extra_credit,
                grade.needs_manual_grade,
                grade.max_score_gradecell,
            )
            for submission in gradebook.assignment_submissions(name)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def comments(course: Path) -> dict[tuple[str, str], str | None]:
    with Gradebook(f"sqlite:///{course}/gradebook.db", "words-in-context") as gradebook:
        return {
            (submission.student.id, comment.name): comment.auto_comment
            for submission in gradebook.assignment_submissions(NAME)
            for notebook in submission.notebooks
            for comment in notebook.comments
        }


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course with ten submissions, graded by `autograder grade`, with feedback."""
    course = make_course(tmp_path_factory.mktemp("course"))
    failing = hand_in_ten(course, Assignment(course, NAME))
    done = run(course, "autograder", "grade", NAME, "--json", "report.json")
    assert done.returncode == 0, done.stdout + done.stderr
    feedback = run(course, "nbgrader", "generate_feedback", NAME)
    assert feedback.returncode == 0, feedback.stderr
    return course, failing, done.stdout


@pytest.fixture(scope="module")
def graded_by_nbgrader(tmp_path_factory):
    """The same course graded by plain `nbgrader autograde` with our configuration."""
    course = make_course(tmp_path_factory.mktemp("nbgrader"))
    hand_in_ten(course, Assignment(course, NAME))
    generated = run(course, "nbgrader", "generate_assignment", NAME, "--force")
    assert generated.returncode == 0, generated.stderr
    done = run(course, "nbgrader", "autograde", NAME)
    assert done.returncode == 0, done.stderr
    return course


def test_each_submission_gets_what_it_deserves(graded):
    course, failing, _ = graded
    report = read_report(course / "report.json")
    assert set(report) == set(failing)
    exercises = ASSIGNMENTS[NAME].by_check_id
    for student, entry in report.items():
        for cell in entry["cells"]:
            if cell["grade_id"] in exercises:
                fails = exercises[cell["grade_id"]].name in failing[student]
                assert (cell["status"] == "passed") != fails, (student, cell)
                assert cell["score"] == (0 if fails else cell["max_score"])


def test_statuses_and_mistakes_are_reported(graded):
    course, _, _ = graded
    report = read_report(course / "report.json")
    exercises = list(ASSIGNMENTS[NAME].exercises.values())
    cells = {
        student: {cell["grade_id"]: cell for cell in entry["cells"]} for student, entry in report.items()
    }
    last = exercises[-1].check_id
    for number, exercise in enumerate(exercises[-3:]):
        assert cells[f"mistake-{number + 1}"][exercise.check_id]["mistake"] == exercise.mistakes[0].name
    assert cells["exception"][last]["status"] == "error"
    assert "ValueError: I am stuck" in cells["exception"][last]["reason"]
    assert cells["endless-loop"][last]["status"] == "timeout"
    assert {cell["status"] for cell in cells["empty"].values()} == {"missing"}
    assert {cell["status"] for cell in cells["not-json"].values()} == {"malformed"}
    assert "manual" in {cell["status"] for cell in cells["perfect"].values()}


def test_gradebook_and_report_agree_on_every_cell(graded):
    course, _, _ = graded
    report = read_report(course / "report.json")
    recorded = rows(course)
    reported = {
        (student, cell["grade_id"]): cell for student, entry in report.items() for cell in entry["cells"]
    }
    assert set(recorded) == set(reported)
    for where, (auto, manual, extra, needs_manual, max_score) in recorded.items():
        cell = reported[where]
        assert (auto, manual, max_score) == (cell["score"], None, cell["max_score"])
        assert needs_manual == (cell["status"] == "manual")
        assert (extra or 0) == cell.get("extra_credit", 0)


def test_feedback_shows_each_verdict_and_its_reason(graded):
    course, _, _ = graded
    for student, entry in read_report(course / "report.json").items():
        page = (course / "feedback" / student / NAME / f"{NAME}.html").read_text()
        text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
        for cell in entry["cells"]:
            if cell["grade_id"].endswith("-check"):
                assert f"{cell['grade_id'].removesuffix('-check')}: {cell['status']}" in text, (student, cell)
                for line in cell["reason"].splitlines()[:1]:
                    assert " ".join(line.split())[:60].replace("'", "&#x27;") in text.replace(
                        "&#39;", "&#x27;"
                    ), (student, cell)


def test_feedback_draws_formulas_and_asks_no_other_host(graded):
    course, _, _ = graded
    for student in read_report(course / "report.json"):
        page = (course / "feedback" / student / NAME / f"{NAME}.html").read_text()
        assert "cdnjs" not in page and "<script src" not in page
        if "By the end, you will be able to" in page:  # not the broken ones
            assert "<math " in page and "<mfrac>" in page


def test_the_table_names_every_student(graded):
    _, failing, printed = graded
    for student in failing:
        assert student in printed


def test_nbgrader_autograde_writes_the_same_rows(graded, graded_by_nbgrader):
    assert rows(graded_by_nbgrader) == rows(graded[0])
    assert comments(graded_by_nbgrader) == comments(graded[0])


BUTTON = """
import sys
from nbgrader.apps import NbGraderAPI
from autograder.settings import course_directory, load
from pathlib import Path
root = Path.cwd()
api = NbGraderAPI(course_directory(root), config=load(root))
result = api.autograde(sys.argv[1], sys.argv[2], force=True)
print(result["log"], file=sys.stderr)
sys.exit(not result["success"])
"""


def test_formgrader_s_button_writes_the_same_rows(graded_by_nbgrader):
    """The button calls this function of nbgrader's API."""
    before = rows(graded_by_nbgrader)
    pressed = run(graded_by_nbgrader, "python", "-c", BUTTON, NAME, "mistake-1")
    assert pressed.returncode == 0, pressed.stderr
    assert rows(graded_by_nbgrader) == before


def test_grading_again_changes_nothing(graded):
    course, _, _ = graded
    before = rows(course)
    again = run(course, "autograder", "grade", NAME, "perfect", "mistake-1")
    assert again.returncode == 0
    assert rows(course) == before


def test_without_our_configuration_checks_refuse(small_course, tmp_path):
    """Plain nbgrader, with no settings: nothing runs unjailed, and the reason is a sentence."""
    course = here.Course(Path(shutil.copytree(small_course.root, tmp_path / "course")))
    (course.root / "gradebook.db").unlink()
    (course.root / "nbgrader_config.py").write_text("c = get_config()\n")
    course.hand_in("perfect")
    one = course.assignment
    write_notebook(read_source(one.source), one.instructor_notebook)
    generated = run(course.root, "nbgrader", "generate_assignment", one.name, "--force")
    assert generated.returncode == 0, generated.stderr
    run(course.root, "nbgrader", "autograde", one.name)
    page = (course.root / "autograded" / "perfect" / one.name / f"{one.name}.ipynb").read_text()
    assert "Load the course's nbgrader_config.py" in page
    scores = {
        auto for (_, name), (auto, *_) in rows(course.root, one.name).items() if name.endswith("-check")
    }
    assert scores == {0}
