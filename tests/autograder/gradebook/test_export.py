"""Files that Canvas, Moodle and spreadsheets read, and in which nothing is a formula."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.errors import CourseError
from autograder.gradebook.export import CanvasExport, MoodleExport
from autograder.gradebook.tables import FORMULA as SIGNS
from tests.autograder.small_class import FORMULA, NAME

pytestmark = pytest.mark.slow

BIN = Path(sys.executable).parent


def export(*arguments: str) -> tuple[str, list[list[str]]]:
    """What was said, and the file."""
    result = CliRunner().invoke(app, ["export", NAME, "--output", "out.csv", *arguments])
    assert result.exit_code == 0, result.output
    with open("out.csv", newline="", encoding="utf-8") as file:
        return " ".join(result.output.split()), list(csv.reader(file))


def finish(kind, *students: str) -> None:
    """A person grades every written answer of these."""
    with kind.gradebook() as gradebook:
        for student in students:
            for grade in gradebook.find_submission_notebook(NAME, NAME, student).grades:
                if grade.needs_manual_grade:
                    grade.manual_score, grade.needs_manual_grade = 1.0, False
        gradebook.db.commit()


def net(kind, student: str) -> float:
    with kind.gradebook() as gradebook:
        submission = gradebook.find_submission(NAME, student)
        return round(submission.score - submission.late_submission_penalty, 2)


def test_canvas(own_class):
    """Canvas' own reader wants these columns in this order, then "Points Possible", then a line for each student."""
    finish(own_class, "ada", "dua")
    with own_class.gradebook() as gradebook:
        gradebook.update_or_create_student("ada", lms_user_id="4711")
    said, rows = export("--to", "canvas", "--column", "Attention (99)")
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Attention (99)"]
    assert "Points Possible" in rows[1][0] and rows[1][1:] == ["", "", "", "", "18.0"]
    lines = {row[3]: row for row in rows[2:]}
    assert lines["ada"] == ["Lovelace, Ada", "4711", "", "ada", "", str(net(own_class, "ada"))]
    assert lines["dua"][1] == ""  # a number would be looked up, and any text begins with one
    assert float(lines["dua"][5]) == net(own_class, "dua") < 24
    assert "ada" not in said and "Students who handed in nothing: absent." in said


def test_who_is_not_finished_is_left_out_and_named_or_asked_for(own_class):
    finish(own_class, "ada")
    said, rows = export("--to", "canvas")
    assert {row[3] for row in rows[2:]} == {"ada", "gil", "hao"}  # the last two wrote nothing: all is graded
    assert "still have to be graded by hand" in said and "bob" in said
    said, rows = export("--to", "canvas", "--unfinished")
    assert len(rows) == 2 + 17
    assert "to be graded by hand" not in said


def test_moodle(own_class):
    finish(own_class, "ada", "dua")
    _, rows = export("--to", "moodle")
    assert rows[0] == ["First name", "Last name", "ID number", NAME]
    assert ["Ada", "Lovelace", "ada", str(net(own_class, "ada"))] in rows
    assert all(row[2] for row in rows), "an empty cell would be taken for the student of the line before"


def test_moodle_gets_email_addresses_when_all_are_known(own_class):
    finish(own_class, "ada")
    with own_class.gradebook() as gradebook:
        for student in ("gil", "hao"):
            gradebook.update_or_create_student(student, email=f"{student}@example.org")
    _, rows = export("--to", "moodle")
    assert rows[0] == ["First name", "Last name", "ID number", "Email address", NAME]
    assert {row[2]: row[3] for row in rows[1:]} == {
        name: f"{name}@example.org" for name in ("ada", "gil", "hao")
    }


def test_csv_has_everybody(own_class):
    _, rows = export("--to", "csv")
    lines = {row[3].removeprefix("'"): dict(zip(rows[0], row, strict=True)) for row in rows[1:]}
    with own_class.gradebook() as gradebook:
        assert set(lines) == {student.id for student in gradebook.students}
    assert (lines["absent"]["submitted"], lines["absent"]["score"]) == ("0", "")
    late = lines["dua"]
    penalty = float(late["late_submission_penalty"])
    assert float(late["raw_score"]) - penalty == float(late["score"]) and penalty > 0
    assert late["needs_manual_grade"] == "1"


@pytest.mark.parametrize("to", ["canvas", "moodle", "csv"])
def test_no_cell_is_a_formula(own_class, to):
    with own_class.gradebook() as gradebook:
        names = {"first_name": "@SUM(A1)", "last_name": "-2+3", "email": "+1@example.org"}
        gradebook.update_or_create_student(FORMULA, **names)
        gradebook.update_or_create_student("ada", first_name="\t=1", last_name='a,"b\n=2')
    said, rows = export("--to", to, "--unfinished", "--column", "=HYPERLINK(1)")
    cells = [cell for row in rows for cell in row]
    assert not [cell for cell in cells if cell.startswith(SIGNS)]
    assert f"'{FORMULA}" in cells and "'=HYPERLINK(1)" in cells
    assert "will not find them" in said and FORMULA in said


def test_nbgrader_s_own_command_takes_the_exporters(own_class):
    command = [
        BIN / "nbgrader",
        "export",
        "--exporter=autograder.gradebook.export.MoodleExport",
        f'--assignment=["{NAME}"]',
        "--to=grades.csv",
        "--MoodleExport.unfinished=True",
    ]
    done = subprocess.run(command, cwd=own_class.course, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    with open("grades.csv", newline="") as file:
        assert list(csv.reader(file)) == export("--to", "moodle", "--unfinished")[1]


def test_what_was_not_graded_gets_a_sentence(own_class):
    result = CliRunner().invoke(app, ["export", "01_static_embeddings", "--to", "csv"])
    assert isinstance(result.exception, CourseError)
    assert "The gradebook has no entry for 01_static_embeddings" in str(result.exception)
    with own_class.gradebook() as gradebook:
        gradebook.update_or_create_assignment("01_static_embeddings")
        with pytest.raises(CourseError, match="of a single assignment"):
            CanvasExport(column="one").export(gradebook)
        MoodleExport(student=["ada"], unfinished=True, to="ada.csv").export(gradebook)
    with open("ada.csv") as file:
        (heading, line) = csv.reader(file)
    assert heading[-2:] == ["01_static_embeddings", NAME] and line[2] == "ada" and line[-2] == ""
