"""The worked example of docs/instructors.md, followed to the letter in a course of its own."""

import os
import re
import subprocess

import pytest

from tests.autograder.road import make_course
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

GUIDE = (ROOT / "docs" / "instructors.md").read_text()
STEP = re.compile(r"```python\n# file: (\S+)\n(.*?)```|```console\n(.*?)```", re.S)


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """The course after the last step of the guide, and what the commands said."""
    course = make_course(tmp_path_factory.mktemp("guide"))
    for name in ("autograder", "docs"):
        subprocess.run(["cp", "-r", ROOT / name, course], check=True)
    (course / ".venv").symlink_to(ROOT / ".venv")
    environment = os.environ | {"PYTHONPATH": str(course), "COLUMNS": "200"}
    said = {}
    for file, text, commands in STEP.findall(GUIDE):
        if file:
            (course / file).parent.mkdir(parents=True, exist_ok=True)
            (course / file).write_text(text)
        for line in commands.splitlines():
            command = line.removeprefix("$ ")
            done = subprocess.run(
                command.split(), cwd=course, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
            said[command] = done.stdout
    return course, said


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
    assert "one mean of all numbers" in page


def test_every_command_that_the_guide_names_exists():
    named = set(re.findall(r"autograder ([a-z][a-z-]+)", GUIDE)) - {"stands"}
    shown = subprocess.run([ROOT / ".venv/bin/autograder", "--help"], capture_output=True, text=True).stdout
    known = set(re.findall(r"^\W*([a-z][a-z-]+) ", shown, re.M))
    assert named <= known, named - known
