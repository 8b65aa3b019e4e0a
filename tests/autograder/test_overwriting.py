"""No command destroys a file that it did not write: docs/instructors.md, "What each command writes"."""

import os
import zipfile
from pathlib import Path

import pytest
from nbformat.v4 import new_notebook

from autograder.authoring.builder import put
from autograder.authoring.demo import copy_course
from autograder.errors import CourseError
from autograder.files import write_product
from autograder.source import write_notebook
from tests.autograder.commands import command, refusal
from tests.autograder.here import NAME
from tests.conftest import ROOT


def a_file(path: Path, elsewhere: Path) -> None:
    path.write_text("mine")


def a_link_to_a_file(path: Path, elsewhere: Path) -> None:
    elsewhere.write_text("mine")
    path.symlink_to(elsewhere)


def a_link_that_leads_nowhere(path: Path, elsewhere: Path) -> None:
    path.symlink_to(elsewhere)


def a_folder(path: Path, elsewhere: Path) -> None:
    path.mkdir()
    (path / "notes").write_text("mine")


def our_own_that_was_edited(path: Path, elsewhere: Path) -> None:
    write_product(path.parent, path, "ours")
    path.write_text("ours, with notes of mine")


def everything_in(folder: Path) -> dict[str, bytes | str]:
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
    return found


@pytest.mark.parametrize(
    "obstacle",
    [a_file, a_link_to_a_file, a_link_that_leads_nowhere, a_folder, our_own_that_was_edited],
    ids=lambda obstacle: obstacle.__name__,
)
def test_what_a_command_did_not_write_is_refused_and_stays(tmp_path, obstacle):
    course = tmp_path / "course"
    course.mkdir()
    obstacle(course / "out.html", tmp_path / "elsewhere")
    before = everything_in(tmp_path)
    with pytest.raises(CourseError, match="out.html exists already"):
        write_product(course, course / "out.html", "ours")
    assert everything_in(tmp_path) == before


def test_what_a_command_wrote_is_replaced_even_after_the_course_was_moved(tmp_path):
    (tmp_path / "before").mkdir()
    write_product(tmp_path / "before", tmp_path / "before" / "out.html", "first")
    course = (tmp_path / "before").rename(tmp_path / "after")
    write_product(course, course / "out.html", "second")
    assert (course / "out.html").read_text() == "second"


WRITERS = {
    "report": (["report", NAME], "report.html"),
    "report on the term": (["report"], "term.html"),
    "export": (["export", NAME, "--to", "csv"], "grades.csv"),
    "feedback": (["feedback", NAME, "ada", "--zip"], f"{NAME}-feedback.zip"),
    "student-release": (["student-release", "students.zip"], "students.zip"),
}
"""Commands that write a file, and which."""


@pytest.fixture
def graded(small):
    small.hand_in("ada")
    small.grade_class()
    return small


@pytest.mark.slow
@pytest.mark.parametrize("writer", WRITERS)
def test_each_command_spares_a_foreign_file_and_replaces_its_own(graded, writer):
    arguments, name = WRITERS[writer]
    path = graded.root / name
    path.write_text("mine")
    assert f"{name} exists already" in refusal(*arguments)
    assert path.read_text() == "mine"
    path.rename(graded.root / "mine")
    for _ in range(2):
        command(*arguments)
    assert path.read_text(errors="replace") != "mine"


@pytest.mark.parametrize(
    "arguments",
    [["grade", NAME], ["regrade", NAME], ["mutants", NAME], ["rates", NAME], ["try", "steps.total"]],
    ids=lambda arguments: arguments[0],
)
def test_a_foreign_file_is_noticed_before_the_work_begins(small, arguments):
    (small.root / "results.json").write_text("mine")
    before = everything_in(small.root)
    assert "results.json exists already" in refusal(*arguments, "--json", "results.json")
    assert everything_in(small.root) == before


@pytest.mark.slow
def test_feedback_and_grading_leave_other_students_files_alone(graded):
    mine = [graded.root / folder / "ada" / "notes.txt" for folder in ("feedback", "autograded", "submitted")]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    command("feedback", NAME, "ada")
    graded.grade_class()
    assert [path.read_text() for path in mine] == ["mine"] * 3


def test_a_product_in_the_place_of_a_link_does_not_reach_where_it_leads(tmp_path):
    """`build`: the link goes, what it leads to stays."""
    (tmp_path / "mine").write_text("mine")
    for name in ("notebook.ipynb", "start.ipynb"):
        (tmp_path / name).symlink_to(tmp_path / "mine")
    put({tmp_path / "notebook.ipynb": b"{}"})
    write_notebook(new_notebook(), tmp_path / "start.ipynb")
    assert (tmp_path / "mine").read_text() == "mine"
    assert not (tmp_path / "notebook.ipynb").is_symlink()


@pytest.mark.parametrize(
    ("name", "said"),
    [("README.md", "README.md"), ("nbgrader_config.py", "a course"), (".gitignore", ".gitignore")],
)
@pytest.mark.parametrize(
    "obstacle", [a_file, a_link_that_leads_nowhere], ids=lambda obstacle: obstacle.__name__
)
def test_init_writes_nothing_where_something_is(tmp_path, monkeypatch, name, said, obstacle):
    course = tmp_path / "course"
    course.mkdir()
    obstacle(course / name, tmp_path / "elsewhere")
    before = everything_in(tmp_path)
    monkeypatch.chdir(course)
    assert f"already contains {said}" in refusal("init")
    assert everything_in(tmp_path) == before


def test_demo_wants_an_empty_folder(tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(CourseError, match="not empty"):
        copy_course(ROOT, tmp_path)
    assert everything_in(tmp_path) == {"notes": b"mine"}


def test_the_website_is_not_built_into_a_folder_of_other_things(tmp_path, monkeypatch):
    from tools.book.__main__ import main

    monkeypatch.chdir(ROOT)
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("mine")
    assert "contains files that are not part" in main(
        ["02_attention", "--into", str(site), "--parts", str(tmp_path / "parts")]
    )
    assert everything_in(tmp_path) == {"site": "", "site/index.html": b"mine"}


def test_collect_does_not_write_through_a_link(small, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / NAME).mkdir(parents=True)
    (elsewhere / NAME / f"{NAME}.ipynb").write_text("mine")
    (small.root / "submitted").mkdir()
    (small.root / "submitted" / "absent").symlink_to(elsewhere)
    with zipfile.ZipFile(tmp_path / "plain.zip", "w") as archive:
        archive.write(small.assignment.release, f"absent/{NAME}.ipynb")
    command("collect", tmp_path / "plain.zip", NAME, status=1)
    assert (elsewhere / NAME / f"{NAME}.ipynb").read_text() == "mine"
