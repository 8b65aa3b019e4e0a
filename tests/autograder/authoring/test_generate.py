"""Generating an assignment, as formgrader's button and `nbgrader generate_assignment` do it: whole or not at all."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI
from sqlalchemy import event
from sqlalchemy.engine import Engine

from autograder.authoring import builder
from autograder.course import Assignment
from autograder.files import course_lock
from autograder.grading.old_points import scores_with_old_points
from autograder.settings import course_directory, load
from tests.autograder import here
from tests.autograder.authoring.conftest import run
from tests.autograder.here import NAME
from tests.conftest import PREFIX

pytestmark = pytest.mark.slow

FIRST, WRITTEN = "steps-total", "steps-question"
CHECK = f"{FIRST}-check"
WORTH_2 = f'"grade_id": "{CHECK}", "locked": true, "points": 2,'
WORTH_3 = WORTH_2.replace("2,", "3,")
WRITTEN_WORTH_3 = f'"grade_id": "{WRITTEN}", "locked": false, "points": 3,'
SECOND_CHECK = '"grade_id": "steps-shares-check"'


@pytest.fixture(scope="module")
def generated(small_course, tmp_path_factory) -> Path:
    """A course whose assignment was generated with formgrader's button."""
    course = Path(shutil.copytree(small_course.root, tmp_path_factory.mktemp("generated") / "course"))
    answer = press_generate(course)
    assert answer["success"], answer
    return course


@pytest.fixture
def course(generated, tmp_path) -> Path:
    subprocess.run(["cp", "-a", generated, tmp_path / "course"], check=True)
    return tmp_path / "course"


def press_generate(course: Path) -> dict:
    """What formgrader's button does, and the words that its dialog shows."""
    return NbGraderAPI(course_directory(course), config=load(course)).generate_assignment(NAME)


def products(course: Path) -> dict[Path, bytes]:
    """All that generating makes, and the gradebook."""
    one = Assignment(course, NAME)
    files = [one.release, one.key, one.instructor_notebook, course / "gradebook.db"]
    return {path: path.read_bytes() for path in files if path.exists()}


def change(course: Path, old: str, new: str) -> None:
    source = Assignment(course, NAME).source
    text = source.read_text()
    assert text.count(old) == 1
    source.write_text(text.replace(old, new))


def points(course: Path) -> float:
    with sqlite3.connect(course / "gradebook.db") as db:
        assert db.execute("pragma integrity_check").fetchone() == ("ok",)
        asked = "select max_score from grade_cells join base_cell using (id) where name = ?"
        ((found,),) = db.execute(asked, [CHECK])
    return found


BROKEN = {
    f"Duplicate grade id: {FIRST}": ('"grade_id": "steps-shares", ', f'"grade_id": "{FIRST}", '),
    "the cell steps-shares cannot be used. no end solution": (
        "/ total(values)\n    ### END SOLUTION\n", "/ total(values)\n"
    ),
    "SyntaxError: unmatched ')'": ("    return values / total(values)", "    return values / total(values))"),
    f"the cell {CHECK} has no points": (
        WORTH_2, WORTH_2.replace('"points": 2,', "")
    ),
    "no exercise judges the graded code cell another": (SECOND_CHECK, '"grade_id": "another"'),
    "the smallest": ("    return shares(values).max()", "    return max(shares(values))"),  # has no text for its edit
}  # fmt: skip


@pytest.mark.parametrize("words", BROKEN)
def test_a_broken_source_is_named_and_everything_stays_as_it_was(course, words):
    before = products(course)
    change(course, *BROKEN[words])
    answer = press_generate(course)
    assert not answer["success"]
    assert words in " ".join(answer["log"].split()) and answer["log"].endswith("Nothing was changed.\n")
    assert "error" not in answer  # a traceback
    assert products(course) == before


