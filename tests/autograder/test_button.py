"""Formgrader's Autograde button when grading fails: what its dialog says, and what was graded before stays."""

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI

from autograder.checks.status import Ending
from autograder.errors import CourseError
from autograder.jail.outside import bubblewrap
from autograder.pool.local import LocalPool
from autograder.settings import course_directory, load
from tests.autograder.here import NAME, Course, Pool, cut_off
from tests.autograder.small_class import RULE

pytestmark = pytest.mark.slow

WORSE = "def total(values):\n    return 0"


@pytest.fixture
def course(small) -> Course:
    """Ada and dua have been graded, and dua was late, which costs a tenth a day."""
    config = small.root / "nbgrader_config.py"
    config.write_text(config.read_text() + RULE)
    with small.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=datetime(2026, 10, 2))
    small.hand_in("ada", question="Nothing.")
    hand_in_late(small, "2026-10-02 20:00:00 UTC")
    small.grade_class()
    return small


def hand_in_late(course: Course, when: str, **cells: str) -> None:
    (course.hand_in("dua", **cells) / "timestamp.txt").write_text(when)


def press(root: Path, name: str, student: str) -> dict:
    """What the button does, and the words that its dialog shows."""
    api = NbGraderAPI(course_directory(root), config=load(root))
    return api.autograde(name, student)


def graded(course: Course, student: str) -> tuple:
    """Everybody's scores and penalties, and the student's files."""
    with closing(sqlite3.connect(course.root / "gradebook.db")) as db:
        scores = sorted(db.execute("select * from grade").fetchall())
        penalties = sorted(
            db.execute("select id, late_submission_penalty from submitted_notebook").fetchall()
        )
    folder = course.root / "autograded" / student / NAME
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert f"{NAME}.ipynb" in files
    return scores, penalties, files


@contextmanager
def changed(path: Path, change: Callable[[str], str]) -> Iterator[None]:
    before = path.read_bytes()
    path.write_text(change(before.decode(errors="replace")))
    yield
    path.write_bytes(before)


@contextmanager
def renamed(path: Path, name: str) -> Iterator[None]:
    path.rename(path.with_name(name))
    yield
    path.with_name(name).rename(path)


@contextmanager
def the_jail_does_not_start() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bubblewrap, "SERVE", "raise SystemExit('there is no torch')")
        patch.setattr("autograder.grading.engine.LocalPool", LocalPool)
        yield


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path)) as db:
        db.execute("begin exclusive")
        yield


def settings(kind: Course, line: str):
    return changed(kind.root / "nbgrader_config.py", lambda text: f"{text}\n{line}\n")


def submitted(kind: Course) -> Path:
    return kind.root / "submitted" / "ada" / NAME / f"{NAME}.ipynb"


FAILURES = {
    "there is no torch": lambda kind: the_jail_does_not_start(),
    f"contains no {NAME}.ipynb, only homework.ipynb: rename": lambda kind: renamed(
        submitted(kind), "homework.ipynb"
    ),
    "There is no notebook in": lambda kind: renamed(submitted(kind), "homework.txt"),
    "nbgrader_config.py sets c.Jail.cell_second, which does not exist.": lambda kind: settings(
        kind, "c.Jail.cell_second = 3"
    ),
    "is missing: run `autograder build` first": lambda kind: renamed(kind.assignment.release, "lost"),
    "database is locked. Another program is writing to the gradebook": lambda kind: locked(
        kind.root / "gradebook.db"
    ),
    "a fault in the autograder: NotJSONError: Notebook does not appear to be JSON": lambda kind: changed(
        kind.assignment.release, lambda text: text[:-100]
    ),
}


@pytest.mark.parametrize("words", FAILURES)
def test_a_failure_is_one_sentence_and_what_was_graded_before_stays(course, words):
    course.hand_in("ada", total=WORSE)  # not in the store
    before = graded(course, "ada")
    with FAILURES[words](course):
        answer = press(course.root, NAME, "ada")
    assert not answer["success"] and "error" not in answer
    log = answer["log"]
    assert words in " ".join(log.split()) and "Traceback" not in log and len(log) < 600
    assert graded(course, "ada") == before

    answer = press(course.root, NAME, "ada")  # it was mended
    assert answer["success"] and answer["log"].startswith("ada: "), answer["log"]
    assert graded(course, "ada") != before


