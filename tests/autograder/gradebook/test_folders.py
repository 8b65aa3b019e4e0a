"""Folders that nbgrader_config.py calls otherwise: our commands and nbgrader's look in the same ones."""

import re
import shutil
import zipfile
from pathlib import Path

import pytest

from autograder.authoring.init import begin_course
from autograder.course import assignments
from autograder.errors import CourseError
from autograder.settings import STEPS, course_directory, course_settings
from tests.autograder.commands import command
from tests.autograder.test_settings import course

CALLED = dict(zip(STEPS, ("originals", "handed_out", "handed_in", "marked", "returned"), strict=True))


def begin(folder: Path) -> Path:
    """What `autograder init` writes, with other names for all folders."""
    begin_course(folder)
    config = folder / "nbgrader_config.py"
    text = re.sub(r"c\.CourseDirectory\.\w+_directory = .*\n", "", config.read_text())
    names = "".join(f"c.CourseDirectory.{step}_directory = {name!r}\n" for step, name in CALLED.items())
    config.write_text(text.replace("configure(c)", f"{names}configure(c)"))
    (folder / "source").rename(folder / "originals")
    return folder


@pytest.mark.slow
def test_every_command_follows_the_course_s_names(tmp_path, monkeypatch):
    root = begin(tmp_path / "course")
    monkeypatch.chdir(root)
    (assignment,) = assignments(root)
    command("build")
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.write(assignment.release, f"ada/{assignment.name}.ipynb")
    assert "put into handed_in/" in command("collect", tmp_path / "class.zip", assignment.name)
    assert "1 of" in command("doctor") and "in handed_in/" in command("grade", assignment.name)
    assert f"1 page in returned/STUDENT/{assignment.name}/" in command("feedback", assignment.name)
    for step in ("submitted", "autograded", "feedback"):
        folder = Path(course_directory(root).format_path(CALLED[step], "ada", assignment.name))
        assert [*folder.glob(f"{assignment.name}.*")], f"where nbgrader looks for what is {step}"
    assert not [step for step in STEPS if (root / step).exists()]


def test_a_course_s_settings_stand_in_its_own_folder(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    root = course(tmp_path, f"c.CourseDirectory.root = {str(other)!r}")
    with pytest.raises(CourseError, match=r"root = .*other'; a course's settings belong in its own folder"):
        course_settings(root)
    shutil.move(root / "nbgrader_config.py", other)
    assert course_settings(other).submitted_directory == "submitted"


def test_another_structure_of_folders_is_refused(tmp_path):
    line = 'c.CourseDirectory.directory_structure = "{assignment_id}/{nbgrader_step}/{student_id}"'
    with pytest.raises(
        CourseError, match="autograder follows '{nbgrader_step}/{student_id}/{assignment_id}' only"
    ):
        course_settings(course(tmp_path, line))
