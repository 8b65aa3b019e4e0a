"""`autograder doctor` says before the first deadline whether grading would work, and ends with status 1 where not."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.doctor import machine
from autograder.doctor.readiness import Level, Readiness
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

CONFIG = "nbgrader_config.py"


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "course"
    shutil.copytree(ROOT / "examples" / "statistics", folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def no_jail(monkeypatch):
    """For findings on which it does not depend: no server is started."""
    monkeypatch.setattr(machine, "jail", lambda root, isolation: Readiness(Level.GOOD, ""))


def ask(*arguments: str) -> tuple[int, dict[str, str]]:
    """The exit status, and each line by what it is about."""
    result = CliRunner().invoke(app, ["doctor", "--isolation", "none", *arguments])
    blocks: dict[str, str] = {}
    for line in result.output.splitlines():
        if line[:1] in ("✓", "!", "✗"):
            about = line.split()[1]
            blocks[about] = line
        elif line.startswith(" ") and blocks:
            blocks[about] += line
    return result.exit_code, blocks


def add(course: Path, line: str) -> None:
    (course / CONFIG).write_text((course / CONFIG).read_text() + f"\n{line}\n")


def test_a_fresh_course_is_told_what_comes_next_and_that_grading_works(course):
    status, lines = ask()
    assert status == 0
    assert {
        "python",
        "course",
        "modules",
        "disk",
        "gradebook",
        "submissions",
        "exchange",
        "kernels",
        "browser",
        "memory",
        "similarity",
        "jail",
    } == set(lines)
    assert "autograder students" in lines["gradebook"]
    assert "autograder collect FILE.zip" in lines["submissions"]
    assert not (course / "gradebook.db").exists()  # looking changes nothing


def test_a_machine_without_a_jail_cannot_grade_and_is_told_what_lifts_it(course, monkeypatch):
    monkeypatch.setattr(machine, "find_problem", lambda: "AppArmor forbids it: `sudo …` lifts it.")
    status, lines = ask("--isolation", "bwrap")
    assert status == 1 and lines["jail"].startswith("✗") and "AppArmor" in lines["jail"]


def test_a_server_that_does_not_start_is_found_although_the_modules_are_there(course):
    (course / "broken_here.py").write_text("raise RuntimeError('half installed')\n")
    add(course, "c.Autograder.preload = ['broken_here']")
    status, lines = ask()
    assert status == 1 and lines["jail"].startswith("✗")


def test_a_missing_module_is_named(course, no_jail):
    add(course, "c.Autograder.preload = ['no_such_module']")
    status, lines = ask()
    assert status == 1 and lines["modules"].startswith("✗") and "no_such_module" in lines["modules"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("c.Jail.cell_second = 3", "cell_second"),
        ("c.Autograder.packges = []", "packges"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_wrong_setting_is_a_line(course, line, words):
    add(course, line)
    status, lines = ask()
    assert status == 1 and lines["course"].startswith("✗") and words in lines["course"]


def test_no_room_on_the_disk(course, no_jail, monkeypatch):
    monkeypatch.setattr(machine, "NEEDED", 1 << 60)
    status, lines = ask()
    assert status == 1 and "make room" in lines["disk"]


def test_an_unbuilt_course_and_what_cannot_be_graded(course):
    shutil.rmtree(course / "release" / "02_resampling")
    (course / "submitted").mkdir()
    (course / "submitted" / "stray.ipynb").write_text("{}")
    status, lines = ask()
    assert status == 0
    assert "`autograder build 02_resampling`" in lines["course"]
    assert "stray.ipynb: it is a file: move it" in lines["submissions"]


def test_a_damaged_gradebook(course, no_jail):
    (course / "gradebook.db").write_bytes(b"no database" * 1000)
    status, lines = ask()
    assert status == 1 and "The gradebook is damaged" in lines["gradebook"]
