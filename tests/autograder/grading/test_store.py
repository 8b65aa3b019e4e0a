"""Results are kept whole or not at all."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import digests as digests_module
from autograder.course import Assignment
from autograder.digests import judging_code, rules_digest
from autograder.grading.store import Store
from tests.autograder.road import make_course
from tests.conftest import ASSIGNMENTS


def test_a_result_comes_back(tmp_path):
    store = Store(tmp_path)
    assert store.get("ab12") is None
    store.put("ab12", {"score": 1})
    assert store.get("ab12") == {"score": 1}


def test_a_damaged_file_counts_as_absent(tmp_path):
    store = Store(tmp_path)
    store.put("ab12", {"score": 1})
    (tmp_path / "ab" / "ab12.json").write_text('{"score":')
    assert store.get("ab12") is None


def test_a_result_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put("ab12", {"score": 1})

    def broken(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", broken)  # when all of it is written aside, and nothing is in place
    with pytest.raises(OSError, match="disk full"):
        store.put("ab12", {"score": 2})
    assert store.get("ab12") == {"score": 1}
    assert [path.name for path in (tmp_path / "ab").iterdir()] == ["ab12.json"]


@pytest.fixture
def package(tmp_path, monkeypatch) -> Path:
    """A copy of the package, on which the digests depend instead."""
    copy = tmp_path / "autograder"
    shutil.copytree(digests_module.AUTOGRADER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(digests_module, "AUTOGRADER", copy)
    return copy


@pytest.mark.slow
def test_a_changed_exercise_has_its_own_notebook_run_again_and_no_other(tmp_path, package):
    course = make_course(tmp_path / "course")
    one, other = Assignment(course, "01_static_embeddings"), Assignment(course, "02_attention")
    digests = {one: rules_digest(one), other: rules_digest(other)}
    changed = [other.exercises_file, other.source, other.release]
    for file in changed:
        file.write_text(file.read_text() + " ")
        assert rules_digest(one) == digests[one]
        assert rules_digest(other) != digests[other]
        digests[other] = rules_digest(other)


@pytest.mark.slow
def test_what_can_change_a_verdict_has_submissions_run_again_and_what_shows_them_has_not(tmp_path, package):
    course = make_course(tmp_path / "course")
    (course / "data").mkdir()
    table = course / "data" / "table.csv"
    table.write_text("word,sense\n")
    one = Assignment(course, "02_attention")
    digest = rules_digest(one)
    for name in (
        "cli/grading",
        "report/__init__",
        "untrusted/similarity",
        "gradebook/export",
        "grading/regrade",
        "gradebook/gradebook",
        "gradebook/history",
        "pool/cluster",
        "pool/worker",
        "authoring/builder",
    ):
        file = package / f"{name}.py"
        file.write_text(file.read_text() + "\n")
    assert rules_digest(one) == digest
    judges = [
        "grading/engine",
        "grading/verdicts",
        "untrusted/submission",
        "grading/reference",
        "results",
        "course",
    ]
    judges += [
        "pool/local",
        "pool/servers",
        "source",
        "exercise",
        "checks/judging",
        "checks/comparing",
        "checks/explaining/steps",
    ]
    judges += ["jail/inside/runner", "jail/inside/seccomp"]
    files = [package / f"{name}.py" for name in judges]
    files += [course / "coursekit" / "plots.py", table]
    for file in files:
        file.write_text(file.read_text() + "\n")
        assert rules_digest(one) != digest, file
        digest = rules_digest(one)


@pytest.mark.slow
def test_everything_that_the_engine_loads_of_the_package_is_in_the_digest():
    """What is imported by name alone would be missed."""
    script = (
        "import sys, autograder.grading.engine\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('autograder.')), sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {
        Path(line) for line in done.stdout.split() if Path(line).stat().st_size and line.endswith(".py")
    }
    loaded = {file for file in loaded if file.name != "__init__.py"}
    package = digests_module.AUTOGRADER
    assert loaded and loaded <= set(judging_code(package, ASSIGNMENTS["02_attention"]))