BROKEN_RULE = """
class Broken(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score / 0

c.AssignLatePenalties.plugin_class = Broken
"""


def test_a_rule_for_late_penalties_that_fails_leaves_the_scores_of_before(course):
    hand_in_late(course, "2026-10-03 20:00:00 UTC", total=WORSE)
    before = graded(course, "dua")
    words = r"The rule for late penalties, Broken, fails for dua, who has \d+ points and is 158400 s late: ZeroDiv"
    with settings(course, BROKEN_RULE):
        answer = press(course.root, NAME, "dua")
        assert not answer["success"] and re.search(words, " ".join(answer["log"].split()))
        with pytest.raises(CourseError, match=words):
            course.grade_class()
    assert graded(course, "dua") == before

    assert press(course.root, NAME, "dua")["success"]
    assert graded(course, "dua")[1] != before[1]


def test_scores_are_recorded_although_their_files_cannot_be_written_and_the_dialog_says_so(course):
    course.hand_in("ada", total=WORSE)
    scores, _, files = graded(course, "ada")
    results = course.assignment.kept("results")
    shutil.rmtree(results)
    results.write_text("a file in the place of a folder")
    answer = press(course.root, NAME, "ada")
    said = " ".join(answer["log"].split())
    assert not answer["success"] and said.startswith("ada: the scores are recorded, but"), answer
    assert "unchanged" not in said and "not graded" not in said
    assert graded(course, "ada")[0] != scores
    assert graded(course, "ada")[2] == files, "which is there, so that the next grading is not skipped"


def test_a_time_that_can_no_longer_be_read_costs_nothing_and_the_dialog_says_so(course):
    penalties = graded(course, "dua")[1]
    hand_in_late(course, "yesterday")
    answer = press(course.root, NAME, "dua")
    assert answer["success"] and "dua counts as on time" in answer["log"]
    assert sum(penalty is not None for _, penalty in penalties) == 1
    assert all(penalty is None for _, penalty in graded(course, "dua")[1])


def test_another_gradebook_and_other_folders_are_used_if_nbgrader_is_told_so(course):
    before = graded(course, "ada")
    shutil.copy(course.root / "gradebook.db", course.root / "other.db")
    shutil.copytree(course.root / "submitted", course.root / "handed_in")
    handed_in = course.root / "handed_in" / "ada" / NAME
    course.hand_in("ada", total=WORSE).joinpath(f"{NAME}.ipynb").rename(handed_in / f"{NAME}.ipynb")
    course.hand_in("ada").joinpath("submission_secret.txt").write_text("of submitted")
    (handed_in / "submission_secret.txt").write_text("of handed_in")
    directory = course_directory(course.root)
    directory.db_url = f"sqlite:///{course.root}/other.db"
    directory.submitted_directory, directory.autograded_directory = "handed_in", "elsewhere"
    answer = NbGraderAPI(directory, config=load(course.root)).autograde(NAME, "ada")
    assert answer["success"], answer
    assert graded(course, "ada") == before
    made = course.root / "elsewhere" / "ada" / NAME
    assert (made / f"{NAME}.ipynb").exists()
    assert (made / "submission_secret.txt").read_text() == "of handed_in"
    (course.root / "other.db").replace(course.root / "gradebook.db")
    assert graded(course, "ada")[0] != before[0]


def test_a_student_who_was_not_graded_before_has_nothing_graded_afterwards(course):
    course.hand_in("new")
    with the_jail_does_not_start(), settings(course, "c.Jail.cell_seconds = 5"):
        assert "new was not graded" in press(course.root, NAME, "new")["log"]
    assert not course.assignment.autograded("new").exists()


@pytest.mark.parametrize(
    ("notebook", "words"),
    [
        (
            "This is my homework.",
            "could not be read. The file is not a notebook: it does not begin like JSON",
        ),
        (None, "could not be run to its end"),
    ],
)
def test_a_submission_that_cannot_be_run_is_graded_and_the_dialog_says_why(
    course, monkeypatch, notebook, words
):
    course.hand_in("hao", notebook)
    dying = Pool([cut_off(Ending.DIED)])
    monkeypatch.setattr("autograder.grading.engine.LocalPool", lambda settings: dying)
    answer = press(course.root, NAME, "hao")
    assert answer["success"]
    assert answer["log"].startswith("hao: 0 of ") and words in " ".join(answer["log"].split())
