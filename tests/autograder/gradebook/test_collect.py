"""What Moodle, Canvas or a person collected goes into submitted/, whoever made the archive; and feedback goes back."""

import io
import stat
import struct
import zipfile
from datetime import datetime

import pytest

from autograder.gradebook import collect as collecting
from autograder.gradebook import feedback
from autograder.untrusted import downloads
from tests.autograder.commands import command, refusal
from tests.autograder.gradebook.downloads import FILE, MOODLE, a_notebook, archive, taken, told
from tests.autograder.here import NAME, Course

OTHER = "02_tests"


def collect(*arguments, status: int = 0) -> str:
    return " ".join(command("collect", *arguments, status=status).split())


def everything(course: Course) -> list[str]:
    files = (path for path in (course.root / "submitted").rglob("*") if path.is_file())
    return sorted(path.relative_to(course.root).as_posix() for path in files)


def test_moodles_download_finds_students_by_name_and_counts_all_as_in_time(course, tmp_path):
    files = {
        f"{MOODLE}/{FILE}": a_notebook("ada"),
        f"Bob Müller_12346_assignsubmission_file_/{FILE}": a_notebook("bob"),  # before Moodle 4.1
        f"Cem Öz-Kaya_12347_assignsubmission_file_{FILE}": a_notebook("cem"),  # without folders
        "Ada Lovelace_12345_assignsubmission_onlinetext/onlinetext.html": "Hello.",
    }
    said = collect(archive(tmp_path, *files.items()), NAME)
    assert [taken(course, student) for student in ("ada", "bob", "cem")] == ["ada", "bob", "cem"]
    assert f"{NAME}: 3 submissions put into submitted/." in said
    assert (
        "count as on time" in said
        and "Late: " not in said
        and "--names" in said
        and "Files other than notebooks, not collected: 1" in said
    )
    assert (
        told(course, "ada") == "2026-10-05 12:00:00 UTC"
    )  # not that of the download, which is after the due date


def test_moodles_worksheet_says_who_is_who_and_when(course, tmp_path, monkeypatch):
    worksheet = tmp_path / "worksheet.csv"
    worksheet.write_text(
        "\ufeffIdentifier,Full name,ID number,Email address,Status,Last modified (submission)\n"
        'Participant 7,A. King,ada,x@example.org,Submitted,"Monday, 5 October 2026, 11:59 PM"\n'
        'Participant 8,B. M.,,bob@example.org,Submitted,"Sunday, 4 October 2026, 9:05 AM"\n'
        "Participant 9,Dua L.,dua,,Submitted,-\n"
    )
    files = {f"Participant_{n}_assignsubmission_file/{FILE}": a_notebook(str(n)) for n in (7, 8, 9)}
    monkeypatch.setenv("TZ", "UTC")
    said = collect(archive(tmp_path, *files.items()), NAME, "--names", worksheet)
    assert (taken(course, "ada"), taken(course, "bob"), taken(course, "dua")) == ("7", "8", "9")
    assert told(course, "ada") == "2026-10-05 23:59:00 UTC" and "Late: ada." in said
    assert told(course, "bob") == "2026-10-04 09:05:00 UTC"
    assert "These students are not in the gradebook yet and will be added when they are graded: dua." in said


def test_a_worksheet_in_another_language_still_says_who_by_address(course, tmp_path):
    worksheet = tmp_path / "bewertung.csv"
    worksheet.write_text("ID;Vollständiger Name;E-Mail-Adresse\nTeilnehmer/in 7;A. King;bob@example.org\n")
    files = {f"A. King_7_assignsubmission_file/{FILE}": a_notebook("7")}
    collect(archive(tmp_path, *files.items()), NAME, "--names", worksheet)
    assert taken(course, "bob") == "7"


def test_canvas_download_has_late_marks_and_several_attempts(course, tmp_path):
    files = {
        f"lovelaceada_12_101_{FILE}": a_notebook("first"),
        f"lovelaceada_12_205_{NAME}-1.ipynb": a_notebook("last"),
        f"müllerbob_LATE_13_102_{FILE}": a_notebook("bob"),
        "özkayacem_14_103_homework.ipynb": a_notebook("cem"),
    }
    said = collect(archive(tmp_path, *files.items()), NAME)
    assert taken(course, "ada") == "last"
    assert f"ada handed in 2 notebooks: {NAME}-1.ipynb counts; ignored: lovelaceada_12_101_{FILE}." in said
    assert told(course, "bob") == "2026-10-05 12:00:01 UTC" and "Late: bob." in said
    assert told(course, "ada") == "2026-10-05 12:00:00 UTC"
    assert taken(course, "cem") == "cem"  # the only notebook, whatever it is called


