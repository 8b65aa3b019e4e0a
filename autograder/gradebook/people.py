"""Put the people of a table into the gradebook: the participants of a course as a spreadsheet or another system has them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from nbgrader.api import Gradebook

from autograder.errors import CourseError
from autograder.gradebook.roster import may_be_a_folder
from autograder.gradebook.tables import Table
from autograder.untrusted.submission import LONGEST_NAME, LeftOut

HEADINGS: Mapping[str, tuple[str, ...]] = {
    "id": (
        *(
            "id",
            "student id",
            "id number",
            "username",
            "login",
            "sis login id",
            "student number",
            "matriculation number",
        ),
        *("ID-Nummer", "Anmeldename", "Matrikelnummer", "Kennung", "Benutzername", "numéro d'identification"),
        *(
            "identifiant",
            "nom d'utilisateur",
            "numéro étudiant",
            "número de id",
            "nombre de usuario",
            "matrícula",
        ),
        *("codice identificativo", "username", "nome utente", "matricola", "gebruikersnaam", "studentnummer"),
        *(
            "número de identificação",
            "nome de usuário",
            "identyfikator",
            "nazwa użytkownika",
            "имя пользователя",
        ),
        *(
            "логин",
            "ユーザ名",
            "学籍番号",
            "用户名",
            "学号",
            "사용자 아이디",
            "학번",
            "kullanıcı adı",
            "användarnamn",
        ),
    ),
    "first_name": (
        *(
            "first name",
            "given name",
            "forename",
            "Vorname",
            "prénom",
            "nombre",
            "nombre(s)",
            "nome",
            "voornaam",
        ),
        *("imię", "имя", "名", "이름", "ad", "förnamn", "fornavn", "etunimi", "jméno", "keresztnév", "όνομα"),
    ),
    "last_name": (
        *(
            "last name",
            "surname",
            "family name",
            "Nachname",
            "Familienname",
            "nom",
            "nom de famille",
            "apellido",
        ),
        *(
            "apellidos",
            "apellido(s)",
            "cognome",
            "achternaam",
            "sobrenome",
            "apelido",
            "nazwisko",
            "фамилия",
            "姓",
        ),
        *(
            "성",
            "soyad",
            "soyadı",
            "efternamn",
            "etternavn",
            "efternavn",
            "sukunimi",
            "příjmení",
            "vezetéknév",
            "επώνυμο",
        ),
    ),
    "email": ("email", "e-mail", "email address", "e-mail address", "mail"),
    "name": (
        *(
            "name",
            "full name",
            "student",
            "student name",
            "vollständiger Name",
            "Teilnehmer/in",
            "nom complet",
        ),
        *(
            "étudiant",
            "nombre completo",
            "estudiante",
            "nome completo",
            "studente",
            "volledige naam",
            "полное имя",
        ),
        *("フルネーム", "氏名", "姓名", "성명", "ad soyad"),
    ),
    "lms_user_id": ("lms_user_id",),
}
"""What columns are called, the best first: by nbgrader, Moodle and Canvas, in some languages."""

WORDS = {
    "id": "id",
    "first_name": "first name",
    "last_name": "last name",
    "email": "e-mail address",
    "name": "name",
    "lms_user_id": "Canvas' number",
}
PARTICIPANT = re.compile(
    r"\D*[\s/]\D*\d+"
)  # "Participant 101", "Teilnehmer/in101": a number of one assignment alone


@dataclass
class Imported:
    """What came of a table."""

    columns: dict[str, str] = field(default_factory=dict)  # {what it holds: how the column is called}
    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    left: list[LeftOut] = field(default_factory=list)
    doubtful: str = ""  # a name whose letters may be others


def import_people(gradebook: Gradebook, table: Table, id_column: str = "") -> Imported:
    """Put everybody in the table into the gradebook. Nobody is removed, and an empty cell changes nothing.

    Raises CourseError where no column holds ids; `id_column` is the heading of the one that does.
    """
    places = _columns(table, id_column)
    done = Imported({kind: table.heading[place] for kind, place in places.items()})
    if table.guessed:
        done.doubtful = next((cell for row in table.rows for cell in row if not cell.isascii()), "")
    known = {student.id: student for student in gradebook.students}
    folded = {student.casefold(): student for student in known}
    people: dict[str, dict[str, str]] = {}
    for row in table.rows:
        person = _person({kind: row[place] for kind, place in places.items()})
        student = person.pop("id", "")
        if "lms_user_id" in places and not (student or "lms_user_id" in person):
            continue  # Canvas' line about the points of each assignment
        if reason := _obstacle(student, person, people, folded):
            done.left.append(LeftOut(student or ", ".join(filter(None, row))[:LONGEST_NAME], reason))
        elif student:
            people[student] = person
            folded[student.casefold()] = student
    for student, person in people.items():
        before = known.get(student)
        if before is None:
            done.new.append(student)
        elif any(getattr(before, name) != value for name, value in person.items()):
            done.changed.append(student)
        else:
            done.same.append(student)
            continue
        gradebook.update_or_create_student(student, **person)
    return done


def _obstacle(
    student: str,
    person: Mapping[str, str],
    people: Mapping[str, Mapping[str, str]],
    folded: Mapping[str, str],
) -> str:
    """Why somebody is not imported, or ""."""
    if not student:
        return "has no id." if person.get("email") or len(person) > 1 else ""
    if not may_be_a_folder(student):
        return "cannot be an id: an id has at most 128 characters, and none of <, >, / or invisible ones."
    if student in people:
        return (
            "" if people[student] == person else "occurs twice, with different names: the first one counts."
        )
    other = folded.get(student.casefold(), student)
    return (
        "" if other == student else f"differs from {other} only in capitals: decide which of the two it is."
    )


def _person(cells: Mapping[str, str]) -> dict[str, str]:
    """What the gradebook keeps of a row, without what is empty."""
    person = dict(cells)
    name = person.pop("name", "")
    if name and not (person.get("first_name") or person.get("last_name")):
        last, comma, first = name.partition(",")
        if not comma:
            first, _, last = name.rpartition(" ")
        person |= {"first_name": first.strip(), "last_name": last.strip()}
    return {kind: value[:LONGEST_NAME] if kind != "id" else value for kind, value in person.items() if value}


def _columns(table: Table, id_column: str) -> dict[str, int]:
    """{what it holds: the place of the column}."""
    plain = [_letters(heading) for heading in table.heading]
    places: dict[str, int] = {}
    for kind, names in HEADINGS.items():
        for name in names:
            if kind not in places and _letters(name) in plain:
                place = plain.index(_letters(name))
                if kind != "id" or not _is_of_participants(table.column(place)):
                    places[kind] = place
    addresses = [place for place in range(len(plain)) if _is_of_addresses(table.column(place))]
    if addresses:
        places["email"] = addresses[0]
    canvas = [place for place, heading in enumerate(plain) if heading.startswith("sis")]
    if canvas and "id" in plain:  # Canvas' own number has that heading, in every language
        login = [place for place in canvas if "login" in plain[place]] or canvas[-1:]
        places |= {"id": login[0], "lms_user_id": plain.index("id")}
    if id_column:
        if _letters(id_column) not in plain:
            raise CourseError(f"{table.path} has no column {id_column!r}. It has: {table.columns}.")
        places["id"] = plain.index(_letters(id_column))
    if "id" not in places:
        raise CourseError(
            f"{table.path} has no column of ids that is known by its name: say which one it is, as in --id "
            f"{table.heading[addresses[0]] if addresses else table.heading[0]!r}. It has: {table.columns}."
        )
    return places


def _letters(heading: str) -> str:
    return re.sub(r"[\W_]+", "", heading.casefold())


def _is_of_participants(column: list[str]) -> bool:
    cells = [cell for cell in column if cell]
    return bool(cells) and all(PARTICIPANT.fullmatch(cell) for cell in cells)


def _is_of_addresses(column: list[str]) -> bool:
    cells = [cell for cell in column if cell]
    return bool(cells) and all(re.fullmatch(r"[^\s@]+@[^\s@]+", cell) for cell in cells)


def explain_import(done: Imported) -> list[str]:
    """What an instructor has to know of it, in sentences."""
    read = ", ".join(f"{WORDS[kind]} from {heading}" for kind, heading in done.columns.items())
    total = len(done.new) + len(done.changed) + len(done.same)
    lines = [
        f"{total} {'person' if total == 1 else 'people'} in the gradebook: {len(done.new)} new, {len(done.changed)} "
        f"changed, {len(done.same)} as before.",
        f"Read: {read}.",
    ]
    if done.doubtful:
        lines.append(
            f"The file is not in UTF-8: look whether {done.doubtful!r} is right. If it is not, save the table as CSV UTF-8 and "
            "import it again."
        )
    return lines
