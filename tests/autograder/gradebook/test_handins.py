"""A hand-in that cannot be read, or that lies in an odd place, stops nobody: the rest is graded, and it is named."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.apps.api import NbGraderAPI

from autograder.grading.demonstrations import Demonstrations
from autograder.grading.run import NotAllGraded
from autograder.settings import course_directory, load
from autograder.source import is_demo
from autograder.untrusted import submission
from autograder.untrusted.submission import NotRead
from tests.autograder import light
from tests.autograder.commands import command, refusal
from tests.autograder.here import NAME, Course
from tests.autograder.road import perfect_notebook
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

CLOSED = ("bob", "cem", "dua", "eva")
ODD = [b"\xff\xfe", b"a\nb", b"ada "]
LIGHT = [sys.executable, str(Path(light.__file__))]
NBGRADER = """
from tests.autograder import light
light.install()
from nbgrader.apps.nbgraderapp import main
main()
"""


@pytest.fixture
def strange(small) -> Course:
    """Ada's is first in the alphabet of what can be graded, Zoë's comes after all that cannot."""
    submitted, perfect = small.root / "submitted", perfect_notebook(small.assignment)
    for student in ("ada", "bob", "zoë"):
        small.hand_in(student, perfect)
    for name in ODD:
        shutil.copytree(os.fsencode(submitted / "ada"), os.path.join(os.fsencode(submitted), name))
    (submitted / "yan.ipynb").write_text(nbformat.writes(perfect))
    (submitted / "xia").mkdir()
    (submitted / "xia" / NAME).write_text("a file in the place of a folder")
    return small


def words_of(text: str) -> str:
    return " ".join(text.split())


def test_the_command_grades_the_rest_and_names_them_at_the_end(strange):
    own = (strange.root / "submitted" / "ada" / NAME / f"{NAME}.ipynb").read_text()
    words = words_of(refusal("grade", NAME, "--isolation", "none", "--json", "report.json"))
    for name in (r"'\udcff\udcfe'", r"'a\nb'", "ada : the folder's name"):
        assert name in words
    assert "yan.ipynb: it is a file: move it to STUDENT/" in words
    assert strange.scores()["zoë"] > 0 and strange.scores()["xia"] == 0
    report = json.loads((strange.root / "report.json").read_text())
    assert [one["student"] for one in report["submissions"]] == ["ada", "bob", "xia", "zoë"]
    assert len(report["not_graded"]) == len(ODD) + 1
    assert (strange.root / "submitted" / "ada" / NAME / f"{NAME}.ipynb").read_text() == own


def test_who_is_asked_for_by_name_is_not_held_up(strange):
    command("grade", NAME, "zoë", "--isolation", "none")
    assert "rename it" in refusal("grade", NAME, "ada ", "--isolation", "none")


def test_regrading_names_them_too(strange):
    assert "yan.ipynb" in refusal("regrade", NAME, "--yes", "--isolation", "none")
    assert "zoë" in strange.scores()


def test_the_exit_status_is_1_and_the_words_are_a_sentence(strange):
    done = run(strange, *LIGHT, "grade", NAME, "--isolation", "none", "--workers", "1")
    assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr
    words = words_of(done.stdout)
    assert f"error Something is wrong with {len(ODD) + 1} submissions (the others are not affected):" in words
    assert words.index("zoë") < words.index("Something is wrong")


def run(kind: Course, *command: str) -> subprocess.CompletedProcess:
    """As somebody who may not read what is closed: root without the right to pass over permissions."""
    limited = []
    if os.getuid() == 0:
        limited = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    return subprocess.run(
        [*limited, *command],
        cwd=kind.root,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=500,
    )


@pytest.fixture
def closed(small):
    """Two closed folders, and two files that are closed; in the alphabet they come between others."""
    perfect = perfect_notebook(small.assignment)
    bob, cem, dua, eva, *_ = (small.hand_in(student, perfect) for student in (*CLOSED, "ada", "zoë"))
    places = [bob.parent, cem, dua / f"{NAME}.ipynb", eva / "timestamp.txt"]
    for place in places:
        place.chmod(0)
    yield small
    for place in places:
        place.chmod(0o700)


def test_a_closed_folder_stops_nobody(closed):
    done = run(closed, *LIGHT, "grade", NAME, "--isolation", "none", "--workers", "1", "--fresh")
    assert done.returncode == 1, done.stdout + done.stderr
    words = words_of(done.stdout)
    assert "Something is wrong with 4 submissions" in words and "Traceback" not in done.stdout + done.stderr
    end = words[words.index("Something is wrong") :]
    for student in CLOSED:
        assert f"{student}: " in end
    assert end.count("cannot be read (Permission denied): correct its permissions.") == 4
    assert closed.scores()["zoë"] > 0


def test_a_closed_folder_stops_nobody_in_nbgrader(closed):
    done = run(closed, sys.executable, "-c", NBGRADER, "autograde", NAME)
    assert done.returncode == 1, done.stdout + done.stderr
    words = words_of(done.stderr)
    assert "Traceback" not in words
    for student in CLOSED:
        assert f"{student}: " in words or f"{student} was not graded" in words, student
    assert closed.scores()["zoë"] > 0


def test_where_nothing_can_be_read_it_is_a_sentence(closed):
    submitted = closed.root / "submitted"
    submitted.chmod(0)
    done = run(closed, *LIGHT, "grade", NAME, "--isolation", "none")
    submitted.chmod(0o755)
    assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr
    assert "submitted cannot be read (Permission denied): correct its permissions." in words_of(done.stdout)


def test_odd_names_stop_nobody_in_nbgrader(strange):
    done = run(strange, sys.executable, "-c", NBGRADER, "autograde", NAME, "--force")
    assert done.returncode == 1, done.stdout + done.stderr
    words = words_of(done.stderr)
    assert "Traceback" not in words and "yan.ipynb: it is a file" in words
    assert words.count("rename it") == len(ODD)
    assert strange.scores()["zoë"] > 0
    assert not set(strange.scores()) & set(map(os.fsdecode, ODD))


def api_of(course: Path) -> NbGraderAPI:
    return NbGraderAPI(course_directory(course), config=load(course))


def test_formgrader_lists_and_grades_the_others(strange):
    (strange.root / "submitted" / "bob" / NAME / "timestamp.txt").write_bytes(b"\xff yesterday")
    api = api_of(strange.root)
    assert api.get_submitted_students(NAME) == {"ada", "bob", "zoë"}
    assert {one["student"] for one in api.get_submissions(NAME)} >= {"ada", "bob", "zoë"}
    for student in ("bob", "zoë"):
        answer = api.autograde(NAME, student)
        assert answer["success"] and answer["log"].startswith(f"{student}: "), answer
        assert ("counts as on time" in answer["log"]) == (student == "bob"), "whose time cannot be read"


def test_formgrader_s_button_takes_brackets_for_brackets(small):
    """nbgrader takes a student's id for a pattern: [ab] for a student a or b."""
    small.hand_in("[ab]")
    small.hand_in("a", "no notebook")
    answer = api_of(small.root).autograde(NAME, "[ab]")
    assert answer["success"] and answer["log"].startswith("[ab]: "), answer
    assert small.scores() == {"[ab]": 9}


