"""Hand-ins from Moodle, Canvas and folders: whose, which of several, and when."""

import csv
import io
import json
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest

from autograder.errors import CourseError
from autograder.gradebook import feedback
from autograder.gradebook.choosing import RULE
from autograder.gradebook.collect import collect, explain, read_owners
from autograder.gradebook.gradebook import register
from autograder.gradebook.matching import Matches, read_matches, write_unmatched
from autograder.gradebook.roster import Roster, Unknown, letters
from autograder.gradebook.tables import read_rows
from autograder.gradebook.worksheet import read_worksheet
from autograder.untrusted.layouts import FileOwner
from autograder.untrusted.submission import LeftOut
from tests.autograder.commands import command
from tests.autograder.gradebook.downloads import FILE, MOODLE, a_notebook, archive, taken, told
from tests.autograder.here import NAME


@pytest.fixture
def in_tokyo(monkeypatch):
    """This machine's clock is nine hours ahead of UTC."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def collected(course, source, wanted="", table="", zone="", encoding="utf-8"):
    """What comes of a download, with a table of this text beside it."""
    file = source.with_name("worksheet.csv")
    file.write_text(table, encoding=encoding)
    with course.gradebook() as gradebook:
        return collect(course.root, source, gradebook, wanted, read_rows(file) if table else None, zone)


def test_moodle_s_students_are_found_by_name_whatever_their_accents(course, tmp_path):
    files = [
        f"{MOODLE}/{FILE}",
        f"MULLER Bob_7_assignsubmission_file_{FILE}",
        (f"{MOODLE}/readme.txt", "Hello."),
    ]
    done = collected(course, archive(tmp_path, *files))
    assert (taken(course, "ada"), taken(course, "bob")) == (files[0], files[1])
    assert not done.left and done.others == 1
    assert read_owners(course.assignment)["ada"].prefix == f"{MOODLE}/"


def test_the_copy_with_the_largest_number_counts(course, tmp_path):
    files = [f"{MOODLE}/{NAME}{copy}.ipynb" for copy in (" (2)", " (10)", "", " (1)")]
    done = collected(course, archive(tmp_path, *files))
    assert taken(course, "ada") == f"{MOODLE}/{NAME} (10).ipynb"
    assert set(done.handed_in[0].passed_over) == {files[0], files[2], files[3]}
    assert any(
        f"ada handed in 4 notebooks: {NAME} (10).ipynb counts; ignored: " in line for line in explain(done)
    )


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
    table = (
        "\ufeffIdentifier,Full name,ID number,Last modified (submission)\n"
        'Participant 12345,A. L.,ada,"Monday, 5 October 2026, 9:01 PM"\n'
    )
    done = collected(course, archive(tmp_path, f"{MOODLE}/{FILE}"), table=table)
    assert told(course, "ada") == "2026-10-05 12:01:00 UTC"
    assert done.handed_in[0].exact and done.handed_in[0].late


def test_so_are_those_in_an_archive(course, tmp_path, in_tokyo):
    done = collected(course, archive(tmp_path, f"ada/{FILE}", when=(2026, 10, 5, 20, 0, 0)))
    assert told(course, "ada") == "2026-10-05 11:00:00 UTC" and not done.handed_in[0].late


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


@pytest.mark.parametrize("path", ["../ada/01_steps.ipynb", "/ada/01_steps.ipynb", "C:/ada/01_steps.ipynb"])
def test_a_path_that_leads_out_of_the_archive_is_not_taken(course, tmp_path, path):
    done = collected(course, archive(tmp_path, path))
    assert not done.handed_in and "leads out of the archive" in done.left[0].reason


def test_another_assignment_and_a_nameless_file_are_left_with_the_reason(course, tmp_path):
    done = collected(course, archive(tmp_path, "ada/other.ipynb", FILE))
    assert {entry.reason for entry in done.left} == {
        "it is not named after an assignment: give the assignment after the file.",
        "its path names no student: put it into a folder STUDENT/.",
    }
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


def test_without_a_collection_feedback_is_packed_by_student(course, tmp_path):
    page = feedback.page_of(course.assignment, "ada")
    page.parent.mkdir(parents=True)
    page.write_text("well done")
    (path,) = feedback.pack(course.assignment, ["ada"], tmp_path).archives
    assert path.name == f"{NAME}-feedback.zip" and zipfile.ZipFile(path).namelist() == [f"ada/{NAME}.html"]


def work(course, **cells):
    """A notebook with an answer, as text."""
    answer = cells or {"steps-total": "def total(values):\n    return 1"}
    return nbformat.writes(course.with_cells(answer))


def zipped(**files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as inner:
        for name, content in files.items():
            inner.writestr(name, content)
    return packed.getvalue()


def is_work(course, student):
    return "return 1" in (course.root / "submitted" / student / NAME / FILE).read_text()


@pytest.mark.parametrize(
    "name",
    [
        f"{NAME}.IPYNB",
        f"{NAME}.ipynb.txt",
        f"{NAME}.ipynb.json",
        f"{NAME}.json",
        NAME,
        "homework.txt",
        "é.ipynb(1)",
    ],
)
@pytest.mark.parametrize("beside", [(), (f"{MOODLE}/{NAME}.html", "<p>")])
def test_what_parses_as_a_notebook_is_taken_whatever_it_is_called(course, tmp_path, name, beside):
    files = [(f"{MOODLE}/{name}", work(course)), *([beside] if beside else [])]
    done = collected(course, archive(tmp_path, *files), NAME)
    assert is_work(course, "ada") and not done.left and done.others == bool(beside)


def test_a_notebook_in_the_student_s_own_archive_is_taken(course, tmp_path):
    inner = {f"work/Bob Müller_7_assignsubmission_file_/{FILE}": work(course), "work/data.csv": "1,2"}
    done = collected(course, archive(tmp_path, (f"{MOODLE}/hw.zip", zipped(**inner))), NAME)
    assert is_work(course, "ada") and not (course.root / "submitted" / "bob").exists() and not done.left


@pytest.mark.parametrize(
    ("files", "held"),
    [
        ({f"{NAME}.html": "<p>"}, f"{NAME}.html"),
        ({"hw.zip": zipped(a="1")}, "hw.zip"),
        ({f"{NAME}.ipynb.txt": "no notebook"}, f"{NAME}.ipynb.txt"),
        ({"hw.zip": b"PK\x03\x04 and no more", "x.pdf": "%PDF"}, "hw.zip, x.pdf"),
        ({".ipynb_checkpoints/x.ipynb": "{}"}, "x.ipynb"),
        ({f"{n}.png": "x" for n in range(9)}, "0.png, 1.png, 2.png, 3.png, 4.png and 4 more"),
    ],
)
def test_whose_hand_in_holds_no_notebook_is_named_with_what_it_holds(course, tmp_path, files, held):
    paths = [(f"{MOODLE}/{name}", content) for name, content in files.items()]
    paths.append(("MULLER Bob_7_assignsubmission_onlinetext/onlinetext.html", "Here it is."))
    done = collected(course, archive(tmp_path, *paths), NAME)
    assert [str(entry) for entry in done.left] == [
        f"ada: handed in no notebook, but {held}.",
        "bob: handed in no notebook, but onlinetext.html.",
    ]


@pytest.mark.parametrize(
    ("content", "why"),
    [("", "is empty"), ("<html>", "is a web page"), ("%PDF-1.4", "is a PDF"), ("{", "is not a notebook")],
)
def test_so_is_whose_file_is_only_called_like_a_notebook(course, tmp_path, content, why):
    files = [f"ada/{FILE}", (f"bob/{FILE}", content), ("bob/x.pdf", "%PDF")]
    done = collected(course, archive(tmp_path, *files), NAME)
    (left,) = map(str, done.left)
    assert left.startswith(f"bob: handed in no notebook, but {FILE}, x.pdf. The file {why}")
    assert (course.root / "submitted" / "bob" / NAME / FILE).read_text() == content, "for grading says it too"


@pytest.mark.parametrize("content", ["", "<html>", a_notebook("without a cell")])
def test_what_is_no_notebook_does_not_replace_one(course, tmp_path, content):
    for day, one in ((1, work(course)), (2, content)):
        done = collected(course, archive(tmp_path, (f"ada/{FILE}", one), when=(2026, 9, day, 12, 0, 0)))
    assert is_work(course, "ada") and done.superseded[0].reason.startswith(f"submitted/ada/{NAME} contains")
    assert bool(done.left) == ("cells" not in content)


def test_nor_does_it_replace_the_untouched_release(course, tmp_path):
    release = nbformat.writes(course.assignment.read_release())
    for day, one in ((1, release), (2, "")):
        collected(course, archive(tmp_path, (f"ada/{FILE}", one), when=(2026, 9, day, 12, 0, 0)))
    assert (course.root / "submitted" / "ada" / NAME / FILE).read_text() == release


def test_a_notebook_replaces_what_is_none_though_it_is_earlier(course, tmp_path):
    for day, one in ((9, "<html>"), (3, work(course))):
        collected(course, archive(tmp_path, (f"ada/{FILE}", one), when=(2026, 9, day, 12, 0, 0)))
    assert is_work(course, "ada")


def test_so_is_who_has_a_folder_full_of_other_files(course, tmp_path):
    files = [f"ada/{FILE}", ("bob/work/report.html", "<p>"), ("bob/work/more/plot.png", "x")]
    done = collected(course, archive(tmp_path, *files), NAME)
    assert [str(entry) for entry in done.left] == ["bob: handed in no notebook, but report.html, plot.png."]


def test_an_archive_without_a_notebook_is_a_sentence(course, tmp_path):
    assert [str(entry) for entry in collected(course, archive(tmp_path)).left] == [
        "download.zip: this file contains no notebook."
    ]


@pytest.mark.audit
def test_who_comes_after_many_files_is_collected(course, tmp_path):
    files = [(f"{MOODLE}/{n}", "") for n in range(100_001)]
    done = collected(
        course, archive(tmp_path, *files, ("MULLER Bob_7_assignsubmission_file/x.ipynb", work(course))), NAME
    )
    assert is_work(course, "bob") and [entry.student for entry in done.left] == ["ada"]


@pytest.mark.parametrize(
    ("release", "mine"),
    [
        (f"{MOODLE}/{FILE}", f"{MOODLE}/Copy of {FILE}"),
        (f"{MOODLE}/{FILE}", f"{MOODLE}/{NAME}-Copy1.ipynb"),
        (f"{MOODLE}/{NAME} (2).ipynb", f"{MOODLE}/{FILE}"),
        (f"{MOODLE}/{FILE}", f"{MOODLE}/mine.ipynb"),
        (f"{MOODLE}/{FILE}", f"{MOODLE}/mine.txt"),
        (f"lovelaceada_101_9005_{FILE}", f"lovelaceada_101_9000_Copy of {FILE}"),
    ],
)
def test_the_untouched_release_is_never_preferred(course, tmp_path, release, mine):
    saved = json.loads(nbformat.writes(course.assignment.read_release()))
    saved["metadata"]["kernelspec"] = {"name": "another", "display_name": "Another"}  # an editor has saved it
    done = collected(course, archive(tmp_path, (release, json.dumps(saved)), (mine, work(course))), NAME)
    assert is_work(course, "ada")
    assert done.handed_in[0].passed_over == (f"{release} (the untouched release)",)
    assert RULE in explain(done)


def test_who_hands_in_the_release_alone_is_named(course, tmp_path):
    release = nbformat.writes(course.assignment.read_release())
    done = collected(course, archive(tmp_path, (f"{MOODLE}/{FILE}", release)))
    assert "  Handed in the untouched release: ada." in explain(done)


def test_the_untouched_release_does_not_replace_work(course, tmp_path):
    release = nbformat.writes(course.assignment.read_release())
    for content, hour in ((work(course), "10"), (release, "11")):
        stamp = (f"ada/{NAME}/timestamp.txt", f"2026-10-05 {hour}:00:00 UTC")
        done = collected(course, archive(tmp_path, (f"ada/{NAME}/{FILE}", content), stamp))
    assert is_work(course, "ada") and "the untouched release" in done.superseded[0].reason


def test_of_several_with_work_and_no_order_the_one_with_more_counts(course, tmp_path):
    more = work(
        course, **{"steps-total": "def total(values):\n    return 1", "steps-largest": "largest = max"}
    )
    done = collected(
        course, archive(tmp_path, (f"{MOODLE}/Copy of {FILE}", work(course)), (f"{MOODLE}/{FILE}", more))
    )
    assert "largest = max" in (course.root / "submitted" / "ada" / NAME / FILE).read_text()
    assert done.handed_in[0].passed_over == (f"{MOODLE}/Copy of {FILE}",)


def test_what_somebody_else_has_put_there_is_not_replaced_by_what_may_be_earlier(course, tmp_path):
    folder = course.hand_in("ada")
    before = (folder / FILE).read_bytes()
    done = collected(course, archive(tmp_path, (f"{MOODLE}/{FILE}", work(course))))
    assert (folder / FILE).read_bytes() == before and "move the other one away" in done.left[0].reason
    other = work(course, **{"steps-total": "def total(values):\n    return 2"})
    bob = (f"MULLER Bob_7_assignsubmission_file_{FILE}", other)
    collected(course, archive(tmp_path, bob))
    mine = course.root / "submitted" / "bob" / NAME / FILE
    mine.write_text(work(course))  # an instructor has mended it
    done = collected(course, archive(tmp_path, bob))
    assert is_work(course, "bob") and "was changed afterwards" in done.left[0].reason


def test_a_time_that_a_student_has_written_is_not_believed(course, tmp_path):
    stamp = (f"{MOODLE}/timestamp.txt", "2026-10-01 10:00:00 UTC")
    done = collected(course, archive(tmp_path, f"{MOODLE}/{FILE}", stamp))
    assert not done.handed_in[0].exact
    inner = (f"ada/{NAME}/x/timestamp.txt", "2026-10-01 10:00:00 UTC")
    done = collected(course, archive(tmp_path, f"ada/{NAME}/{FILE}", inner))
    assert not done.handed_in[0].exact


@pytest.mark.slow
def test_a_time_that_cannot_be_read_is_named_and_makes_nobody_late(course, tmp_path):
    stamp = (f"ada/{NAME}/timestamp.txt", "5. Oktober 2026, 23:58".encode("utf-16"))
    done = collected(course, archive(tmp_path, f"ada/{NAME}/{FILE}", stamp))
    assert not done.handed_in[0].late and done.unread[0].student == "ada"
    assert "names no time zone" in "".join(explain(done))


def test_two_folders_that_differ_in_capitals_are_two_people(course, tmp_path):
    done = collected(course, archive(tmp_path, f"ADA/{FILE}", f"ada/{FILE}"))
    assert taken(course, "ada") == f"ada/{FILE}", "who has just this id"
    assert done.left[0].student == f"ADA/{FILE}" and "ADA and ada would both count as" in done.left[0].reason
    done = collected(course, archive(tmp_path, f"BOB/{FILE}", f"Bob/{FILE}"))
    assert len(done.left) == 2 and not (course.root / "submitted" / "bob").exists()


@pytest.mark.parametrize(
    "student", ["<img src=x onerror=alert(1)>", "a>b", "a\x1b[31m", "a\u202eb", "a\u200bb"]
)
def test_an_id_that_pages_or_terminals_would_obey_is_refused(course, tmp_path, student):
    with course.gradebook() as gradebook:
        gradebook.update_or_create_student("<b>", email="known@example.org")
    done = collected(course, archive(tmp_path, f"{student}/{FILE}", f"known@example.org/{FILE}"), NAME)
    assert not done.handed_in and len(done.left) == 2


def test_a_group_s_name_may_stand_in_front(course, tmp_path):
    files = [
        f"Team 1-Ada Lovelace_1_assignsubmission_file/{FILE}",
        f"Team 2-x-Bob Müller_2_assignsubmission_file/{FILE}",
    ]
    collected(course, archive(tmp_path, *files))
    assert (taken(course, "ada"), taken(course, "bob")) == tuple(files)


def test_a_name_that_ends_like_another_s_is_not_a_group_s_where_there_are_none(course, tmp_path):
    files = [f"{MOODLE}/{FILE}", f"Mallory-Bob Müller_2_assignsubmission_file/{FILE}"]
    done = collected(course, archive(tmp_path, *files))
    assert len(done.handed_in) == 1 and "nobody in the gradebook" in done.left[0].reason


WORKSHEETS = {
    "German": 'ID;Vollständiger Name;Status;Zuletzt geändert (Abgabe);Zuletzt geändert (Bewertung)\nTeilnehmer/in101;Ada Lovelace;Abgegeben;"Montag, 5. Oktober 2026, 23:58";-\n',
    "French": 'Identifiant,Nom complet,Adresse de courriel,Dernière modification (travail remis)\nParticipant 101,A. L.,ada@example.org,"lundi 5 octobre 2026, 23:58"\n',
    "Spanish": 'Identificador,Nombre completo,Nombre de usuario,Última modificación (entrega)\nParticipante 101,A. L.,ada,"lunes, 5 de octubre de 2026, 23:58"\n',
    "Dutch": 'ID,Volledige naam,E-mailadres,Laatst gewijzigd (inzending)\nDeelnemer 101,A. L.,ada@example.org,"maandag, 5 oktober 2026, 23:58"\n',
    "Russian": 'Идентификатор;Полное имя;Имя пользователя;Последнее изменение (ответ)\nУчастник 101;A. L.;ada;"понедельник, 5 октября 2026, 23:58"\n',
    "Japanese": '識別子,フルネーム,メールアドレス,最終更新日時 (提出)\n参加者 101,A. L.,ada@example.org,"2026年 10月 5日(月曜日) 23:58"\n',
}


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        *((language, "utf-8") for language in WORKSHEETS),
        ("German", "cp1252"),
        ("Russian", "utf-16"),
        ("French", "utf-8-sig"),
    ],
)
def test_a_worksheet_is_read_in_its_language(course, tmp_path, language, encoding):
    files = archive(tmp_path, f"Ada Lovelace_101_assignsubmission_file/{FILE}")
    done = collected(course, files, table=WORKSHEETS[language], zone="Europe/Berlin", encoding=encoding)
    assert told(course, "ada") == "2026-10-05 21:58:00 UTC" and done.handed_in[0].exact
    (said,) = (line for line in explain(done) if "in the time zone Europe/Berlin." in line)
    assert WORKSHEETS[language].splitlines()[0].replace(";", ",").split(",")[3] in said


def test_a_worksheet_s_zone_is_that_of_tz(course, tmp_path, monkeypatch):
    files = archive(tmp_path, f"A_101_assignsubmission_file/{FILE}")
    monkeypatch.setenv("TZ", "Europe/Berlin")  # and nobody calls tzset: a server may run already
    collected(course, files, table=WORKSHEETS["Dutch"], encoding="cp1252")
    assert told(course, "ada") == "2026-10-05 21:58:00 UTC"


def test_a_worksheet_s_time_that_cannot_be_read_is_named(course, tmp_path):
    table = WORKSHEETS["French"].replace("octobre", "brumaire")
    done = collected(course, archive(tmp_path, f"A_101_assignsubmission_file/{FILE}"), table=table)
    assert not done.handed_in[0].late and "'brumaire', which is not recognised" in done.unread[0].reason


def with_times(*headings):
    """A worksheet whose columns hold times of these names: October, November, and so on."""
    cells = [f'"5 {month} 2026, 23:58"' for month in ("October", "November", "December")[: len(headings)]]
    heading = ",".join(["Identifier", "Full name", *headings])
    return f"{heading}\nParticipant 101,Ada Lovelace,{','.join(cells)}\nParticipant 102,Bob Müller,{','.join(cells)}\n"


@pytest.mark.parametrize(
    ("headings", "month"),
    [
        (("Due date (extension)", "Last modified (submission)"), 11),
        (("Due date (extension)", "Zuletzt geändert (Abgabe)", "Zuletzt geändert (Bewertung)"), 11),
        (("Zuletzt geändert (Bewertung)", "Zuletzt geändert (Abgabe)"), 11),
        (("Abgabetermin (Verlängerung)", "Abgegeben um"), 11),
        (("Fecha de entrega", "Última modificación (entrega)"), 11),
        (("Date limite de remise", "Remis le"), 11),
        (("Submitted at", "Graded at"), 10),
        (("Submission deadline", "Submitted"), 11),
        (("Sidast broytt (latín)", "Sidast broytt (próvtøka)"), 10),
        (("Zuletzt geändert (Bewertung)",), None),
        (("Due date (extension)", "Last login (student)"), None),
        (("Xxx (a)", "Yyy (b)"), None),
        (("Submitted first", "Submitted last"), None),
    ],
)
def test_of_several_columns_with_times_that_of_the_hand_ins_is_taken(course, tmp_path, headings, month):
    files = archive(tmp_path, f"Ada Lovelace_101_assignsubmission_file/{FILE}")
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=datetime(2026, 10, 1))
    done = collected(course, files, table=with_times(*headings), zone="UTC")
    (hand_in,) = done.handed_in
    said = "\n".join(explain(done))
    assert (int(told(course, "ada")[5:7]) if hand_in.exact else None) == month
    assert hand_in.late == bool(month)
    assert month or ('"Last modified (submission)"' in said and f'"{headings[0]}"' in said), "with what to do"
    assert bool(done.unread) == (headings[0] in ("Xxx (a)", "Submitted first"))


def test_where_only_its_place_tells_the_column_of_times_that_is_said(tmp_path):
    (tmp_path / "worksheet.csv").write_text(with_times("Sidast (latín)", "Sidast (próvtøka)"))
    sheet = read_worksheet(read_rows(tmp_path / "worksheet.csv"), UTC)
    assert (
        sheet.times == "Sidast (latín)"
        and 'not "Sidast (próvtøka)", contains the submission times. If it does not: Call'
        in sheet.about_times
    )


def test_a_name_that_looks_like_another_s_address_is_no_address(course, tmp_path):
    table = (
        "Identifiant,Nom complet,Courriel,Texte\n"
        "Participant 101,ada@example.org,mallory@example.org,ada\n"
        "Participant 102,Bob Müller,bob@example.org,\n"
        "Participant 103,Cem Öz,cem@example.org,hello\n"
    )
    with course.gradebook() as gradebook:
        gradebook.update_or_create_student("mallory", email="mallory@example.org")
        gradebook.update_or_create_student("bob", email="bob@example.org")
    collected(course, archive(tmp_path, f"ada@example.org_101_assignsubmission_file/{FILE}"), table=table)
    assert [path.name for path in (course.root / "submitted").iterdir()] == ["mallory"]


def test_a_row_that_means_two_people_is_left_out(course, tmp_path):
    table = "Identifier,Username,Email address\nParticipant 101,ada,bob@example.org\n"
    with course.gradebook() as gradebook:
        gradebook.update_or_create_student("bob", email="bob@example.org")
    done = collected(course, archive(tmp_path, f"X_101_assignsubmission_file/{FILE}"), table=table)
    assert not done.handed_in and "assigns 101 to both ada and bob" in done.left[0].reason


def test_canvas_export_in_another_language_says_who_a_number_is(course, tmp_path):
    table = (
        "Teilnehmer/in;ID;SIS-Benutzer-ID;SIS-Anmelde-ID;Abschnitt;Attention (77)\n    Mögliche Punkte;;;;;10\n"
        "Lovelace, Ada;4711;900;bob;A;7\nX, Y;4712;901;ada;A;8\n"
    )
    collected(course, archive(tmp_path, f"x_4712_9_{FILE}"), table=table, encoding="cp1252")
    assert taken(course, "ada") == f"x_4712_9_{FILE}"


def test_a_worksheet_of_another_assignment_is_noticed(course, tmp_path):
    done = collected(course, archive(tmp_path, f"{MOODLE}/{FILE}"), table=WORKSHEETS["Dutch"])
    assert "Does this table belong to another assignment" in "".join(explain(done))


def test_a_table_of_something_else_is_a_sentence(tmp_path):
    table = tmp_path / "table.csv"
    for text, why in (
        ("Name;Points\nx;1.5\n", "no column with a number"),
        ("a,b\n1,2\n", "Identifier"),
        ("", "is empty"),
        ("PK\x03\x04", "save it as CSV"),
    ):
        table.write_text(text)
        with pytest.raises(CourseError, match=why):
            read_worksheet(read_rows(table), UTC)


def test_excel_s_own_line_about_the_separator_is_no_heading(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text('sep=;\nID;"Name, first"\n7;x\n')
    assert read_rows(table).heading == ("ID", "Name, first") and read_rows(table).rows == (("7", "x"),)


def test_registering_again_keeps_the_due_date(course):
    register(course.assignment)
    with course.gradebook() as gradebook:
        assert gradebook.find_assignment(NAME).duedate == datetime(2026, 10, 5, 12)
        assert gradebook.find_assignment(NAME).max_score == 10


# ------------------------------------------------------------------------- Blackboard, ILIAS, what is matched by hand

ATTEMPT = "Homework 1_{}_attempt_2026-10-05-{}_{}"


def test_of_blackboard_s_attempts_the_last_counts_with_the_time_in_its_name(course, tmp_path):
    files = [ATTEMPT.format("ada", time, FILE) for time in ("08-00-00", "11-30-00")]
    done = collected(
        course,
        archive(tmp_path, *files, (ATTEMPT.format("ada", "11-30-00", "")[:-1] + ".txt", "…")),
        zone="Europe/Berlin",
    )
    assert taken(course, "ada") == files[1]
    assert told(course, "ada").startswith("2026-10-05 09:30:00") and not done.left
    assert explain(done)[0] == "Recognised as a download from Blackboard: TITLE_USERNAME_attempt_TIME_…"
    assert any("time zone Europe/Berlin" in line for line in explain(done))


def test_an_account_with_an_underscore_is_found_and_one_that_may_be_two_is_not(course, tmp_path):
    with course.gradebook() as gradebook:
        gradebook.update_or_create_student("jane_doe")
    collected(course, archive(tmp_path, ATTEMPT.format("jane_doe", "08-00-00", FILE)))
    assert taken(course, "jane_doe")
    with course.gradebook() as gradebook:
        gradebook.update_or_create_student("doe")
    done = collected(course, archive(tmp_path, ATTEMPT.format("jane_doe", "09-00-00", FILE)))
    assert "may be that of jane_doe or doe" in str(done.left[0])


def test_in_ilias_the_account_counts_and_then_the_name(course, tmp_path):
    files = [f"Abgaben/Nobody_Knows_ada_4711/{FILE}", f"Abgaben/Müller_Bob_bm12_4712/{FILE}"]
    done = collected(course, archive(tmp_path, *files))
    assert (taken(course, "ada"), taken(course, "bob")) == (files[0], files[1]) and not done.left
    assert "from ILIAS: LASTNAME_FIRSTNAME_LOGIN_NUMBER/…" in explain(done)[0]


@pytest.mark.parametrize(
    ("files", "layout"),
    [
        ([f"{MOODLE}/{FILE}"], "from Moodle"),
        ([f"lovelaceada_12_345_{FILE}"], "from Canvas"),
        ([f"ada/{FILE}"], "a folder for each student"),
    ],
)
def test_the_layout_is_named(course, tmp_path, files, layout):
    assert layout in explain(collected(course, archive(tmp_path, *files)))[0]


def test_what_cannot_be_matched_is_listed_filled_in_and_given_back(course, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stranger = f"=cmd Nobody_99_assignsubmission_file/{FILE}"
    download = archive(tmp_path, f"{MOODLE}/{FILE}", stranger, f"{NAME} by bob.ipynb")
    collect_it = "collect", download, NAME
    (course.root / "here").mkdir()
    monkeypatch.chdir(course.root / "here")
    assert "collect again with --matched unmatched.csv" in command(*collect_it, status=1)
    rows = list(csv.DictReader(Path("unmatched.csv").read_text().splitlines()))
    assert [row["in the download"] for row in rows] == [
        f"{NAME} by bob.ipynb",
        "'=cmd Nobody_99_assignsubmission_file",
    ]
    assert all(row["why"] and not row["student"] for row in rows)
    filled = "in the download;student\n" + "".join(
        f"{row['in the download']};{who}\n" for row, who in zip(rows, ("bob", "cem"), strict=True)
    )
    Path("unmatched.csv").write_text(filled)
    command(*collect_it, "--matched", "unmatched.csv")
    assert (taken(course, "bob"), taken(course, "cem")) == (f"{NAME} by bob.ipynb", stranger)
    assert read_owners(course.assignment)["cem"].system == "moodle", "feedback goes back to Moodle"
    assert not Path("unmatched-2.csv").exists()


def test_a_table_that_was_filled_in_is_not_replaced(course, monkeypatch):
    monkeypatch.chdir(course.root)
    matches = Matches({"a": "ada"}, [LeftOut("b", "nobody has this name.")])
    assert write_unmatched(course.root, matches) == Path("unmatched.csv")
    Path("unmatched.csv").write_text("in the download,student,why\nb,bob,\n")
    assert write_unmatched(course.root, matches) == Path("unmatched-2.csv")
    assert read_matches(Path("unmatched-2.csv")) == {"a": "ada"}, "b is not filled in"
    assert read_matches(Path("unmatched.csv")) == {"b": "bob"}


def test_a_table_of_another_kind_and_an_impossible_id_are_refused(course, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("name,student\nx,ada\n")
    with pytest.raises(CourseError, match="has no column 'in the download'"):
        read_matches(table)
    with course.gradebook() as gradebook, pytest.raises(CourseError, match="'a/b' cannot be a student's id"):
        collect(course.root, archive(tmp_path, f"ada/{FILE}"), gradebook, by_hand={"x": "a/b"})
