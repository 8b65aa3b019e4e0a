"""People as spreadsheets, Moodle and Canvas write them go into the gradebook."""

import pytest

from autograder.errors import CourseError
from autograder.gradebook.columns import read_people
from autograder.gradebook.people import explain_import, import_people
from tests.autograder.commands import command, refusal


@pytest.fixture
def people(small, tmp_path):
    """Imports a table, and gives what came of it."""

    def read(text, encoding="utf-8", id_column="", named=""):
        file = tmp_path / "people.csv"
        file.write_bytes(text.encode(encoding))
        with small.gradebook() as gradebook:
            return import_people(gradebook, read_people(file, id_column, named), id_column)

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
        ("ADA,Other,Person,", "only in upper and lower case"),
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
    said = " ".join(command("students", file, status=1).split())
    assert "1 person in the gradebook: 1 new" in said and "id from Matrikelnummer" in said
    assert "X, Y: has no id" in said
    assert refusal("students", "no.csv")


@pytest.mark.parametrize(
    "heading",
    [
        "Matrikelnummer;Name;Vorname",
        "Matr.-Nr.;Name;Vorname(n)",
        "Studentnummer;Naam;Voornaam",
        "Identifiant;Nom;Prénom",
        "Matricola;Cognome;Nome",
        "Matrícula;Apellidos;Nombre",
        "Nome de usuário;Apelido;Nome",
        "学籍番号;姓;名",
        "학번;성;이름",
        "логин;Фамилия;Имя",
        "Brugernavn;Navn;Fornavn",
        "ID;Vollständiger Name;Vorname",
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_a_name_beside_one_of_the_two_is_the_other_one(small, people, heading, swapped):
    text = f"{heading}\n7;van der Berg;Ada\n8;Öz;Cem\n"
    if swapped:
        text = "\n".join(";".join((a, c, b)) for a, b, c in (line.split(";") for line in text.splitlines()))
    people(text)
    assert {k: v[:2] for k, v in those_of(small).items()} == {
        "7": ("Ada", "van der Berg"),
        "8": ("Cem", "Öz"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "id;Name\n7;Ada Lovelace",
        "id;Naam\n7;Ada Lovelace",
        "id;Nom\n7;Lovelace, Ada",
        "id;Nome\n7;Ada Lovelace",
        "id;Nombre\n7;Ada Lovelace",
        "id;Name;Vorname\n7;Ada Lovelace;Ada",
        "id;Name;Vorname\n7;Lovelace, Ada;Ada",
        "id;Name;Vorname\n7;Ada Lovelace;",
        "id;Full name;Last name\n7;Ada Lovelace;Lovelace",
        "id;Name, Vorname\n7;Lovelace Ada",
        "id;Cognome e nome\n7;Lovelace, Ada",
        'id;Name\n7;"Ada\n Lovelace"',
    ],
)
def test_a_whole_name_is_taken_apart(small, people, text):
    people(text)
    assert those_of(small)["7"][:2] == ("Ada", "Lovelace")


def test_a_name_that_no_heading_tells_is_said_to_be_unread(small, people):
    said = " ".join(explain_import(people("id;Rufnaam;Geslacht\n7;Ada;Lovelace\n")))
    assert (
        "No name was read" in said and "Rufnaam, Geslacht" in said and "'first name' and 'last name'" in said
    )
    assert "No last name was read" in " ".join(explain_import(people("id;Vorname;Sippe\n7;Ada;Lovelace\n")))
    assert "was read" not in " ".join(explain_import(people("id;E-Mail;Nr\n7;ada@example.org;1\n")))


MOODLE = "First name;Last name;ID number;Username\nAda;L;{};ada\nBob;B;{};bob\n"


@pytest.mark.parametrize(
    ("numbers", "ids"), [(("", ""), "Username"), (("", "2"), "Username"), (("1", "2"), "ID number")]
)
def test_of_several_columns_of_ids_the_fullest_counts_and_it_is_said(small, people, numbers, ids):
    done = people(MOODLE.format(*numbers))
    assert done.columns["id"] == ids and len(done.new) == 2 and not done.left
    assert ("ID number is empty in" in " ".join(explain_import(done))) == (ids == "Username")


def test_ids_that_the_gradebook_has_go_on(small, people):
    """Else everybody would be there twice as soon as Moodle's column of numbers is filled."""
    people(MOODLE.format("", ""))
    done = people(MOODLE.format("1", "2"))
    assert (done.same, done.new) == (
        ["ada", "bob"],
        [],
    ) and "because the gradebook contains them" in " ".join(done.remarks)
    assert people(MOODLE.format("1", "2"), id_column="ID number").new == ["1", "2"]


@pytest.mark.parametrize(
    ("written", "ids"),
    [
        (('="0012345"', '"=""0067"""'), ["0012345", "0067"]),
        (("'0012345", "'0067"), ["0012345", "0067"]),
        (("12345.0", "67.0"), ["12345", "67"]),
        (("12345,00", "67"), ["12345", "67"]),
        (("12.000", "13.000"), ["12.000", "13.000"]),  # as much as thousands
        (("1e5", "ada"), ["1e5", "ada"]),
    ],
)
def test_ids_are_unwrapped_as_spreadsheets_wrap_them(small, people, written, ids):
    assert people("id;Name\n{};x\n{};y\n".format(*written)).new == ids


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("1,23457E+07", "digits are lost"),
        ("1.2e+10", "digits are lost"),
        ("12345.0", "not all ids are numbers"),
        ("#WERT!", "a spreadsheet's error value"),
    ],
)
def test_an_id_that_a_spreadsheet_has_changed_is_refused_alone(small, people, written, why):
    done = people(f"id;Name\n{written};Ada Lovelace\nbob;B\n")
    assert (
        done.new == ["bob"] and why in str(done.left[0]) and f"{written} (Ada Lovelace)" in str(done.left[0])
    )


