"""What Canvas, Moodle and a spreadsheet get of a gradebook."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.errors import CourseError
from autograder.gradebook.export import BlackboardExport, CanvasExport, CsvExport, MoodleExport
from autograder.gradebook.queries import class_scores
from autograder.untrusted.layouts import FileOwner
from tests.autograder.commands import command, refusal
from tests.autograder.here import NAME

OTHER = "02_tests"
FORMULA = "=1+1"
SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")


def exported(course, kind, **options):
    """The lines of the file by column and by student, and the exporter."""
    exporter = kind(assignment=[NAME], **options)
    exporter.to = str(course.root / "out.csv")
    with course.gradebook() as gradebook:
        exporter.export(gradebook)
    with open(exporter.to, newline="", encoding="utf-8") as file:
        return list(csv.reader(file)), exporter


def export(*arguments: str) -> tuple[str, list[list[str]]]:
    """What the command says, and the file."""
    said = command("export", NAME, "--output", "out.csv", *arguments)
    with open("out.csv", newline="", encoding="utf-8") as file:
        return " ".join(said.split()), list(csv.reader(file))


@pytest.fixture
def graded(graded_copy):
    """Ada has all points, bob is late by a penalty, cem waits for a person, dua has handed in nothing."""
    course = graded_copy(
        ada={}, bob={"total": "def total(values):\n    return 0"}, cem={"question": "Nothing."}
    )
    with course.gradebook() as gradebook:
        gradebook.update_or_create_student(
            "ada", first_name="Ada", last_name="Lovelace", email="ada@example.org", lms_user_id="4711"
        )
        gradebook.update_or_create_student("dua", email="dua@example.org")
        gradebook.find_submission_notebook(NAME, NAME, "bob").late_submission_penalty = 1.125
        gradebook.db.commit()
    return course


@pytest.mark.parametrize("sign", SIGNS)
def test_no_cell_begins_like_a_formula(small, sign):
    with small.gradebook() as gradebook:
        gradebook.update_or_create_student("eva", first_name=f"{sign}1+1", last_name=f"a{sign}1")
    rows, exporter = exported(small, CsvExport)
    (line,) = [row for row in rows if "eva" in row]
    assert f"'{sign}1+1" in line and f"a{sign}1" in line
    assert exporter.marked == [f"{sign}1+1"]


def test_a_column_s_name_is_no_formula_either(small):
    rows, _ = exported(small, CanvasExport, column="=HYPERLINK(1)")
    assert rows[0][-1] == "'=HYPERLINK(1)"


def test_separators_quotes_and_line_breaks_stay_within_their_cell(small):
    with small.gradebook() as gradebook:
        gradebook.update_or_create_student("eva", first_name='a;b,"c"\nd', last_name="e")
    rows, _ = exported(small, CsvExport)
    (line,) = [row for row in rows if "eva" in row]
    assert line[5] == 'a;b,"c"\nd' and len(line) == len(CsvExport.COLUMNS)


def test_canvas_finds_students_by_its_number_and_by_the_login(graded):
    rows, exporter = exported(graded, CanvasExport, column="Steps (99)")
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Steps (99)"]
    assert rows[1] == ["    Points Possible", "", "", "", "", "10.0"]
    assert sorted(rows[2:]) == [
        ["", "", "", "bob", "", "5.88"],
        ["Lovelace, Ada", "4711", "", "ada", "", "9.0"],
    ]
    assert (exporter.waiting, exporter.missing) == (["cem"], ["dua"])


def test_moodle_finds_students_by_their_number(graded):
    rows, _ = exported(graded, MoodleExport)
    assert rows[0] == ["First name", "Last name", "ID number", NAME]
    assert sorted(rows[1:]) == [["", "", "bob", "5.88"], ["Ada", "Lovelace", "ada", "9.0"]]


def test_moodle_has_addresses_only_if_all_are_known(graded):
    with graded.gradebook() as gradebook:
        gradebook.update_or_create_student("bob", email="bob@example.org")
    rows, _ = exported(graded, MoodleExport)
    assert {row[2]: row[3] for row in rows} == {
        "ID number": "Email address",
        "ada": "ada@example.org",
        "bob": "bob@example.org",
    }


def test_who_waits_is_there_when_asked_for(graded):
    rows, exporter = exported(graded, MoodleExport, unfinished=True)
    assert ["", "", "cem", "9.0"] in rows and not exporter.waiting


def test_a_spreadsheet_has_everybody_with_raw_scores_and_penalties(graded):
    rows, _ = exported(graded, CsvExport)
    lines = {row[3]: dict(zip(rows[0], row, strict=True)) for row in rows[1:]}
    numbers = (
        "raw_score",
        "late_submission_penalty",
        "score",
        "max_score",
        "submitted",
        "needs_manual_grade",
    )
    assert [lines["bob"][column] for column in numbers] == ["7.0", "1.125", "5.875", "10.0", "1", "0"]
    assert [lines["dua"][column] for column in numbers] == ["", "", "", "10.0", "0", ""]
    assert lines["cem"]["needs_manual_grade"] == "1" and lines["ada"]["last_name"] == "Lovelace"
    with graded.gradebook() as gradebook:
        assert set(lines) == {student.id for student in gradebook.students}


def test_no_penalty_makes_a_score_negative(graded):
    with graded.gradebook() as gradebook:
        gradebook.find_submission_notebook(NAME, NAME, "bob").late_submission_penalty = 8
        gradebook.db.commit()
        score = class_scores(gradebook, NAME)["bob"]
    assert (score.raw, score.penalty, score.net) == (7, 8, 0)


def test_the_command_says_who_is_not_in_the_file(graded):
    said, _ = export("--to", "canvas")
    assert "still have to be graded by hand: cem." in said and "Students who handed in nothing: dua." in said
    said, rows = export("--to", "canvas", "--unfinished")
    assert len(rows) == 2 + 3 and "to be graded by hand" not in said
    graded.finish("cem", points=2)
    said, rows = export("--to", "canvas")
    assert ["", "", "", "cem", "", "11.0"] in rows and "to be graded by hand" not in said


@pytest.mark.parametrize("to", ["canvas", "moodle", "csv"])
def test_an_id_and_names_are_no_formulas_either_and_the_command_names_the_id(graded, to):
    graded.hand_in(FORMULA)
    graded.grade_class()
    with graded.gradebook() as gradebook:
        names = {"first_name": "@SUM(A1)", "last_name": "-2+3", "email": "+1@example.org"}
        gradebook.update_or_create_student(FORMULA, **names)
        gradebook.update_or_create_student("ada", first_name="\t=1", last_name='a,"b\n=2')
    said, rows = export("--to", to, "--unfinished", "--column", "=HYPERLINK(1)")
    cells = [cell for row in rows for cell in row]
    assert not [cell for cell in cells if cell.startswith(SIGNS)]
    assert f"'{FORMULA}" in cells and "'=HYPERLINK(1)" in cells
    assert "will not find them" in said and FORMULA in said


@pytest.mark.slow
def test_nbgrader_s_own_command_takes_the_exporters(graded):
    words = [
        Path(sys.executable).with_name("nbgrader"),
        "export",
        "--exporter=autograder.gradebook.export.MoodleExport",
        f'--assignment=["{NAME}"]',
        "--to=grades.csv",
        "--MoodleExport.unfinished=True",
    ]
    done = subprocess.run(words, cwd=graded.root, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    with open("grades.csv", newline="") as file:
        assert list(csv.reader(file)) == export("--to", "moodle", "--unfinished")[1]


def test_what_was_not_graded_gets_a_sentence(graded):
    assert f"The gradebook has no entry for {OTHER}" in refusal("export", OTHER, "--to", "csv")
    with graded.gradebook() as gradebook:
        gradebook.update_or_create_assignment(OTHER)
        with pytest.raises(CourseError, match="of a single assignment"):
            CanvasExport(column="one").export(gradebook)
        MoodleExport(student=["ada"], unfinished=True, to="ada.csv").export(gradebook)
    with open("ada.csv") as file:
        (heading, line) = csv.reader(file)
    assert heading[-2:] == [NAME, OTHER] and line[2] == "ada" and line[-1] == ""


def test_blackboard_finds_students_by_their_accounts_and_the_column_by_its_heading(graded):
    heading = "Steps [Total Pts: 10 Score] |123456"
    rows, exporter = exported(graded, BlackboardExport, column=heading)
    assert rows[0] == ["Last Name", "First Name", "Username", heading]
    (ada,) = [row for row in rows if row[2] == "ada"]
    assert ada[:2] == ["Lovelace", "Ada"] and float(ada[3]) == 9
    assert "cem" in exporter.waiting and all(row[2] != "cem" for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "file", "said"),
    [
        ("moodle", "moodle.csv", "from a download from Moodle: exporting for moodle"),
        ("blackboard", "blackboard.csv", "from a download from Blackboard: exporting for blackboard"),
        ("ilias", "grades.csv", "from a download from ILIAS: exporting for csv"),
        ("plain", "grades.csv", "from no single system: exporting for csv"),
    ],
)
def test_without_a_destination_the_layout_is_that_of_what_was_collected(
    graded, monkeypatch, system, file, said
):
    monkeypatch.chdir(graded.root)
    owner = FileOwner(system, "Ada Lovelace", "12345")
    monkeypatch.setattr("autograder.gradebook.collect.read_owners", lambda assignment: {"ada": owner})
    output = command("export", NAME)
    assert said in output and f"wrote {file}, in the layout " in output and (graded.root / file).exists()