def test_a_class_with_brackets_in_a_name(small):
    for student in ("ada", "bob", "[bd]"):
        small.hand_in(student, perfect_notebook(small.assignment))
    small.hand_in("b", "no notebook")
    done = run(small, sys.executable, "-c", NBGRADER, "autograde", NAME, "--force")
    assert done.returncode == 0, done.stderr
    scores = small.scores()
    assert scores["b"] == 0 and scores["[bd]"] == scores["ada"] > 0


def test_a_place_that_cannot_be_written_costs_nobody_else(small):
    for student in ("bob", "zoë"):
        small.hand_in(student)
    (small.root / "autograded").mkdir()
    (small.root / "autograded" / "bob").write_text("a file in the place of a folder")
    with pytest.raises(NotAllGraded, match="bob: the scores are recorded, but .*bob.* cannot be written"):
        small.grade_class()
    assert (small.assignment.autograded("zoë") / small.assignment.file).exists()
    answer = api_of(small.root).autograde(NAME, "bob")
    assert not answer["success"] and "fault in the autograder" not in answer["log"], answer


def test_a_disk_that_fails_is_no_verdict(small, monkeypatch):
    """Only permissions can be taken away in a test: the error is made, the reading is real."""
    small.hand_in("bob")
    really = os.stat

    def fails(path, *arguments, **options):
        if path == f"{NAME}.ipynb":
            raise OSError(submission.errno.EIO, "Input/output error")
        return really(path, *arguments, **options)

    monkeypatch.setattr(submission.os, "stat", fails)
    with pytest.raises(NotRead, match="check whether its disk or file server is working"):
        small.read("bob")


def test_carriage_returns_run_no_demonstration(small):
    perfect = small.perfect
    for cell in perfect.cells:
        cell.source = cell.source.replace("\n", "\r\n")
    small.hand_in("ada")
    small.hand_in("win", perfect)
    release = small.assignment.read_release()
    demonstrations = [cell for cell in small.read("win").notebook.cells if is_demo(cell)]
    assert len(demonstrations) == sum(map(is_demo, release.cells)) > 0
    assert all(map(Demonstrations(release).unchanged, demonstrations))
    small.grade_class()
    assert small.scores() == {"ada": 9, "win": 9}