def test_canvas_number_decides_where_it_is_known(course, tmp_path):
    with course.gradebook() as gradebook:
        gradebook.update_or_create_student("bob", lms_user_id="12", first_name="Bob", last_name="Müller")
    collect(archive(tmp_path, (f"lovelaceada_12_101_{FILE}", a_notebook("12"))))
    assert taken(course, "bob") == "12"


def test_an_exported_gradebook_of_canvas_says_who_a_number_is(course, tmp_path):
    table = tmp_path / "grades.csv"
    table.write_text("Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\nX,12,,cem,A\n")
    collect(archive(tmp_path, (f"x_12_101_{FILE}", a_notebook("12"))), "--names", table)
    assert taken(course, "cem") == "12"


def test_a_folder_of_students_with_times(course, tmp_path):
    source = tmp_path / "collected"
    for student, mark in (("ada", "of ada"), ("new-one", "of new")):
        (source / student / NAME).mkdir(parents=True)
        (source / student / NAME / FILE).write_text(a_notebook(mark))
    (source / "ada" / NAME / "timestamp.txt").write_text("2026-10-06 08:00:00 UTC")
    (source / "bob").mkdir()
    (source / "bob" / f"{OTHER}.ipynb").write_text(a_notebook("other"))
    said = collect(source)
    assert taken(course, "ada") == "of ada" and told(course, "ada") == "2026-10-06 08:00:00 UTC"
    assert taken(course, "new-one") == "of new" and "added when they are graded: new-one" in said
    assert taken(course, "bob", OTHER) == "other"
    assert (
        "Late: ada." in said and "timestamp.txt" in said
    )  # the others have no time, and are not late by that of a copy


def test_what_was_handed_in_later_stays(course, tmp_path):
    collect(archive(tmp_path, (f"ada/{FILE}", a_notebook("later")), when=(2026, 10, 5, 0, 0, 0)))
    earlier = archive(tmp_path, (f"ada/{FILE}", a_notebook("earlier")), when=(2026, 10, 1, 0, 0, 0))
    assert "Kept unchanged: ada" in collect(earlier)
    assert taken(course, "ada") == "later"


def test_whose_time_nobody_tells_is_in_time_when_a_due_date_is_set_afterwards(course, tmp_path):
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=None)
    files = {f"{MOODLE}/{FILE}": a_notebook("ada")}
    assert "count as on time" in collect(archive(tmp_path, *files.items()), NAME)
    assert everything(course) == [f"submitted/ada/{NAME}/{FILE}"], (
        "and no time that would be after the due date"
    )
    earlier = archive(tmp_path, *files.items(), when=(2026, 10, 31, 0, 0, 0))
    assert "Kept unchanged: ada" in collect(earlier, NAME), (
        "of two downloads the later one counts all the same"
    )


@pytest.mark.parametrize("due", [datetime(2026, 10, 5, 12), None])
def test_a_time_that_is_told_counts_more_than_one_that_was_assumed(course, tmp_path, due):
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=due)
    download = archive(tmp_path, (f"{MOODLE}/{FILE}", a_notebook("ada")))
    collect(download, NAME)
    worksheet = tmp_path / "worksheet.csv"
    worksheet.write_text(
        "Identifier,Full name,ID number,Last modified (submission)\n"
        'Participant 12345,Ada Lovelace,ada,"Sunday, 4 October 2026, 9:05 AM"\n'
    )
    assert "Left" not in collect(download, NAME, "--names", worksheet)
    assert told(course, "ada") == "2026-10-04 09:05:00 UTC"
    collect(download, NAME)
    assert told(course, "ada") == "2026-10-04 09:05:00 UTC", "of the same file, though nobody tells it now"
    worksheet.write_text(worksheet.read_text().replace("4 October", "3 October"))
    assert "Kept unchanged: ada" in collect(download, NAME, "--names", worksheet), (
        "now the time is that of the hand-in"
    )


