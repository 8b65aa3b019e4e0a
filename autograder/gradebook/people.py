"""Put the people of a table into the gradebook: the participants of a course as a spreadsheet or another system has them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nbgrader.api import Gradebook

from autograder.gradebook.columns import find_columns
from autograder.gradebook.ids import plain_ids, what_is_wrong
from autograder.gradebook.roster import may_be_a_folder
from autograder.gradebook.tables import Table
from autograder.untrusted.submission import LONGEST_NAME, LeftOut

WORDS = {
    "id": "id",
    "first_name": "first name",
    "last_name": "last name",
    "email": "e-mail address",
    "name": "name",
    "lms_user_id": "Canvas' number",
}


@dataclass
class Imported:
    """What came of a table."""

    columns: dict[str, str] = field(default_factory=dict)  # {what it holds: how the column is called}
    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    left: list[LeftOut] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)  # on the choice of columns
    doubtful: str = ""  # a name whose letters may be others


def import_people(gradebook: Gradebook, table: Table, id_column: str = "") -> Imported:
    """Put everybody in the table into the gradebook. Nobody is removed, and an empty cell changes nothing.

    Raises CourseError where no column holds ids; `id_column` is the heading of the one that does.
    """
    known = {student.id: student for student in gradebook.students}
    columns = find_columns(table, id_column, known.keys())
    places = columns.places
    done = Imported({kind: table.heading[place] for kind, place in places.items()}, remarks=columns.remarks)
    if table.guessed:
        done.doubtful = next((cell for row in table.rows for cell in row if not cell.isascii()), "")
    folded = {student.casefold(): student for student in known}
    people: dict[str, dict[str, str]] = {}
    for row, given in zip(table.rows, plain_ids(table.column(places["id"])), strict=True):
        cells = {kind: row[place] for kind, place in places.items()}
        person = _person(cells | {"id": given}, columns.last_first)
        student = person.pop("id", "")
        if "lms_user_id" in places and not (student or "lms_user_id" in person):
            continue  # Canvas' line about the points of each assignment
        if reason := _obstacle(student, person, people, folded):
            done.left.append(LeftOut(_shown(student, row), reason))
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
    if damage := what_is_wrong(student):
        return damage
    if not may_be_a_folder(student):
        return "cannot be an id: an id has at most 128 characters, and contains no <, >, / or invisible characters."
    if student in people:
        return (
            "" if people[student] == person else "occurs twice, with different names: the first name counts."
        )
    other = folded.get(student.casefold(), student)
    return (
        ""
        if other == student
        else f"differs from {other} only in upper and lower case: decide which of the two is right."
    )


def _shown(student: str, row: Sequence[str]) -> str:
    """Somebody who is not imported, by the id or by all there is."""
    cells = [cell for cell in row if cell and cell != student]
    if student and not what_is_wrong(student):
        return student
    return f"{student} ({', '.join(cells)})"[:LONGEST_NAME] if student else ", ".join(cells)[:LONGEST_NAME]


def _person(cells: Mapping[str, str], last_first: bool) -> dict[str, str]:
    """What the gradebook keeps of a row, without what is empty; `last_first`: whole names begin with the last one."""
    person = {kind: " ".join(cell.split()) if kind != "id" else cell for kind, cell in cells.items()}
    name = person.pop("name", "")
    first, last = person.get("first_name", ""), person.get("last_name", "")
    if name and not (first or last):
        first, last = _parts(name, last_first)
    elif name and not first:
        first = _without(last, name)
    elif name and not last:
        last = _without(first, name)
    person |= {"first_name": first, "last_name": last}
    return {kind: value[:LONGEST_NAME] if kind != "id" else value for kind, value in person.items() if value}


def _parts(name: str, last_first: bool) -> tuple[str, str]:
    """A whole name as the first and the last one. A name of one word is a last one."""
    last, comma, first = name.partition(",")
    if not comma:
        before, _, after = name.rpartition(" ")
        first, last = (after, before) if last_first and before else (before, after)
    return first.strip(), last.strip()


def _without(part: str, name: str) -> str:
    """What is left of a whole name without the first or the last one, which it may hold at either end."""
    for rest in (name.removeprefix(part), name.removesuffix(part)):
        if rest != name and rest.strip(" ,"):
            return rest.strip(" ,")
    return name if name != part else ""


def explain_import(done: Imported) -> list[str]:
    """What an instructor has to know of it, in sentences."""
    read = ", ".join(f"{WORDS[kind]} from {heading}" for kind, heading in done.columns.items())
    total = len(done.new) + len(done.changed) + len(done.same)
    lines = [
        f"{total} {'person' if total == 1 else 'people'} in the gradebook: {len(done.new)} new, {len(done.changed)} "
        f"changed, {len(done.same)} unchanged.",
        f"Read: {read}.",
    ]
    lines += done.remarks
    if done.doubtful:
        lines.append(
            f"The file is not in UTF-8: check whether {done.doubtful!r} is right. If it is not, save the table as CSV UTF-8 and "
            "import it again."
        )
    return lines
