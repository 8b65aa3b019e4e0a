"""Whose a downloaded file is, and which of an archive's files are read."""

import zipfile

import pytest

from autograder.untrusted.downloads import Budget, FileOwner, _in_archive, owner_of, which_assignment
from autograder.untrusted.submission import Unreadable
from tests.autograder.here import NAME

FILE = f"{NAME}.ipynb"
MOODLE = "Ada Lovelace_12345_assignsubmission_file"


def archive(folder, *files, when=(2026, 11, 1, 12, 0, 0)):
    """Each file is a notebook that holds its own path; a pair has another content."""
    path = folder / "download.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for file in files:
            name, content = file if isinstance(file, tuple) else (file, "x")
            packed.writestr(zipfile.ZipInfo(name, when), content)
    return path


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (f"{MOODLE}_/{FILE}", FileOwner("moodle", "Ada Lovelace", "12345", FILE, f"{MOODLE}_/")),
        (f"{MOODLE}_{FILE}", FileOwner("moodle", "Ada Lovelace", "12345", FILE, f"{MOODLE}_")),
        (
            f"lovelaceada_LATE_12_345_{FILE}",
            FileOwner("canvas", "lovelaceada", "12", FILE, "lovelaceada_LATE_12_345_", late=True, order=345),
        ),
        (f"class/ada/{NAME}/{FILE}", FileOwner("plain", "ada", "", FILE, "ada/", NAME)),
        (f"LATE_anon_abc_12_{FILE}", FileOwner("canvas", "", "", f"LATE_anon_abc_12_{FILE}")),
        (FILE, None),
    ],
)
def test_a_path_names_a_person_as_its_system_does(path, name):
    assert owner_of(path, [NAME]) == name


@pytest.mark.parametrize(
    ("file", "again"), [("01_steps", 0), ("01_steps (2)", 2), ("01_steps-3", 3), ("01_steps-3 (1)", 1)]
)
def test_a_browser_s_number_is_not_part_of_the_name(file, again):
    assert which_assignment(FileOwner("moodle", "x", file=f"{file}.ipynb"), [NAME]) == (NAME, again)


def test_only_so_much_is_read_of_all_notebooks_together(tmp_path):
    with zipfile.ZipFile(archive(tmp_path, ("a", "x" * 10), ("b", "y" * 10))) as packed:
        files, _ = _in_archive(packed)
        budget = Budget(15)
        assert budget.read(files[0]) == b"x" * 10
        with pytest.raises(Unreadable, match="all notebooks together are too large"):
            budget.read(files[1])


@pytest.mark.parametrize(
    "path", ["../ada/x.ipynb", "ada/../../x.ipynb", "/ada/x.ipynb", "C:/ada/x.ipynb", "ada\\..\\x"]
)
def test_a_path_that_leads_elsewhere_is_left_out(tmp_path, path):
    with zipfile.ZipFile(archive(tmp_path, (path, "x"), ("ada/x.ipynb", "y"))) as packed:
        files, left = _in_archive(packed)
    assert [file.path for file in files] == ["ada/x.ipynb"]
    assert [entry.reason for entry in left] == ["its path leads out of the archive."]