def test_what_cannot_be_matched_is_named_and_stops_nobody(course, tmp_path):
    with course.gradebook() as gradebook:
        for student in ("eva1", "eva2"):
            gradebook.update_or_create_student(student, first_name="Eva", last_name="Twin")
    files = {
        f"{MOODLE}/{FILE}": a_notebook("ada"),
        f"Nobody Known_1_assignsubmission_file/{FILE}": a_notebook(),
        f"Eva Twin_2_assignsubmission_file/{FILE}": a_notebook(),
        f"Bob Müller_3_assignsubmission_file/{OTHER}.ipynb": a_notebook(),
        "stray.ipynb": a_notebook(),
    }
    said = collect(archive(tmp_path, *files.items()), NAME, status=1)
    assert taken(course, "ada") == "ada" and "4 could not be collected" in said
    assert "Nobody Known" in said and "eva1 and eva2 have this name" in said
    assert (
        f"it is named after {OTHER}, not {NAME}" in said
        and "stray.ipynb: it is not named like the others, which come from Moodle" in said
    )
    assert everything(course) == [f"submitted/ada/{NAME}/{FILE}", f"submitted/ada/{NAME}/timestamp.txt"]
    hidden = archive(tmp_path, (f"anon_x3Fz1_44_{FILE}", a_notebook()))
    assert "end anonymous grading" in collect(hidden, NAME, status=1)


EVIL = (
    f"../../evil/{FILE}",
    f"/evil/{FILE}",
    f"a/../../evil/{FILE}",
    f"C:/evil/{FILE}",
    f"..\\evil\\{FILE}",
    f"evil\n/{FILE}",
    f".../{FILE}",
    f"../{FILE}",
    f".hidden/{FILE}",
    f"{'x' * 5000}/{FILE}",
    f"Ada_../..Lovelace_1_assignsubmission_file/{FILE}",
)


def test_who_takes_another_s_name_hands_in_for_nobody(course, tmp_path):
    files = {
        f"{MOODLE}/{FILE}": a_notebook("ada"),
        f"Ada Lovelace_666_assignsubmission_file/{FILE}": a_notebook("forged"),
    }
    said = collect(archive(tmp_path, *files.items()), NAME, status=1)
    assert (
        "2 could not be collected" in said and "12345 and 666 would both count as ada: give --names" in said
    )
    assert not (course.root / "submitted" / "ada").exists()


@pytest.mark.parametrize("outer", [("zoe", "zoe"), ("submitted/zoe", "submitted/zoe"), ("zoe", "yan")])
def test_a_student_s_folder_of_other_students_replaces_nobody_s_hand_in(course, tmp_path, outer):
    honest = {f"{student}/{FILE}": a_notebook(student) for student in ("ada", "bob", "cem")}
    collect(archive(tmp_path, *honest.items()))
    forged = {
        f"{folder}/{name}/{FILE}": a_notebook("forged")
        for folder, name in zip(outer, ("ada", "bob"), strict=True)
    }
    said = collect(archive(tmp_path, *forged.items(), when=(2026, 11, 2, 12, 0, 0)), status=1)
    assert "2 could not be collected" in said and "add --inside zoe." in said
    assert [taken(course, student) for student in ("ada", "bob")] == ["ada", "bob"]


def test_an_instructor_confirms_a_folder_around_those_of_the_students(course, tmp_path):
    files = {f"Group A/ada/{FILE}": a_notebook("ada"), f"B/{MOODLE}/{FILE}": a_notebook("forged")}
    source = archive(tmp_path / "late.zip", *files.items())
    collect(source, "--inside", "Group A/", status=1)
    assert taken(course, "ada") == "ada"
    said = refusal("collect", source, "--inside", "Group B")
    assert "--inside Group B: late.zip has no folder of this name" in said


def test_no_path_leads_out_of_submitted(course, tmp_path):
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    packed = archive(tmp_path, *EVIL, (f"ada/{FILE}", a_notebook("x")))
    collect(packed, NAME, status=1)
    made = {path for path in tmp_path.rglob("*") if path.is_file()} - {*before, packed}
    inside = course.root / "submitted"
    others = {path for path in made if inside not in path.parents and ".autograder" not in path.parts}
    assert taken(course, "ada") == "x"
    assert others == {course.root / "unmatched.csv"}, "where the command was run"
    assert {path.parents[1].name for path in made if inside in path.parents} == {"ada"}


def test_an_id_from_a_table_leads_nowhere_else(course, tmp_path):
    table = tmp_path / "grades.csv"
    table.write_text("Student,ID,SIS Login ID\nX,12,../../../evil\nY,13,.autograder\n")
    files = {f"x_12_1_{FILE}": a_notebook(), f"y_13_2_{FILE}": a_notebook()}
    collect(archive(tmp_path, *files.items()), "--names", table, status=1)
    assert not (course.root / "submitted").exists() or not everything(course)


