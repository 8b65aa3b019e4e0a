"""What a course may say of itself: what the guide lists, and what a slip is told."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from autograder.authoring.init import begin_course
from autograder.errors import CourseError
from autograder.jail.outside import bubblewrap
from autograder.settings import OF_NBGRADER, CourseSettings, course_settings, limits
from tests.autograder.commands import refusal
from tests.conftest import ROOT


def course(folder: Path, *lines: str) -> Path:
    (folder / "nbgrader_config.py").write_text("\n".join(["c = get_config()", *lines]))
    return folder


def test_the_guide_lists_every_setting_with_its_default():
    guide = (ROOT / "docs" / "instructors.md").read_text()
    section = guide.partition("## The settings of a course\n")[2].partition("\n## ")[0]
    listed = dict(re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", section, re.M))
    defaults = {
        field.name: getattr(CourseSettings(), field.name)
        for field in fields(CourseSettings)
        if field.name not in OF_NBGRADER
    }
    written = {
        name: "[]" if value == () else repr(value).replace("'", '"') for name, value in defaults.items()
    }
    assert listed == written


def test_a_course_that_says_nothing_has_nbgrader_s_folders_and_numpy(tmp_path):
    assert course_settings(course(tmp_path)) == CourseSettings()
    assert CourseSettings().source_directory == "source"
    assert CourseSettings().arrays == "numpy"


def test_what_a_course_says_counts(tmp_path):
    settings = course_settings(
        course(
            tmp_path,
            'c.CourseDirectory.course_id = "statistics"',
            'c.CourseDirectory.release_directory = "handed_out"',
            'c.Autograder.arrays = "torch"',
            'c.Autograder.preload = ["scipy.stats"]',
        )
    )
    assert (settings.course_id, settings.release_directory) == ("statistics", "handed_out")
    assert (settings.arrays, settings.preload) == ("torch", ("scipy.stats",))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "c.Autograder.array = 'torch'",
            r"sets c.Autograder.array, which does not exist\. The settings are: .*\barrays\b",
        ),
        (
            "c.Autograder.course_id = 'x'",
            r"sets c.Autograder.course_id, which does not exist\. The settings are: answers,",
        ),
        ("c.Autograder.packages = 'scipy'", r"packages = 'scipy'; it must be a list"),
        ("c.Autograder.arrays = 'jax'", r"arrays = 'jax'; it must be one of"),
        ("c.Autograder.lend = 'often'", r"lend = 'often'; it must be one of \('alone',"),
        ("c.Autograder.lend_from = {'a': '2026-12-01T18:00'}", "must be a time with its zone"),
        ("c.Autograder.lend_from = {'a': 'tomorrow'}", "must be a time with its zone"),
        ("c.Jail.cell_seconds = 0", "c.Jail.cell_seconds = 0; it must be a number above zero"),
        (
            "c.Jail.cell_minutes = 1",
            "sets c.Jail.cell_minutes, which does not exist. The settings are: cell_seconds",
        ),
    ],
)
def test_a_slip_is_told_with_its_value(tmp_path, line, told):
    read = limits if "Jail" in line else course_settings
    with pytest.raises(CourseError, match=told):
        read(course(tmp_path, line))


@pytest.mark.parametrize(
    "line", ["c.Autograder.packages = ['not_there']", "c.Autograder.answers = ['not_there.planted']"]
)
def test_a_package_that_is_not_installed_is_named(tmp_path, line):
    """Before anything is built or graded: a jail that does not show it would fail every student."""
    root = course(tmp_path, line)
    settings = course_settings(root)
    with pytest.raises(
        CourseError, match=r"The package not_there.*, which nbgrader_config.py names .* is not installed"
    ):
        bubblewrap.command("", [], 0, bubblewrap.View(packages=settings.packages, answers=settings.answers))


def test_build_says_which_package_is_not_installed(tmp_path, monkeypatch):
    begin_course(tmp_path)
    config = tmp_path / "nbgrader_config.py"
    config.write_text(
        config.read_text().replace("configure(c)", "c.Autograder.packages = ['not_there']\nconfigure(c)")
    )
    monkeypatch.chdir(tmp_path)
    assert "The package not_there" in refusal("build")
    assert not (tmp_path / "release").exists()
