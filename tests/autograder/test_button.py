"""Formgrader's Autograde button when grading fails: what its dialog says, and what was graded before stays."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI

from autograder.errors import CourseError
from autograder.jail.outside import bubblewrap
from autograder.settings import course_directory, load
from tests.autograder.road import hand_in, perfect_notebook, with_cell
from tests.autograder.small_class import NAME, SECOND, Class

pytestmark = pytest.mark.slow


def press(kind: Class, student: str) -> dict:
    """What the button does, and the words that its dialog shows."""
    course = kind.course
    api = NbGraderAPI(course_directory(course), config=load(course))
    return api.autograde(NAME, student)


def graded(kind: Class, student: str) -> tuple:
    """Everybody's scores and penalties, and the student's files."""
    with closing(sqlite3.connect(kind.course / "gradebook.db")) as db:
        scores = sorted(db.execute("select * from grade").fetchall())
        penalties = sorted(
            db.execute("select id, late_submission_penalty from submitted_notebook").fetchall()
        )
    folder = kind.course / "autograded" / student / NAME
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
    serve, bubblewrap.SERVE = bubblewrap.SERVE, "raise SystemExit('there is no torch')"
    yield
    bubblewrap.SERVE = serve


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path)) as db:
        db.execute("begin exclusive")
        yield


def settings(kind: Class, line: str):
    return changed(kind.course / "nbgrader_config.py", lambda text: f"{text}\n{line}\n")


def submitted(kind: Class) -> Path:
    return kind.course / "submitted" / "ada" / NAME / f"{NAME}.ipynb"


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
        kind.course / "gradebook.db"
    ),
    "a fault in the autograder: NotJSONError: Notebook does not appear to be JSON": lambda kind: changed(
        kind.assignment.release, lambda text: text[:-100]
    ),
}


@pytest.mark.parametrize("words", FAILURES)
def test_a_failure_is_one_sentence_and_what_was_graded_before_stays(own_class, words):
    better = with_cell(perfect_notebook(own_class.assignment), SECOND, "def scale(scores, d): return 0")
    hand_in(own_class.course, "ada", own_class.assignment, better)  # not in the store
    before = graded(own_class, "ada")
    with FAILURES[words](own_class):
        answer = press(own_class, "ada")
    assert not answer["success"] and "error" not in answer
    log = answer["log"]
    assert words in " ".join(log.split()) and "Traceback" not in log and len(log) < 600
    assert graded(own_class, "ada") == before

    answer = press(own_class, "ada")  # it was mended
    assert answer["success"] and answer["log"].startswith("ada: "), answer["log"]
    assert graded(own_class, "ada") != before


BROKEN_RULE = """
class Broken(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score / 0

c.AssignLatePenalties.plugin_class = Broken
"""


def test_a_rule_for_late_penalties_that_fails_leaves_the_scores_of_before(own_class):
    worse = with_cell(perfect_notebook(own_class.assignment), SECOND, "def scale(scores, d): return 0")
    hand_in(own_class.course, "dua", own_class.assignment, worse)
    own_class.hand_in_late("dua", "2026-10-03 20:00:00 UTC")
    before = graded(own_class, "dua")
    words = r"The rule for late penalties, Broken, fails for dua, who has \d+ points and is 158400 s late: ZeroDiv"
    with settings(own_class, BROKEN_RULE):
        answer = press(own_class, "dua")
        assert not answer["success"] and re.search(words, " ".join(answer["log"].split()))
        with pytest.raises(CourseError, match=words):
            own_class.grade()
    assert graded(own_class, "dua") == before

    assert press(own_class, "dua")["success"]
    assert graded(own_class, "dua")[1] != before[1]


def test_a_student_who_was_not_graded_before_has_nothing_graded_afterwards(own_class):
    hand_in(own_class.course, "new", own_class.assignment, perfect_notebook(own_class.assignment))
    with the_jail_does_not_start(), settings(own_class, "c.Jail.cell_seconds = 5"):
        assert "new was not graded" in press(own_class, "new")["log"]
    assert not (own_class.course / "autograded" / "new" / NAME).exists()


@pytest.mark.parametrize(
    ("student", "words"),
    {
        "hao": "could not be read. The file is not a notebook: it does not begin like JSON",
        "ian": "could not be run to its end",
    }.items(),
)
def test_a_submission_that_cannot_be_run_is_graded_and_the_dialog_says_why(own_class, student, words):
    answer = press(own_class, student)
    assert answer["success"]
    assert answer["log"].startswith(f"{student}: 0 of ") and words in " ".join(answer["log"].split())
