"""Which column of a table of people holds what: by its heading, in some languages, and by its cells."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import CourseError
from autograder.gradebook.ids import plain_ids
from autograder.gradebook.tables import Table, read_rows


def letters(heading: str) -> str:
    """A heading without what is written differently from one table to the next: capitals, spaces and signs."""
    return re.sub(r"[\W_]+", "", heading.casefold())


def _headings(text: str) -> tuple[str, ...]:
    return tuple(letters(heading) for heading in text.split(","))


HEADINGS: Mapping[str, tuple[str, ...]] = {
    "id": _headings(
        "id, student id, id number, username, login, sis login id, student number, matriculation number, student no, user id, "
        "login name, ID-Nummer, Anmeldename, Matrikelnummer, Kennung, Benutzername, Matrikel, Matrikelnr, Matrikel-Nr, "
        "Matr.-Nr., Matrnr, Benutzerkennung, Nutzername, Loginname, numéro d'identification, identifiant, nom d'utilisateur, "
        "numéro étudiant, numéro d'étudiant, número de id, nombre de usuario, matrícula, codice identificativo, nome utente, "
        "matricola, numero di matricola, gebruikersnaam, studentnummer, número de identificação, nome de usuário, "
        "identyfikator, nazwa użytkownika, numer albumu, имя пользователя, логин, ユーザ名, 学籍番号, 用户名, 学号, "
        "사용자 아이디, 학번, kullanıcı adı, användarnamn, brugernavn, brukernavn, käyttäjätunnus, opiskelijanumero"
    ),
    "first_name": _headings(
        "first name, first names, given name, given names, forename, Vorname, Vornamen, Vorname(n), Rufname, prénom, prénoms, "
        "prénom(s), nombre(s), nombres, voornaam, voornamen, roepnaam, imię, förnamn, fornavn, etunimi, etunimet, křestní jméno, "
        "keresztnév, utónév"
    ),
    "last_name": _headings(
        "last name, last names, surname, surnames, family name, Nachname, Nachnamen, Familienname, Zuname, nom de famille, apellido, "
        "apellidos, apellido(s), primer apellido, apellido paterno, cognome, achternaam, sobrenome, apelido, apelidos, "
        "nazwisko, фамилия, 姓, 성, soyad, soyadı, efternamn, etternavn, efternavn, sukunimi, příjmení, vezetéknév, "
        "családnév, επώνυμο"
    ),
    "email": _headings("email, e-mail, email address, e-mail address, mail"),
    "name": _headings(
        "full name, student, student name, vollständiger Name, Teilnehmer/in, Vor- und Nachname, Vorname Nachname, Vorname Name, "
        "nom complet, prénom nom, prénom et nom, étudiant, nombre completo, nombre y apellidos, estudiante, nome completo, "
        "nome e cognome, studente, volledige naam, imię i nazwisko, полное имя, フルネーム, ad soyad, adı soyadı, koko nimi"
    ),
    "lms_user_id": _headings("lms_user_id"),
}
"""What columns are called, the best first: by nbgrader, Moodle, Canvas and people, in some languages."""

LAST_FIRST = _headings(
    "Name Vorname, Nachname Vorname, Name und Vorname, last name first name, surname first name, nom prénom, nom et prénom, "
    "apellidos y nombre, apellidos nombre, cognome e nome, cognome nome, nazwisko i imię, фио, 氏名, 姓名, 성명"
)
"""Whole names that begin with the last one, also where no comma says so."""

SOME_NAME = _headings(
    "name, names, Namen, nom, noms, nombre, nome, naam, namn, navn, nimi, név, nazwa, jméno, имя, όνομα, ad, adı, isim, 名, 名字, "
    "名前, 이름"
)
"""Beside a column of first names the last one, beside last names the first one, and alone the whole name."""

PARTICIPANT = re.compile(r"\D*[\s/]\D*\d+")
"""Such as "Participant 101", "Teilnehmer/in101": a number of one assignment alone."""
ADDRESS = re.compile(r"[^\s@]+@[^\s@]+")


@dataclass
class Columns:
    """Where things stand in a table, and what an instructor has to know of that."""

    places: dict[str, int] = field(default_factory=dict)  # {what it holds: the place of the column}
    last_first: bool = False  # a whole name begins with the last one
    remarks: list[str] = field(default_factory=list)


def read_people(path: Path, id_column: str = "", encoding: str = "") -> Table:
    """The table in a file, from the line on that heads a column of ids. Raises CourseError where there is no table."""
    known = {letters(id_column)} if id_column else {*HEADINGS["id"]}
    return read_rows(path, lambda cells: not known.isdisjoint(map(letters, cells)), encoding)


def find_columns(table: Table, id_column: str = "", students: Collection[str] = ()) -> Columns:
    """The columns of a table; `students` are the ids that the gradebook has.

    Raises CourseError where no column holds ids; `id_column` is the heading of the one that does.
    """
    plain = [letters(heading) for heading in table.heading]
    found = Columns()
    for kind in ("first_name", "last_name", "email", "name", "lms_user_id"):
        if known := _those_in(plain, HEADINGS[kind]):
            found.places[kind] = plain.index(known[0])
    addresses = [place for place in range(len(plain)) if _holds_only(ADDRESS, table.column(place))]
    if addresses:
        found.places["email"] = addresses[0]
    _find_names(table, plain, found)
    ids = [plain.index(name) for name in _those_in(plain, HEADINGS["id"])]
    ids = [place for place in ids if not _holds_only(PARTICIPANT, table.column(place))]
    canvas = [place for place, heading in enumerate(plain) if heading.startswith("sis")]
    if canvas and "id" in plain:  # Canvas' own number has that heading, in every language
        ids = sorted(reversed(canvas), key=lambda place: "login" not in plain[place])
        found.places["lms_user_id"] = plain.index("id")
    if id_column:
        if letters(id_column) not in plain:
            raise CourseError(f"{table.path} has no column {id_column!r}. Its columns: {table.columns}.")
        ids = [plain.index(letters(id_column))]
    if not ids:
        raise CourseError(
            f"{table.path} has no heading that we recognise as that of the ids: name the column, as in --id "
            f"{table.heading[addresses[0]] if addresses else table.heading[0]!r}. Its columns: {table.columns}. (If that is not the "
            "heading of the table, delete the lines above the heading.)"
        )
    found.places["id"] = _choose(table, ids, set(students), found)
    _remark_on_names(table, found)
    return found


def _those_in(plain: Sequence[str], names: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name in plain]


def _find_names(table: Table, plain: Sequence[str], found: Columns) -> None:
    """What a column holds that is called a name and does not say which."""
    places = found.places
    if "name" not in places and (whole := _those_in(plain, LAST_FIRST)):
        places["name"], found.last_first = plain.index(whole[0]), True
    missing = [kind for kind in ("first_name", "last_name") if kind not in places]
    some = [plain.index(name) for name in _those_in(plain, SOME_NAME)]
    if not some or not missing or (len(missing) == 2 and "name" in places):
        return
    if len(missing) == 1:
        (other,) = {"first_name", "last_name"} - {*missing}
        pairs = [
            (row[some[0]], row[places[other]]) for row in table.rows if row[some[0]] and row[places[other]]
        ]
        whole_names = sum(name != part and part in name for name, part in pairs)
        if pairs and whole_names * 2 <= len(pairs):
            places[missing[0]] = some[0]
            return
    places.setdefault("name", some[0])


def _choose(table: Table, ids: Sequence[int], students: Collection[str], found: Columns) -> int:
    """Of the columns of ids the one whose ids the gradebook has, else the fullest: Moodle's "ID number" is often empty."""
    known = {place: sum(cell in students for cell in plain_ids(table.column(place))) for place in ids}
    filled = {place: sum(map(bool, table.column(place))) for place in ids}
    best = max(ids, key=lambda place: (known[place], filled[place]))
    passed = [
        place
        for place in ids[: ids.index(best)]
        if known[place] < known[best] or filled[place] < filled[best]
    ]
    for place in passed:
        empty = len(table.rows) - filled[place]
        why = (
            "because the gradebook contains them"
            if known[best] > known[place]
            else f"because {table.heading[place]} is empty in {empty} of {len(table.rows)} rows"
        )
        found.remarks.append(
            f"The ids were taken from {table.heading[best]}, {why}. If you want those of another column, name it with --id."
        )
    return best


def _remark_on_names(table: Table, found: Columns) -> None:
    """Say that nothing is known as a name, or as one of the two, if there is a column that may be it."""
    names = {"first_name": "first name", "last_name": "last name"}
    missing = [word for kind, word in names.items() if kind not in found.places]
    others = [
        table.heading[place]
        for place in range(len(table.heading))
        if place not in found.places.values()
        and any(any(map(str.isalpha, cell)) for cell in table.column(place))
    ]
    if "name" not in found.places and missing and others:
        what, heading = (
            ("name", "'name', or two of them 'first name' and 'last name'")
            if len(missing) == 2
            else (missing[0], repr(missing[0]))
        )
        found.remarks.append(
            f"No {what} was read, because no column has a heading for it. Columns not read: {', '.join(others[:12])}. If it is "
            f"one of these, call that column {heading} and import the table again."
        )


def _holds_only(kind: re.Pattern[str], column: list[str]) -> bool:
    cells = [cell for cell in column if cell]
    return bool(cells) and all(kind.fullmatch(cell) for cell in cells)
