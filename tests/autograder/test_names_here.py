"""Assignments and notebooks as people name them: every command finds them, and what it prints can be copied."""

import re
import shlex
import zipfile
from pathlib import Path
from unicodedata import normalize
from urllib.parse import unquote

import pytest

from autograder.course import Assignment, assignments, find_assignment
from autograder.errors import CourseError
from tests.autograder import here
from tests.autograder.commands import command
from tests.autograder.of_nbgrader import RIGHT, WRONG, answer, make_course, scores, write_source

pytestmark = pytest.mark.slow

NAMES = [
    ("week1", "vectors"),
    ("Übung 1 (v2.5)", "2 Größe – NEU (final).v2"),
    ("3", "x" * 200),
    ("HW [1] & 'more'", "[ab] 100 %"),
]


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    here.stay_in_this_process(monkeypatch)
    monkeypatch.setenv("COLUMNS", "300")


@pytest.mark.parametrize(("name", "file"), NAMES)
def test_a_notebook_with_another_name_than_its_folder_goes_all_the_way(tmp_path, monkeypatch, name, file):
    root = make_course(tmp_path / "a course", {name: [file]})
    monkeypatch.chdir(root)
    assignment = find_assignment(root, name)
    assert assignment.release == root / "release" / name / f"{file}.ipynb" and assignment.release.exists()
    answer(assignment, "ada", RIGHT)
    answer(assignment, "bob", WRONG, words="I do not know.")
    said = command("grade", name, "--isolation", "none")
    assert scores(root, name) == {"ada": (1, {file: 1}), "bob": (0, {file: 0})}

    following = [shlex.split(one) for one in said.partition("Next: ")[2].strip().split(", autograder")]
    assert following and all(name in words for words in following)
    command("report", name)
    assert "1 of 2" in (root / "report.html").read_text()
    command("report")
    (link,) = re.findall(r'href="(reports/[^"]*)"', (root / "term.html").read_text())
    assert (root / unquote(link)).exists()
    command("feedback", name, "--zip")
    with zipfile.ZipFile(root / f"{name}-feedback.zip") as archive:
        assert archive.namelist() == [f"ada/{file}.html", f"bob/{file}.html"]
    command("export", name, "--to", "csv", "--unfinished")
    assert f"{name},,2026-10-01 12:00:00,ada" in (root / "grades.csv").read_text()
    assert "would change." in command("regrade", name, "--isolation", "none")
    assert "2 of 2" in command("watch", name)
    command("written", name, "--agreement")
    command("minutes", name)


@pytest.mark.parametrize(("name", "file"), NAMES)
def test_a_download_holds_notebooks_under_their_own_names(tmp_path, monkeypatch, name, file):
    root = make_course(tmp_path / "course", {name: [file], "other": ["another"]})
    monkeypatch.chdir(root)
    assignment = find_assignment(root, name)
    content = assignment.release.read_bytes()
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr(f"Ada Byron_123_assignsubmission_file/{normalize('NFD', file)}.ipynb", content)
    said = command("students", _table(tmp_path))
    said = command("collect", tmp_path / "class.zip")
    assert f"{name}: 1 submission" in said
    assert (root / "submitted" / "ada" / name / f"{file}.ipynb").read_bytes() == content


def _table(folder: Path) -> Path:
    path = folder / "class.csv"
    path.write_text("id,first name,last name\nada,Ada,Byron\n")
    return path


def test_a_system_may_write_an_umlaut_as_two_characters(tmp_path, monkeypatch):
    root = make_course(tmp_path / "course", {"Übung": ["Größe"]})
    monkeypatch.chdir(root)
    assert find_assignment(root, normalize("NFD", "Übung")).name == "Übung"
    answer(Assignment(root, "Übung"), "ada")
    handed_in = root / "submitted" / "ada" / "Übung" / "Größe.ipynb"
    handed_in.rename(handed_in.with_name(normalize("NFD", handed_in.name)))
    command("grade", "Übung", "--isolation", "none")
    assert scores(root, "Übung") == {"ada": (1, {"Größe": 1})}


def test_a_module_called_like_the_folder_is_no_script(tmp_path):
    root = make_course(tmp_path / "course", {"hw": ["tasks"]})
    (root / "source" / "hw" / "hw.py").write_text("def helper():\n    return 1\n")
    (assignment,) = assignments(root)
    assert assignment.source.name == "tasks.ipynb"
    (root / "source" / "hw" / "hw.py").write_text("# %% [markdown]\n# # Tasks\n")
    (assignment,) = assignments(root)
    assert assignment.source.name == "hw.py" and assignment.notebook == "hw"


def test_an_assignment_that_is_not_there_is_answered_with_those_that_are(tmp_path):
    root = make_course(tmp_path / "course", {"week1": ["vectors"]})
    write_source(root, ".ipynb_checkpoints", "vectors-checkpoint")
    with pytest.raises(CourseError, match="no assignment 'vectors'. Available: week1"):
        find_assignment(root, "vectors")
