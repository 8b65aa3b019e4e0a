"""The worked examples of docs/instructors.md, followed to the letter in courses of their own."""

import json
import re
import subprocess
import zipfile

import pytest

from tests.autograder.guide import GUIDE, follow
from tests.conftest import PREFIX

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    return follow("Adding a notebook", tmp_path_factory.mktemp("guide"))


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    return follow("Adding an exercise to a notebook", tmp_path_factory.mktemp("extended"))


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        return follow("Without an exchange", tmp_path_factory.mktemp("collected"))


def test_without_an_exchange_a_download_becomes_grades(collected):
    course, said = collected
    taken = said[".venv/bin/autograder collect download.zip 02_attention --names worksheet.csv"]
    assert "3 submissions put into submitted/" in taken and "Late: cem." in taken
    times = {path.parents[1].name: path.read_text() for path in course.glob("submitted/*/*/timestamp.txt")}
    assert times == {
        "ada": "2026-10-05 21:58:00 UTC",
        "bob": "2026-10-04 09:05:00 UTC",
        "cem": "2026-10-07 08:00:00 UTC",
    }
    table = said[".venv/bin/autograder grade 02_attention"].splitlines()
    scores = {
        row.split()[0]: row.split()[1:4] for row in table if row.split()[:1] in (["ada"], ["bob"], ["cem"])
    }
    assert scores == {"ada": ["2", "/", "18"], "bob": ["0", "/", "18"], "cem": ["0", "/", "18"]}
    assert (course / "report.html").exists()


def test_without_an_exchange_feedback_goes_back_under_moodle_s_names(collected):
    course, _ = collected
    with zipfile.ZipFile(course / "02_attention-feedback-moodle.zip") as packed:
        pages = {name: packed.read(name).decode() for name in packed.namelist()}
    folders = ("Ada Lovelace_101", "Bob Müller_102", "Cem Öz_103")
    assert set(pages) == {f"{folder}_assignsubmission_file/02_attention.html" for folder in folders}
    bob = pages["Bob Müller_102_assignsubmission_file/02_attention.html"]
    assert "Look at these again" in bob and "Keys and queries swapped" in bob


def test_a_late_penalty_is_what_the_guide_promises_and_an_extension_takes_it_back(tmp_path):
    course, said = follow("Late penalties", tmp_path)
    page = (course / "feedback" / "cem" / "02_attention" / "02_attention.html").read_text()
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    top = text[text.index(" of 18 points") - 5 :][:300]
    assert "1.8 of 18 points . Handed in late: −0.2 points, already deducted." in top, top
    exported = (course / "grades.csv").read_text().splitlines()
    (row,) = (dict(zip(exported[0].split(","), line.split(","), strict=True)) for line in exported[1:])
    assert (float(row["score"]), float(row["late_submission_penalty"])) == (2, 0)


def test_the_student_s_notebook_has_the_exercise_and_not_its_solution(followed):
    course, _ = followed
    release = (course / "notebooks" / "13_centring" / "13_centring.ipynb").read_text()
    assert "NotImplementedError" in release and "x.mean(dim=0)" not in release


def test_the_checks_see_every_small_change(followed):
    _, said = followed
    assert "(100.0%)" in said[".venv/bin/autograder mutants 13_centring"]


def test_the_grade_and_the_reason_are_those_that_the_guide_promises(followed):
    course, said = followed
    (row,) = (line for line in said[".venv/bin/autograder grade 13_centring"].splitlines() if "ada" in line)
    assert re.search(r"\b0\b.*\b2\b", row), row
    page = (course / "feedback" / "ada" / "13_centring" / "13_centring.html").read_text().lower()
    assert "one mean for all coordinates" in page


def test_a_new_exercise_holds_and_reaches_the_students(extended):
    course, said = extended
    tried = said[".venv/bin/autograder try attention.spread"]
    assert "✗" not in tried and "partial credit is never earned by chance" in tried
    release = (course / "notebooks" / "02_attention" / "02_attention.ipynb").read_text()
    assert "def spread(weights" in release and "xlogy" not in release


def test_the_mistake_of_the_new_exercise_earns_the_share_that_the_guide_promises(extended):
    course, _ = extended
    (ada,) = json.loads((course / "grades.json").read_text())["submissions"]
    (cell,) = (cell for cell in ada["cells"] if cell["grade_id"] == "attention-spread-check")
    assert (cell["score"], cell["max_score"], cell["credit"]) == (1.0, 2.0, 0.5)
    assert cell["reason"] == "The entropy itself. This earns 50% of the points."
    assert cell["reason"] in GUIDE


def test_every_command_that_the_guide_names_exists():
    named = set(re.findall(r"autograder ([a-z][a-z-]+)", GUIDE)) - {"stands"}
    shown = subprocess.run([PREFIX / "bin" / "autograder", "--help"], capture_output=True, text=True).stdout
    known = set(re.findall(r"^\W*([a-z][a-z-]+) ", shown, re.M))
    assert named <= known, named - known