def test_links_are_neither_followed_nor_written_through(course, tmp_path):
    secret = tmp_path / "secret.ipynb"
    secret.write_text(a_notebook("secret"))
    entry = zipfile.ZipInfo(f"ada/{FILE}")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "links.zip", "w") as packed:
        packed.writestr(entry, str(secret))
    assert "it is a link" in collect(tmp_path / "links.zip", NAME, status=1)
    source = tmp_path / "folder"
    (source / "bob").mkdir(parents=True)
    (source / "bob" / FILE).symlink_to(secret)
    assert "it is a link" in collect(source, NAME, status=1)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (course.root / "submitted").mkdir(exist_ok=True)
    (course.root / "submitted" / "cem").symlink_to(elsewhere)
    both = {f"cem/{FILE}": a_notebook(), f"ada/{FILE}": a_notebook("ada")}
    assert "is a link or a file" in collect(archive(tmp_path, *both.items()), status=1)
    assert taken(course, "ada") == "ada" and not list(elsewhere.iterdir())


@pytest.mark.slow
def test_a_bomb_is_read_no_further_than_its_bound(course, tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "MAX_FILE_BYTES", 1 << 20)
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(f"ada/{FILE}", b"0" * (64 << 20))
        packed.writestr(f"bob/{FILE}", a_notebook("bob"))
    lies = bytearray(bomb.getvalue())  # the first entry says that it is small
    place = lies.index(b"PK\x01\x02")
    struct.pack_into("<L", lies, place + 24, 100)
    for content in (bomb.getvalue(), bytes(lies)):
        (tmp_path / "bomb.zip").write_bytes(content)
        collect(tmp_path / "bomb.zip", NAME, status=1)
        assert not (course.root / "submitted" / "ada").exists()
        assert taken(course, "bob") == "bob"


def test_all_notebooks_together_are_bounded(course, tmp_path, monkeypatch):
    monkeypatch.setattr(collecting.Budget.__init__, "__defaults__", (300,))
    files = {f"{student}/{FILE}": a_notebook("x" * 100) for student in ("ada", "bob", "cem")}
    assert "the notebooks are too large to read at once" in collect(
        archive(tmp_path, *files.items()), NAME, status=1
    )
    assert len(everything(course)) == 2


def test_a_list_of_files_without_end_is_not_read(course, tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "MOST_LISTED", 1000)
    packed = archive(tmp_path, *(f"s{n}/{FILE}" for n in range(50)))
    assert "contains more files than can be read" in refusal("collect", packed)


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06", b"no archive", b"PK\x03\x04" + bytes(100)])
def test_what_is_no_archive_is_a_sentence(course, tmp_path, content):
    (tmp_path / "x.zip").write_bytes(content)
    assert "is neither a zip archive nor a folder" in refusal("collect", tmp_path / "x.zip")


def test_feedback_goes_back_under_the_names_that_came(course, tmp_path):
    files = {
        f"{MOODLE}/{FILE}": a_notebook(),
        f"Bob Müller_12346_assignsubmission_file_{FILE}": a_notebook(),
    }
    collect(archive(tmp_path, *files.items()), NAME)
    collect(archive(tmp_path, (f"özkayacem_LATE_14_103_{FILE}", a_notebook())), NAME)
    for student in ("ada", "bob", "cem", "by-mail"):
        page = feedback.page_of(course.assignment, student)
        page.parent.mkdir(parents=True)
        page.write_text(student)
    packed = feedback.pack(course.assignment, ["ada", "bob", "cem", "by-mail"], tmp_path)
    assert {path.name for path in packed.archives} == {
        f"{NAME}-feedback-{one}.zip" for one in ("moodle", "canvas")
    }
    with zipfile.ZipFile(tmp_path / f"{NAME}-feedback-moodle.zip") as moodle:
        found = {name: moodle.read(name).decode() for name in moodle.namelist()}
    assert found == {
        f"{MOODLE}/{NAME}.html": "ada",
        f"Bob Müller_12346_assignsubmission_file_{NAME}.html": "bob",
    }
    with zipfile.ZipFile(tmp_path / f"{NAME}-feedback-canvas.zip") as canvas:
        assert canvas.namelist() == [f"özkayacem_LATE_14_103_{NAME}.html"]
    assert [one.student for one in packed.left] == ["by-mail"]
