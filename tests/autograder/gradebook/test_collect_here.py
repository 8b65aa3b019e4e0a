"""Hand-ins from Moodle, Canvas and folders: whose, which of several, and when."""

import json
import time
import zipfile
from datetime import datetime

import pytest

from autograder.errors import CourseError
from autograder.gradebook import feedback
from autograder.gradebook.collect import collect, explain, read_owners
from autograder.gradebook.gradebook import register
from autograder.gradebook.roster import Roster, Unknown, letters, read_table
from autograder.untrusted.downloads import FileOwner
from tests.autograder.here import NAME

FILE = f"{NAME}.ipynb"
MOODLE = "Ada Lovelace_12345_assignsubmission_file"
DUE = datetime(2026, 10, 5, 12)


@pytest.fixture
def course(small):
    with small.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=DUE)
        gradebook.update_or_create_student(
            "ada", first_name="Ada", last_name="Lovelace", email="ada@example.org"
        )
        gradebook.update_or_create_student("bob", first_name="Bob", last_name="Müller", lms_user_id="4711")
    return small


@pytest.fixture
def in_tokyo(monkeypatch):
    """This machine's clock is nine hours ahead of UTC."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def a_notebook(mark: str) -> str:
    return json.dumps({"cells": [], "metadata": {"mark": mark}, "nbformat": 4, "nbformat_minor": 5})


def archive(folder, *files, when=(2026, 11, 1, 12, 0, 0)):
    """Each file is a notebook that holds its own path; a pair has another content."""
    path = folder / "download.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for file in files:
            name, content = file if isinstance(file, tuple) else (file, a_notebook(file))
            packed.writestr(zipfile.ZipInfo(name, when), content)
    return path


def collected(course, source, wanted="", table=None):
    with course.gradebook() as gradebook:
        return collect(course.root, source, gradebook, wanted, table)


def taken(course, student):
    path = course.root / "submitted" / student / NAME / FILE
    return json.loads(path.read_text())["metadata"]["mark"]


def told(course, student):
    return (course.root / "submitted" / student / NAME / "timestamp.txt").read_text()


def test_moodle_s_students_are_found_by_name_whatever_their_accents(course, tmp_path):
    files = [
        f"{MOODLE}/{FILE}",
        f"MULLER Bob_7_assignsubmission_file_{FILE}",
        "x_1_assignsubmission_file/readme.txt",
    ]
    done = collected(course, archive(tmp_path, *files))
    assert (taken(course, "ada"), taken(course, "bob")) == (files[0], files[1])
    assert not done.left and done.others == 1
    assert read_owners(course.assignment)["ada"].prefix == f"{MOODLE}/"


def test_the_copy_with_the_largest_number_counts(course, tmp_path):
    files = [f"{MOODLE}/{NAME}{copy}.ipynb" for copy in (" (2)", " (10)", "", " (1)")]
    done = collected(course, archive(tmp_path, *files))
    assert taken(course, "ada") == f"{MOODLE}/{NAME} (10).ipynb"
    assert done.handed_in[0].passed_over == (files[0], files[3], files[2])
    assert f"ada handed in 4 notebooks: {NAME} (10).ipynb counts, the last." in explain(done)


def test_canvas_tells_the_later_of_two_by_its_number_and_who_is_late(course, tmp_path):
    files = [f"mullerbob_LATE_4711_9_{FILE}", f"mullerbob_LATE_4711_10_{NAME}-1.ipynb"]
    done = collected(course, archive(tmp_path, *files))
    assert taken(course, "bob") == files[1]
    assert done.handed_in[0].late and told(course, "bob") == "2026-10-05 12:00:01 UTC"


def test_in_folders_the_newest_file_counts(course, tmp_path):
    path = tmp_path / "download.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for hour, name in ((9, f"ada/{FILE}"), (8, f"ada/{NAME} (2).ipynb")):
            packed.writestr(zipfile.ZipInfo(name, (2026, 10, 1, hour, 0, 0)), a_notebook(name))
    collected(course, path)
    assert taken(course, "ada") == f"ada/{FILE}"


def test_a_worksheet_s_times_are_those_of_this_machine_s_clock(course, tmp_path, in_tokyo):
    table = tmp_path / "worksheet.csv"
    table.write_text(
        "\ufeffIdentifier,Full name,ID number,Last modified (submission)\n"
        'Participant 12345,A. L.,ada,"Monday, 5 October 2026, 9:01 PM"\n'
    )
    done = collected(course, archive(tmp_path, f"{MOODLE}/{FILE}"), table=read_table(table))
    assert told(course, "ada") == "2026-10-05 12:01:00 UTC"
    assert done.handed_in[0].exact and done.handed_in[0].late


def test_so_are_those_in_an_archive(course, tmp_path, in_tokyo):
    done = collected(course, archive(tmp_path, f"ada/{FILE}", when=(2026, 10, 5, 20, 0, 0)))
    assert told(course, "ada") == "2026-10-05 11:00:00 UTC" and not done.handed_in[0].late


def test_a_time_of_the_download_makes_nobody_late(course, tmp_path):
    done = collected(course, archive(tmp_path, f"{MOODLE}/{FILE}"))
    assert told(course, "ada") == "2026-10-05 12:00:00 UTC"
    assert not done.handed_in[0].late and not done.handed_in[0].exact
    assert any("count as in time" in line and "--names" in line for line in explain(done))


def test_a_timestamp_beside_the_notebook_is_the_time(course, tmp_path):
    stamp = (f"ada/{NAME}/timestamp.txt", "2026-10-05 12:30:00 UTC")
    done = collected(course, archive(tmp_path, f"ada/{NAME}/{FILE}", stamp))
    assert told(course, "ada") == "2026-10-05 12:30:00 UTC" and done.handed_in[0].late


def test_what_was_handed_in_later_stays(course, tmp_path):
    folder = course.hand_in("ada")
    (folder / "timestamp.txt").write_text("2026-10-09 12:00:00 UTC")
    before = (folder / FILE).read_bytes()
    stamp = (f"ada/{NAME}/timestamp.txt", "2026-10-05 11:00:00 UTC")
    done = collected(course, archive(tmp_path, f"ada/{NAME}/{FILE}", stamp))
    assert (folder / FILE).read_bytes() == before and not done.handed_in
    assert "was handed in later (2026-10-09 12:00:00 UTC)" in done.superseded[0].reason


def test_a_later_download_replaces_an_earlier_one(course, tmp_path):
    for hour in ("10", "11"):
        stamp = (f"ada/{NAME}/timestamp.txt", f"2026-10-05 {hour}:00:00 UTC")
        notebook = (f"ada/{NAME}/{FILE}", a_notebook(hour))
        collected(course, archive(tmp_path, notebook, stamp))
    assert taken(course, "ada") == "11" and told(course, "ada") == "2026-10-05 11:00:00 UTC"


def test_two_people_with_one_name_are_not_mixed_up(course, tmp_path):
    files = [f"Ada Lovelace_{number}_assignsubmission_file/{FILE}" for number in (1, 2)]
    done = collected(course, archive(tmp_path, *files))
    assert not done.handed_in and len(done.left) == 2
    assert "ada would be both 1 and 2: give --names" in done.left[0].reason


@pytest.mark.parametrize("path", ["../ada/01_steps.ipynb", "/ada/01_steps.ipynb", "C:/ada/01_steps.ipynb"])
def test_a_path_that_leads_out_of_the_archive_is_not_taken(course, tmp_path, path):
    done = collected(course, archive(tmp_path, path))
    assert not done.handed_in and "leads out of the archive" in done.left[0].reason


def test_a_link_in_submitted_is_not_written_through(course, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (course.root / "submitted").mkdir()
    (course.root / "submitted" / "ada").symlink_to(elsewhere)
    done = collected(course, archive(tmp_path, f"{MOODLE}/{FILE}"))
    assert not any(elsewhere.iterdir()) and "is a link or a file" in done.left[0].reason


def test_another_assignment_and_a_nameless_file_are_left_with_the_reason(course, tmp_path):
    done = collected(course, archive(tmp_path, "ada/other.ipynb", FILE))
    assert [entry.reason for entry in done.left] == [
        "it is called like no assignment: say which it is, behind the file.",
        "its path names no student: put it into a folder STUDENT/.",
    ]
    assert not collected(course, archive(tmp_path, "ada/other.ipynb"), NAME).left


def test_a_name_is_letters(course):
    assert letters("Öz-Kaya, Cem") == letters("Oz kaya cem")
    with course.gradebook() as gradebook:
        students = list(gradebook.students)
        roster = Roster(students, {})
        assert roster.find(FileOwner("canvas", "whoever", "4711")) == "bob"
        assert roster.find(FileOwner("plain", "ADA@example.org")) == "ada"
        with pytest.raises(Unknown, match="nobody in the gradebook"):
            roster.find(FileOwner("moodle", "Eva", "1"))
        with pytest.raises(Unknown, match="no names"):
            roster.find(FileOwner("canvas", "", "", FILE))


def test_a_table_with_semicolons_in_another_language_is_read(tmp_path):
    table = tmp_path / "bewertung.csv"
    table.write_text("ID;Vollständiger Name;E-Mail-Adresse\nTeilnehmer/in 7;A. King;bob@example.org\n")
    assert read_table(table)["7"].ids == ("bob@example.org",)
    table.write_text("Name;Points\nx;1\n")
    with pytest.raises(CourseError, match="neither the column Identifier"):
        read_table(table)


def test_feedback_goes_back_under_the_name_that_the_system_gave(course, tmp_path):
    files = [f"{MOODLE}/{FILE}", f"mullerbob_4711_9_{FILE}"]
    collected(course, archive(tmp_path, *files))
    for student in ("ada", "bob", "cem"):
        page = feedback.page_of(course.assignment, student)
        page.parent.mkdir(parents=True)
        page.write_text(student)
    packed = feedback.pack(course.assignment, ["ada", "bob", "cem"], tmp_path)
    names = {path.name: zipfile.ZipFile(path).namelist() for path in packed.archives}
    assert names == {
        f"{NAME}-feedback-moodle.zip": [f"{MOODLE}/{NAME}.html"],
        f"{NAME}-feedback-canvas.zip": [f"mullerbob_4711_9_{NAME}.html"],
    }
    assert [entry.student for entry in packed.left] == ["cem"]


def test_without_a_collection_feedback_is_packed_by_student(course, tmp_path):
    page = feedback.page_of(course.assignment, "ada")
    page.parent.mkdir(parents=True)
    page.write_text("well done")
    (path,) = feedback.pack(course.assignment, ["ada"], tmp_path).archives
    assert path.name == f"{NAME}-feedback.zip" and zipfile.ZipFile(path).namelist() == [f"ada/{NAME}.html"]


def test_registering_again_keeps_the_due_date(course):
    register(course.assignment)
    with course.gradebook() as gradebook:
        assert gradebook.find_assignment(NAME).duedate == DUE
        assert gradebook.find_assignment(NAME).max_score == 10
