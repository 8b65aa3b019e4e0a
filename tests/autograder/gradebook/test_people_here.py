"""People as spreadsheets, Moodle and Canvas write them go into the gradebook."""

import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.errors import CourseError
from autograder.gradebook.people import explain_import, import_people
from autograder.gradebook.tables import read_rows


@pytest.fixture
def people(small, tmp_path):
    """Imports a table, and gives what came of it."""

    def read(text, encoding="utf-8", id_column=""):
        file = tmp_path / "people.csv"
        file.write_bytes(text.encode(encoding))
        with small.gradebook() as gradebook:
            return import_people(gradebook, read_rows(file), id_column)

    return read


def those_of(small):
    with small.gradebook() as gradebook:
        return {s.id: (s.first_name, s.last_name, s.email, s.lms_user_id) for s in gradebook.students}


JÜRGEN = {"jg": ("Jürgen", "Grün", "j@example.org", None)}


@pytest.mark.parametrize(
    "text",
    [
        "id,first_name,last_name,email\r\njg,Jürgen,Grün,j@example.org\r\n",
        "ID;First name;Last name;Email\njg;Jürgen;Grün;j@example.org\n",
        "id\tfirst_name\tlast_name\temail\n jg \t Jürgen\tGrün \tj@example.org\n\t\t\t\n",
        "sep=;\nVorname;Nachname;ID-Nummer;E-Mail-Adresse;Gruppen\nJürgen;Grün;jg;j@example.org;A\n",
        "Prénom,Nom de famille,Numéro d'identification,Adresse de courriel\nJürgen,Grün,jg,j@example.org\n",
        "Nombre,Apellido(s),Nombre de usuario,Correo\nJürgen,Grün,jg,j@example.org\n",
        "Username,Full name,Email address\njg,Jürgen Grün,j@example.org\n",
        'Student,Username,Mail\n"Grün, Jürgen",jg,j@example.org\n',
    ],
)
def test_a_table_is_read_as_people_have_it(small, people, text):
    assert people(text).new == ["jg"] and those_of(small) == JÜRGEN


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_a_table_is_read_as_spreadsheets_encode_it(small, people, encoding):
    text = "id;first_name;last_name;email\r\njg;Jürgen;Grün;j@example.org\r\n"
    assert people(text, encoding).new == ["jg"] and those_of(small) == JÜRGEN


def test_canvas_export_has_both_the_login_and_the_number(small, people):
    done = people(
        "Student,ID,SIS User ID,SIS Login ID,Section,Attention (77)\n    Points Possible,,,,,10\n"
        '"Lovelace, Ada",4711,900,ada,A,7\n'
    )
    assert those_of(small) == {"ada": ("Ada", "Lovelace", None, "4711")} and not done.left


def test_moodle_s_numbers_of_participants_are_no_ids(small, people):
    text = "ID;Vollständiger Name;Anmeldename;E-Mail-Adresse\nTeilnehmer/in101;Ada Lovelace;ada;ada@example.org\n"
    people(text)
    assert list(those_of(small)) == ["ada"]
    with pytest.raises(CourseError, match="--id 'E-Mail-Adresse'"):
        people(text.replace("Anmeldename;", "Abteilung;"))
    assert people(text, id_column="e-mail-adresse").new == ["ada@example.org"]


def test_who_is_there_already_keeps_what_the_table_does_not_say(small, people):
    people("id,first_name,last_name,email\nada,Ada,Byron,ada@example.org\nbob,Bob,B,\n")
    done = people("id,last_name,email\nada,Lovelace,\nbob,B,\n")
    assert (done.new, done.changed, done.same) == ([], ["ada"], ["bob"])
    assert those_of(small)["ada"] == ("Ada", "Lovelace", "ada@example.org", None)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (",No,Id,", "No, Id: has no id"),
        ("<b>x</b>,X,Y,", "cannot be an id"),
        ("../x,X,Y,", "cannot be an id"),
        ("ADA,Other,Person,", "only in capitals"),
        ("ada,Other,Person,", "occurs twice"),
    ],
)
def test_who_cannot_be_imported_is_named_and_stops_nobody(small, people, row, why):
    done = people(f"id,first_name,last_name,email\nada,Ada,Lovelace,\n{row}\nbob,Bob,B,\n")
    assert done.new == ["ada", "bob"] and why in str(done.left[0]) and len(done.left) == 1
    assert those_of(small)["ada"][:2] == ("Ada", "Lovelace")


def test_letters_that_may_be_others_are_shown(small, people):
    text = "id,first_name,last_name\nx,Łucja,Wiśniewska\n"
    assert not people(text).doubtful
    done = people(text, "cp1250")
    assert "£ucja" in explain_import(done)[-1] and "CSV UTF-8" in explain_import(done)[-1]


def test_the_command_says_what_it_read(small, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("Vorname;Nachname;Matrikelnummer\nAda;Lovelace;7\nX;Y;\n")
    said = CliRunner().invoke(app, ["students", str(file)])
    output = " ".join(said.output.split())
    assert "1 person in the gradebook: 1 new" in output and "id from Matrikelnummer" in output
    assert said.exit_code == 1 and "X, Y: has no id" in output
    assert isinstance(CliRunner().invoke(app, ["students", "no.csv"]).exception, CourseError)