@pytest.mark.parametrize(
    "title",
    [
        "Kursliste WS26\n",
        "Kursliste WS26;;\n;;\n",
        "Kursliste, Prof. X\nStand: 1.10., 12 Uhr\n",
        "Kurs;WS26\n",
    ],
)
@pytest.mark.parametrize("sign", ";,\t")
def test_a_title_above_the_heading_is_passed_over(small, people, title, sign):
    people(title + "Matrikelnummer;Name;Vorname\n7;Lovelace;Ada\n".replace(";", sign))
    assert {k: v[:2] for k, v in those_of(small).items()} == {"7": ("Ada", "Lovelace")}


def test_a_title_is_never_advised_as_the_column_of_ids(small, people):
    text = "Kursliste WS26\nZeichen;Name\n7;Ada Lovelace\n"
    with pytest.raises(CourseError, match="--id 'Zeichen'.*delete the lines above"):
        people(text)
    assert people(text, id_column="Zeichen").new == ["7"]


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\v", "\f", "\x1c", "\x85"])
def test_no_sign_in_a_cell_invents_a_person(small, people, sign):
    done = people(f"id;Name\r\n7;Ada{sign}Lovelace\r\n8;B\r\n")
    assert done.new == ["7", "8"] and those_of(small)["7"][:2] == ("Ada", "Lovelace")
    assert people("id;Name\r9;C\r").new == ["9"]


OTHER_SCRIPTS = {
    "shift_jis": "学籍番号,氏名\n7,山田 太郎\n",
    "cp932": "id,name\n7,Ada 山田\n",
    "euc_jp": "id,name\n7,山田 太郎\n8,Ada\n",
    "iso2022_jp": "id,name\n7,山田 太郎\n",
    "gbk": "学号,姓名\n7,张 伟\n",
    "big5": "id,name\n7,陳 怡君\n",
    "euc_kr": "학번,성명\n7,김 철수\n",
    "cp1251": "логин,Имя\n7,Анна Иванова\n",
    "cp1253": "id,name\n7,Άννα Παπαδοπούλου\n",
    "cp850": "id,name\n7,Jürgen Grün\n",
}


@pytest.mark.parametrize(("encoding", "text"), OTHER_SCRIPTS.items())
def test_another_encoding_is_refused_until_it_is_named(small, people, encoding, text):
    with pytest.raises(
        CourseError, match="neither in UTF-8 nor in a Western encoding.*CSV UTF-8.*--encoding"
    ):
        people(text, encoding)
    assert not those_of(small)
    people(text, encoding, named=encoding)
    assert set(those_of(small)["7"][:2]) == {*text.split("7,")[1].partition("\n")[0].split()}


def test_western_letters_are_never_taken_for_another_script(small, people):
    for names in (
        "Zoë Lefèvre, Éléonore D’Œuvre",
        "Åå Øystein, Søren Ærø",
        "Größe Weiß, Öz Ü",
        "Íñigo Ñáñez, Slavoj Žižek",
    ):
        people("id;name\n" + "".join(f"{n};{name}\n" for n, name in enumerate(names.split(", "))), "cp1252")
        read = {" ".join(filter(None, one[:2])) for one in those_of(small).values()}
        assert read == {*names.split(", ")}


@pytest.mark.parametrize(
    ("encoding", "why"), [("klingon", "no encoding 'klingon'"), ("ascii", "is not in the encoding")]
)
def test_a_wrong_name_of_an_encoding_is_a_sentence(people, encoding, why):
    with pytest.raises(CourseError, match=why):
        people("id;Name\n7;Öz\n", named=encoding)