def test_the_command_without_a_gradebook_leaves_none_when_it_fails(course):
    """nbgrader's own would register the assignment, and delete the release."""
    (course / "gradebook.db").unlink()
    change(course, *next(iter(BROKEN.values())))
    before = Assignment(course, NAME).release.read_bytes()
    command = [PREFIX / "bin" / "nbgrader", "generate_assignment", NAME, "--force"]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True)
    assert done.returncode == 1
    assert next(iter(BROKEN)) in " ".join(done.stderr.split()) and "Traceback" not in done.stderr
    assert Assignment(course, NAME).release.read_bytes() == before
    assert not (course / "gradebook.db").exists()


def test_without_force_what_is_there_stays(course):
    before = products(course)
    change(course, WORTH_2, WORTH_3)
    api = NbGraderAPI(course_directory(course))
    answer = api.generate_assignment(NAME, force=False)
    assert answer["success"] and "--force creates it again" in answer["log"]
    assert products(course) == before


def test_the_script_counts_and_the_release_the_key_and_the_gradebook_follow(course, monkeypatch):
    change(course, WORTH_2, WORTH_3)
    (Assignment(course, NAME).source.parent / "picture.svg").write_text("<svg/>")
    assert press_generate(course)["success"]
    assert points(course) == 3
    release = Assignment(course, NAME).release.parent
    assert (release / "picture.svg").read_text() == "<svg/>"
    assert not list(release.glob("*.py"))
    monkeypatch.chdir(course)
    checked = run("build", NAME, "--check")
    assert checked.exit_code == 0, checked.output


def test_nothing_is_generated_while_a_run_grades(course):
    before = products(course)
    change(course, WORTH_2, WORTH_3)
    with course_lock(course):
        answer = press_generate(course)
    assert not answer["success"] and "Another run is grading this course" in answer["log"]
    assert products(course) == before


