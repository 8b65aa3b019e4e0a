"""`nbgrader autograde` meets links, pipes and giants beside a notebook: it follows none, and leaves all where they are."""

import os

import pytest

from autograder.untrusted.staging import MOST_BYTES, MOST_FILES, staged
from tests.autograder.small_class import NAME
from tests.autograder.test_button import press
from tests.hostile.hostile import snapshot


@pytest.fixture
def handed_in(tmp_path):
    """A folder with everything that can lie in one, and a secret beside it."""
    folder = tmp_path / "submitted" / "ada" / NAME
    folder.mkdir(parents=True)
    fill(folder, tmp_path)
    return folder


def fill(folder, outside):
    (outside / "secret").mkdir()
    (outside / "secret" / "solution.py").write_text("the solution")
    (folder / "helper.py").write_text("x = 1")
    (folder / "inner").mkdir(exist_ok=True)
    (folder / "inner" / "table.csv").write_text("1,2")
    (folder / "link.py").symlink_to(outside / "secret" / "solution.py")
    (folder / "dangling").symlink_to(outside / "nowhere")
    (folder / "folder").symlink_to(outside / "secret")
    (folder / "inner" / "up").symlink_to(outside)
    (folder / "itself").symlink_to(folder)
    os.mkfifo(folder / "pipe.ipynb")
    os.mkfifo(folder / "inner" / "pipe")
    with (folder / "giant.bin").open("wb") as file:
        file.truncate(MOST_BYTES + 1)  # takes no room on the disk, but copying it would


def untouched(folder):
    """Each file in it, with its mode, its size and the time of its last change."""
    return {path: seen[:3] for path, seen in snapshot(folder).items()}


def test_only_regular_files_are_staged(handed_in):
    before = untouched(handed_in)
    (handed_in / "timestamp.txt").write_text("2026-10-01 12:00:00 UTC")
    with staged(handed_in) as (copy, left_out):
        files = sorted(str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file())
        assert files == ["helper.py", "inner/table.csv", "timestamp.txt"]
        assert not any(path.is_symlink() for path in copy.rglob("*"))
    assert set(left_out) == {
        "link.py", "dangling", "folder", "inner/up", "itself", "pipe.ipynb", "inner/pipe", "giant.bin",
    }  # fmt: skip
    assert not copy.exists()
    (handed_in / "timestamp.txt").unlink()
    assert untouched(handed_in) == before


@pytest.mark.slow
def test_too_many_files_are_not_all_staged(handed_in):
    for number in range(MOST_FILES + 5):
        (handed_in / f"{number}.txt").touch()
    with staged(handed_in) as (copy, left_out):
        assert sum(path.is_file() for path in copy.rglob("*")) == MOST_FILES
        assert len(left_out) > 5


@pytest.mark.slow
def test_the_button_changes_nothing_that_was_handed_in(own_class, tmp_path):
    folder = own_class.course / "submitted" / "bob" / NAME
    fill(folder, tmp_path)
    (folder / "timestamp.txt").unlink(missing_ok=True)
    os.mkfifo(folder / "timestamp.txt")  # reading it would wait for ever
    before = untouched(folder)
    answer = press(own_class.course, NAME, "bob")
    assert answer["success"], answer["log"]
    assert untouched(folder) == before
    graded = own_class.course / "autograded" / "bob" / NAME
    kept = {str(path.relative_to(graded)) for path in graded.rglob("*") if not path.is_dir()}
    assert {"inner/table.csv", f"{NAME}.ipynb"} <= kept  # the course ignores "*.py"
    assert kept.isdisjoint(
        ("link.py", "folder/solution.py", "giant.bin", "pipe.ipynb", "dangling", "timestamp.txt")
    )


@pytest.mark.slow
def test_a_link_in_the_notebook_s_place_is_the_student_s_verdict_and_stays(own_class, tmp_path):
    notebook = own_class.course / "submitted" / "bea" / NAME / f"{NAME}.ipynb"
    notebook.unlink()
    notebook.symlink_to(own_class.course / "solutions" / NAME / f"{NAME}.py")
    answer = press(own_class.course, NAME, "bea")
    assert answer["success"] and "not a regular file" in " ".join(answer["log"].split())
    assert notebook.is_symlink()
