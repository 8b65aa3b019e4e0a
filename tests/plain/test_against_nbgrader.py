"""Every cell's score is what nbgrader gives, which is run as it is, without our plug-in. The exceptions are named.

What nbgrader gave is kept in nbgrader.json, under a digest of all that it depends on: nbgrader takes some four minutes,
and gives the same on the same hand-ins. Where the digest is another one, nbgrader is run again, and the file is written.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Grade, Gradebook

from autograder.course import Assignment
from tests.autograder.commands import command
from tests.plain.hand_ins import CUT, DELETED, TOO_MUCH, WRITTEN, make_plain_course

OF_NBGRADER = [name for name in WRITTEN if name != "mixed"]  # it cannot judge an exercise
KEPT = Path(__file__).with_name("nbgrader.json")
STOPS = "primes"
"""Here nbgrader ends with an error, at a test whose value is above its points; of that cell it has no score."""

PACKAGES = ("nbgrader", "nbconvert", "nbclient", "ipykernel", "numpy", "pandas", "matplotlib")
Scores = dict[tuple[str, str], tuple[float | None, bool]]
"""{(student, cell): (the automatic score, whether it waits for a person)}"""


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    return make_plain_course(tmp_path_factory.mktemp("ours") / "course")


@pytest.fixture(scope="module")
def of_nbgrader(course, tmp_path_factory) -> Path:
    """The same sources as notebooks and the same hand-ins, in a course that knows nothing of us."""
    copy = tmp_path_factory.mktemp("theirs")
    scripts = shutil.ignore_patterns("exercises.py", *(f"{name}.py" for name in WRITTEN), "mixed")
    for folder in ("source", "submitted"):
        shutil.copytree(course / folder, copy / folder, ignore=scripts)
    shutil.copy(course / "nbgrader_config.py", copy)
    return copy


def nbgrader(course: Path, *command: str, may_fail: bool = False) -> subprocess.CompletedProcess:
    """nbgrader's own command in a course."""
    scripts = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("PYTEST_CURRENT_TEST", None)  # in a test a kernel has no standard output of its own
    command = [scripts / "nbgrader", *command]
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert may_fail or done.returncode == 0, done.stderr
    return done


def scores(course: Path, name: str) -> Scores:
    with Gradebook(f"sqlite:///{course}/gradebook.db", "plain") as gradebook:
        grades = gradebook.db.query(Grade).all()
        return {
            (grade.student.id, grade.cell.name): (grade.auto_score, grade.needs_manual_grade)
            for grade in grades
            if grade.assignment.name == name
        }


def given_by_nbgrader(course: Path, name: str) -> tuple[bool, Scores]:
    """Whether nbgrader ended without an error, and its scores."""
    digest = digest_of(course, name)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if kept.get(name, {}).get("digest") != digest:
        nbgrader(course, "generate_assignment", name)
        ended = nbgrader(course, "autograde", name, may_fail=name == STOPS).returncode == 0
        rows = [[*where, *score] for where, score in sorted(scores(course, name).items())]
        kept[name] = {"digest": digest, "ended": ended, "scores": rows}
        text = ",\n".join(f"{json.dumps(one)}: {json.dumps(kept[one])}" for one in sorted(kept))
        KEPT.write_text(f"{{\n{text}\n}}\n")
    rows = kept[name]["scores"]
    return kept[name]["ended"], {(student, cell): (score, waits) for student, cell, score, waits in rows}


def digest_of(course: Path, name: str) -> str:
    """Of the source and of what was handed in, of nbgrader's settings, and of the versions."""
    digest = hashlib.sha256((course / "nbgrader_config.py").read_bytes())
    files = [*course.glob(f"source/{name}/**/*"), *course.glob(f"submitted/*/{name}/*")]
    for file in sorted(file for file in files if file.is_file()):
        content = file.read_text(errors="replace")
        if file.suffix == ".ipynb":  # ids of cells are drawn
            content = repr([(cell.cell_type, cell.source) for cell in nbformat.reads(content, 4).cells])
        digest.update(f"{file.relative_to(course)}\0{content}\0".encode())
    digest.update(repr([platform.python_version_tuple()[:2], *map(version, PACKAGES)]).encode())
    return digest.hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_NBGRADER)
def test_each_cell_has_the_score_that_nbgrader_gives(name, course, of_nbgrader, monkeypatch):
    ended, theirs = given_by_nbgrader(of_nbgrader, name)
    monkeypatch.chdir(course)
    command("grade", name, "--workers", "1")
    ours = scores(course, name)

    assert ended == (name != STOPS)
    if name == STOPS:
        assert theirs[TOO_MUCH, "is-prime-hidden"] == ours[TOO_MUCH, "is-prime-hidden"] == (None, True)
        theirs = {where: score for where, score in theirs.items() if where[0] != TOO_MUCH}
    # A test cell that was deleted it does not add again.
    cell = DELETED.get(name)
    if cell:
        assert theirs.pop((CUT, cell)) == (None, True)
        assert ours.pop((CUT, cell)) == ours["right", cell]
    assert {where: ours[where] for where in theirs} == theirs
    assert len({score for score, _ in theirs.values()}) > 1


@pytest.mark.slow
def test_a_release_of_nbgraders_own_is_graded_as_it_is(course, of_nbgrader, monkeypatch):
    """Generated and registered by nbgrader, then graded by our command."""
    for name in ("survey", "squares"):
        nbgrader(of_nbgrader, "generate_assignment", name, "--force")
        monkeypatch.chdir(of_nbgrader)
        command("grade", name, "right", "partly" if name == "survey" else "no-error")
        worth = sum(
            cell.metadata.nbgrader.points
            for cell in Assignment(course, name).test_cells(Assignment(course, name).read_release())
        )
        assert (
            sum(
                score or 0
                for (student, _), (score, _) in scores(of_nbgrader, name).items()
                if student == "right"
            )
            == worth
        )