def generate_and_die(course: Path, moment: int = -1) -> str:
    """Generate in a process that ends by `kill -9` just before its n-th step, if there are as many.

    Returns the steps of one that ended by itself: "s" a statement to the gradebook, "f" a file put in place,
    "c" a commit.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            steps = ""

            def step(kind: str) -> None:
                nonlocal steps
                if len(steps) == moment:
                    os.kill(os.getpid(), signal.SIGKILL)
                steps += kind

            event.listen(Engine, "before_cursor_execute", lambda *_: step("s"))
            event.listen(Engine, "commit", lambda *_: step("c"))
            put = builder.write_aside
            builder.write_aside = lambda *given: (step("f"), put(*given))
            success = press_generate(course)["success"]
            os.write(writing, steps.encode() if success else b"failed")
        finally:
            os._exit(0)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading) as answer:
        words = answer.read()
    assert os.WIFSIGNALED(status) == (moment >= 0), words
    return words


@pytest.fixture(scope="module")
def steps(generated, tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("counted") / "course"
    subprocess.run(["cp", "-a", generated, folder], check=True)
    change(folder, WORTH_2, WORTH_3)
    return generate_and_die(folder)


MOMENTS = {
    "the first statement": lambda steps: 0,
    "half of the statements": lambda steps: steps.index("f") // 2,
    "the first file": lambda steps: steps.index("f"),
    "the last file": lambda steps: steps.rindex("f"),
    "the commit": lambda steps: steps.index("c", steps.rindex("f")),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_any_moment_it_leaves_the_old_or_the_new(course, steps, moment):
    assert len(steps) > 50 and steps.count("f") >= 2
    old = products(course)
    change(course, WORTH_2, WORTH_3)
    generate_and_die(course, MOMENTS[moment](steps))
    new = products(course)
    assignment = Assignment(course, NAME)
    json.loads(new[assignment.release])
    if moment not in ("the last file", "the commit"):
        assert new[assignment.release] == old[assignment.release]
    assert new[assignment.key] == old[assignment.key]  # points stand in no key
    assert points(course) == 2
    assert press_generate(course)["success"]
    assert points(course) == 3


# Points that change when there are grades ------------------------------------------------------------


@pytest.fixture
def graded(small) -> here.Course:
    """Generated with the button, and graded: two who are right, one who is wrong, an empty notebook, and none."""
    exercises = small.assignment.source.with_name("exercises.py")
    # Which `build` refuses, with reason.
    exercises.write_text(exercises.read_text().replace(", credit=0.5", ""))
    assert press_generate(small.root)["success"]
    small.hand_in("ada", question="Nothing.")
    small.hand_in("bob", question="They are doubled.")
    small.hand_in("dua", total="def total(values):\n    return values.mean()")
    small.hand_in("gil", small.assignment.read_release())
    small.hand_in("hao", "This is my homework.")
    small.grade_class()
    return small


def test_changed_points_are_announced_until_they_are_regraded(graded):
    change(graded.root, WORTH_2, WORTH_3)
    answer = press_generate(graded.root)
    assert answer["success"]
    log = " ".join(answer["log"].split())
    assert f"({graded.assignment.title(CHECK)} 2 → 3)" in log and f"`autograder regrade {NAME}`" in log
    assert set(scores_with_old_points(graded.assignment).students) == {"ada", "bob"}
    assert "the scores of 2 students" in log
    built = run("build", NAME, "--seeds", "2")
    assert built.exit_code == 0 and f"autograder regrade {NAME}" in " ".join(built.output.split())

    again = run("grade", NAME, "ada", "--isolation", "none")
    assert set(scores_with_old_points(graded.assignment).students) == {"bob"}
    assert f"autograder regrade {NAME}" in " ".join(again.output.split())
    regraded = run("regrade", NAME, "--yes", "--isolation", "none")
    assert regraded.exit_code == 0, regraded.output
    assert scores_with_old_points(graded.assignment) is None
    assert "points have changed" not in press_generate(graded.root)["log"]


def test_changed_points_of_a_cell_that_a_person_has_graded_are_announced_and_marked_for_another_look(graded):
    """Nobody but a person can say what the answer is worth now."""
    graded.finish("ada", points=1.5)
    graded.finish("bob", points=0.0)
    assert scores_with_old_points(graded.assignment) is None

    change(graded.root, WRITTEN_WORTH_3, WRITTEN_WORTH_3.replace("3,", "4,"))
    log = " ".join(press_generate(graded.root)["log"].split())
    called = graded.assignment.title(WRITTEN)
    assert f"({called} 3 → 4), and the score of 1 student still uses the old ones: ada." in log
    assert "Scores given by hand are kept, and marked for review." in log

    shown = run("regrade", NAME, "--json", "changes.json", "--yes", "--isolation", "none")
    assert shown.exit_code == 0, shown.output
    (of_ada,) = json.loads(Path("changes.json").read_text())[:-1]
    assert (of_ada["student"], of_ada["what"], of_ada["before"], of_ada["after"]) == (
        "ada",
        WRITTEN,
        1.5,
        1.5,
    )
    assert of_ada["why"].startswith("worth 4 instead of 3; the score given by hand is kept")
    with graded.gradebook() as gradebook:
        looks = {
            student: gradebook.find_grade(WRITTEN, NAME, NAME, student).to_dict()
            for student in ("ada", "bob")
        }
    assert {s: (one["manual_score"], one["needs_manual_grade"]) for s, one in looks.items()} == {
        "ada": (1.5, True),
        "bob": (0.0, False),
    }
    assert scores_with_old_points(graded.assignment) is None


def test_cells_are_not_lost_once_there_are_submissions(graded):
    before = products(graded.root)
    text = graded.assignment.source.read_text()
    head, reflection, rest = text.partition(f'"grade_id": "{WRITTEN}"')
    graded.assignment.source.write_text(f'{head}"grade_id": "another"{rest}')
    answer = press_generate(graded.root)
    assert reflection and not answer["success"]
    assert f"gained or lost cells (another, {WRITTEN})" in " ".join(answer["log"].split())
    assert products(graded.root) == before
