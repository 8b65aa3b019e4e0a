"""What students get holds all they need and nothing that gives an answer away."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from autograder.course import assignments, course_root
from autograder.errors import CourseError
from autograder.release import pack, student_files, student_pyproject, student_release

ROOT = course_root(Path(__file__).parent)
NAMES = [assignment.name for assignment in assignments(ROOT)]
TOP = "words-in-context"

UNTIL_THE_FIRST_CHECK = """
import sys, nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
notebook = nbformat.read(sys.argv[1], as_version=4)
try:
    NotebookClient(notebook, timeout=120).execute()
except CellExecutionError as stopped:
    print(stopped.ename, stopped.evalue)
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return student_release(tmp_path_factory.mktemp("release") / "student.zip")


@pytest.fixture(scope="module")
def content(release) -> dict[str, bytes]:
    with zipfile.ZipFile(release) as archive:
        return {name.removeprefix(f"{TOP}/"): archive.read(name) for name in archive.namelist()}


def test_everything_is_in_one_folder(release):
    with zipfile.ZipFile(release) as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} == {TOP}


@pytest.mark.parametrize("name", NAMES)
def test_each_notebook_comes_with_its_key(content, name):
    assert f"notebooks/{name}/{name}.ipynb" in content
    assert f"coursekit/keys/{name}.safetensors" in content


def test_there_is_what_it_takes_to_start(content):
    needed = {
        "README.md", "Makefile", "pyproject.toml", "constraints.txt", "requirements-models.txt", "environment.yml",
        "tools/bootstrap.py", "tools/jupyterlab-overrides.json", "LICENSE", "LICENSE-CONTENT", "notebooks/start.ipynb",
    }  # fmt: skip
    assert needed - content.keys() == set()
    assert "make lab" in content["README.md"].decode()


def test_nothing_of_the_instructor_is_inside(content):
    allowed = ("notebooks/", "coursekit/", "data/", "tools/")
    assert [name for name in content if "/" in name and not name.startswith(allowed)] == []
    assert [name for name in content if name.startswith("notebooks/") and not name.endswith(".ipynb")] == []
    assert [name for name in content if name.startswith("tools/student")] == []


def test_no_file_holds_a_solution(content):
    """The notebooks themselves are read line by line in tests/notebooks."""
    marked = [name for name, text in content.items() if b"BEGIN SOLUTION" in text or b"BEGIN HIDDEN" in text]
    assert marked == []
    assert not [
        name for name in content if name.endswith(".py") and not name.startswith(("coursekit/", "tools/"))
    ]


def test_notebooks_come_without_outputs(content):
    for name in NAMES:
        cells = json.loads(content[f"notebooks/{name}/{name}.ipynb"])["cells"]
        assert [cell["id"] for cell in cells if cell.get("outputs")] == []


def test_the_project_installs_coursekit_alone(content):
    project = tomllib.loads(content["pyproject.toml"].decode())
    assert project["tool"]["setuptools"]["packages"]["find"]["include"] == ["coursekit*"]
    assert not {"scripts", "optional-dependencies"} & project["project"].keys()
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dependencies"] == ours["project"]["dependencies"]


@pytest.mark.slow
def test_packing_twice_gives_the_same_bytes(release, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert student_release(tmp_path / "again.zip").read_bytes() == release.read_bytes()


def test_a_solution_is_never_packed():
    with pytest.raises(CourseError, match="data/notes.txt holds a solution"):
        pack({"data/notes.txt": b"### BEGIN SOLUTION"})


def test_another_list_of_packages_is_noticed():
    with pytest.raises(CourseError, match="list its packages"):
        student_pyproject('[project]\nname = "other"\n')


@pytest.mark.slow
def test_answers_typed_into_notebooks_are_not_handed_out(tmp_path, content):
    """An instructor tries the exercises in notebooks/ (`make grade`) and packs the release afterwards."""
    course = tmp_path / "course"
    leave_out = shutil.ignore_patterns(".*", "dist", "tests", "__pycache__")
    shutil.copytree(ROOT, course, ignore=leave_out)
    mine = course / "notebooks" / NAMES[0] / f"{NAMES[0]}.ipynb"
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("my own answers")
    assert dict(student_files(course)) == content


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_a_student_can_install_it_and_meets_the_first_check(release, tmp_path):
    with zipfile.ZipFile(release) as archive:
        archive.extractall(tmp_path)
    course = tmp_path / TOP
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    environment |= {"HOME": str(tmp_path / "home"), "COURSEKIT_HOME": str(tmp_path / "progress")}
    run = {"cwd": course, "env": environment, "check": True, "text": True, "stdout": subprocess.PIPE}

    # What `make lab` does before it starts JupyterLab.
    subprocess.run([sys.executable, "tools/bootstrap.py"], **run)
    python = course / ".venv" / "bin" / "python"
    elsewhere = run | {"cwd": tmp_path}  # coursekit must come from the environment and not from the folder
    probe = "import coursekit, importlib.util as u; print(coursekit.__file__, u.find_spec('autograder'))"
    assert subprocess.run([python, "-c", probe], **elsewhere).stdout.split() == [
        str(course / "coursekit" / "__init__.py"), "None",
    ]  # fmt: skip

    notebook = course / "notebooks" / NAMES[0] / f"{NAMES[0]}.ipynb"
    stopped = subprocess.run([python, "-c", UNTIL_THE_FIRST_CHECK, notebook], **run).stdout
    assert stopped.startswith("CheckFailed")
    assert "not answered yet" in stopped
