"""What Moodle's grading worksheet or Canvas' exported gradebook says, in whatever language it is.

Its columns are told by what they hold: the numbers of the download, the ids and addresses of the gradebook, times, which a
word of the heading must not contradict. A column counts only as a whole, for a student may have written a single cell, such as the name or a text that was handed in.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from autograder.errors import CourseError
from autograder.gradebook.tables import Table
from autograder.untrusted.times import NoTime, Order, read_time

NUMBER = ("identifier", "id")
IDS = ("id number", "username", "sis login id", "sis user id")
FULL_NAME = ("full name", "student")
TIMES = ("last modified (submission)",)
HAND_IN = re.compile(
    r"submi|hand(ed)?[ -]?in\b|turned in|abgabe|abgegeben|einreich|eingereicht|remis|rendu|soumis|entrega|enviad|envío|envio|"
    r"consegn|inzend|inlever|ingelever|tramesa|lliura|inläm|innlever|aflever|palaut|przesł|oddan|odevzd|сдач|сдан|ответ|відповід|"
    r"подан|beadás|υποβολ|teslim|gönder|提出|提交|繳交|제출|تسليم|הגש|nộp"
)
"""Parts of words for what a student hands in, as headings have them."""
SOMETHING_ELSE = re.compile(
    r"\bdue\b|dead ?line|cut.?off|allow|open|\bstart|beg[ai]n|extension|extended|frist|termin|fällig|verläng|échéance|prolong|"
    r"l[ií]mite?\b|vencim|prórroga|ampliac|prazo|prorrog|scaden|prorog|uiterste|uitstel|verleng|срок|термін|határid|προθεσμ|son tarih|"
    r"締切|期限|延長|截止|延期|마감|연장|\bgrad|\bmark(s|ed)?\b|feedback|bewert|benot|\bnot[ae]s?\b|\bévalu|calific|qualific|valutaz|"
    r"beoordel|cijfer|avalia|ocen|оцен|оцін|hodnoc|osztály|βαθμ|betyg|bedöm|karakter|vurder|arvio|arvosan|評|评|成績|成绩|성적|평가|"
    r"access|log.?in\b|zugriff|anmeld"
)
"""Parts of words for other times: when something is due, was graded, or somebody was last there."""
ENDS_IN_DIGITS = re.compile(r"(.*?)(\d+)", re.DOTALL)
CLOCK, YEAR = re.compile(r"\d{1,2}\s?[:.h時时시点點]\s?\d{2}(?!\d)"), re.compile(r"(?<!\d)\d{4}(?!\d)")
NOTHING = ("", "-", "–", "—")
MOST = 0.5  # more than this share of a column's cells must be of its kind
SHOWN = 60


@dataclass(frozen=True)
class Listed:
    """A line of the table that another system exports."""

    ids: tuple[str, ...]  # the best first
    name: str
    handed_in: datetime | None = None  # UTC, naive
    time_unread: str = ""  # what stands there in place of a time, and why it cannot be read


@dataclass(frozen=True)
class Worksheet:
    """Such a table, by the number that the system gives each student."""

    by_number: Mapping[str, Listed] = field(default_factory=dict)
    times: str = ""  # what the column with the times is called; "" where there is none
    about_times: str = ""  # what else there is to say of how it was found, in sentences
    times_unread: str = ""  # why none of several columns with times was taken, as the end of a sentence


def read_worksheet(
    table: Table, zone: tzinfo, numbers: Mapping[str, str] | None = None, students: Collection[str] = ()
) -> Worksheet:
    """What the table says. Raises CourseError where it has no column of numbers.

    `numbers` are those of the download, with the names that it has for them; `students` are the ids and addresses that
    the gradebook has. Times in the table are those of a clock in `zone`.
    """
    numbers = numbers or {}
    place = _number_column(table, numbers)
    if place is None:
        raise CourseError(
            f"{table.path} has no column with a number for each student. Moodle's grading worksheet has one (Identifier: "
            f"Participant 101), and so does Canvas' exported gradebook (ID). The columns of this table: {table.columns}."
        )
    rows = {number: row for row in table.rows if (number := _number(row[place]))}
    named = _headed(table, FULL_NAME) or _name_columns(table, rows, numbers)
    others = [column for column in range(len(table.heading)) if column not in (place, *named)]
    ids = _id_columns(table, others, students)
    chosen = _time_column(table, [column for column in others if column not in ids])
    times = chosen.place
    order = _order(table.column(times), zone) if times is not None else ""
    listed = {}
    for number, row in rows.items():
        when, unread = _time(row[times], zone, order) if times is not None else (None, "")
        found = tuple(dict.fromkeys(row[column] for column in ids if row[column] not in NOTHING))
        listed[number] = Listed(
            found, next((row[column] for column in named if row[column]), ""), when, unread
        )
    return Worksheet(listed, table.heading[times] if times is not None else "", chosen.about, chosen.unread)


def _headed(table: Table, names: Collection[str]) -> list[int]:
    """The columns that are called so in English, in the order of the names."""
    headings = [heading.casefold() for heading in table.heading]
    return [headings.index(name) for name in names if name in headings]


def _number(cell: str) -> str:
    match = ENDS_IN_DIGITS.fullmatch(cell)
    return str(int(match[2])) if match and len(match[2]) < 30 else ""


def _number_column(table: Table, numbers: Mapping[str, str]) -> int | None:
    """The column that holds the most numbers of the download, in every row one of its own; Moodle's is the first."""
    headed = _headed(table, NUMBER)
    candidates = {}
    for place in range(len(table.heading)):
        matches = [ENDS_IN_DIGITS.fullmatch(cell) for cell in table.column(place) if cell]
        found = [match for match in matches if match]
        words = {match[1] for match in found}  # "Participant ", or nothing
        if len(words) != 1 or len({match[2] for match in found}) < len(matches):
            continue
        of_download = len({_number(match[0]) for match in found} & numbers.keys())
        if of_download or place in headed or any(sign.isalpha() for word in words for sign in word):
            candidates[place] = of_download
    return max(candidates, key=lambda place: (candidates[place], place in headed, -place), default=None)


def _name_columns(table: Table, rows: Mapping[str, tuple[str, ...]], numbers: Mapping[str, str]) -> list[int]:
    """The columns in which the names stand that the download has for the same numbers."""
    pairs = [(row, numbers[number]) for number, row in rows.items() if numbers.get(number)]
    return [
        place
        for place in range(len(table.heading))
        if pairs and sum(_alike(row[place], person) for row, person in pairs) > MOST * len(pairs)
    ]


def _alike(cell: str, person: str) -> bool:
    return sorted(re.findall(r"\w+", cell.casefold())) == sorted(re.findall(r"\w+", person.casefold()))


def _id_columns(table: Table, places: Collection[int], students: Collection[str]) -> list[int]:
    """The columns of ids, which the gradebook knows or English headings tell; then those of e-mail addresses."""
    known = {student.casefold() for student in students}
    ids = [place for place in _headed(table, IDS) if place in places]
    addresses = []
    for place in places:
        cells = [cell for cell in table.column(place) if cell not in NOTHING]
        if cells and all(re.fullmatch(r"[^\s@]+@[^\s@]+", cell) for cell in cells):
            addresses.append(place)
        elif (
            place not in ids and cells and sum(cell.casefold() in known for cell in cells) > MOST * len(cells)
        ):
            ids.append(place)
    return [*ids, *(place for place in addresses if place not in ids)]


@dataclass(frozen=True)
class _Times:
    """The column that says when something was handed in, and what is to be said of it: see `Worksheet`."""

    place: int | None = None
    about: str = ""
    unread: str = ""


def _time_column(table: Table, places: Collection[int]) -> _Times:
    """When something was handed in: the column with times that is called so.

    In a language of which we do not know the words, Moodle still has two of one name, with "submission" and then "grade" in
    brackets.
    """
    if headed := [place for place in _headed(table, TIMES) if place in places]:
        return _Times(headed[0])
    found = [place for place in places if _holds_times(table.column(place))]
    other = [place for place in found if SOMETHING_ELSE.search(table.heading[place].casefold())]
    fits = {place: _is_of_hand_ins(table.heading[place]) for place in found if place not in other}
    best = [place for place in fits if fits[place] == max(fits.values())]
    remedy = f'Call the column that says when something was handed in "{TIMES[0].capitalize()}".'
    if not best:
        about = f"No time was taken from {_named(table, other)}, because this is not the time of a submission. {remedy}"
        return _Times(about=about if other else "")
    if fits[best[0]]:
        certain, about = len(best) == 1, ""
    else:
        stems = {table.heading[place].replace("（", "(").partition("(")[0].strip() for place in best}
        certain = len(best) == 1 or (len(best) == 2 and len(stems) == 1 and "" not in stems)
        beside = f", and not {_named(table, best[1:])}," if best[1:] else ""
        about = f"Only the position of this column suggests that it{beside} contains the submission times. If it does not: {remedy}"
    if certain:
        return _Times(best[0], about)
    return _Times(unread=f"any of {_named(table, best)} may contain the submission times. {remedy}")


def _is_of_hand_ins(heading: str) -> int:
    """2 if a heading says so in its brackets, 1 if it says so elsewhere, 0 if not."""
    before, _, bracket = heading.casefold().replace("（", "(").partition("(")
    return 2 if HAND_IN.search(bracket) else int(bool(HAND_IN.search(before)))


def _named(table: Table, places: Collection[int]) -> str:
    headings = (table.heading[place] for place in places)
    return " and ".join(f'"{name}"' if name.isprintable() else ascii(name) for name in headings)


def _holds_times(column: list[str]) -> bool:
    cells = [cell for cell in column if cell not in NOTHING]
    return bool(cells) and sum(bool(CLOCK.search(cell) and YEAR.search(cell)) for cell in cells) > MOST * len(
        cells
    )


ORDERS: tuple[Order, ...] = ("day", "month")


def _order(column: list[str], zone: tzinfo) -> Order:
    """What comes first in dates such as 05/10/2026, if only one order makes times of the whole column."""
    cells = [cell for cell in column if cell not in NOTHING]
    fits = [order for order in ORDERS if all(_time(cell, zone, order)[0] for cell in cells)]
    return fits[0] if len(fits) == 1 else ""


def _time(cell: str, zone: tzinfo, order: Order) -> tuple[datetime | None, str]:
    if cell in NOTHING:
        return None, ""
    try:
        return read_time(cell, zone, order), ""
    except NoTime as error:
        shown = cell[:SHOWN] if cell.isprintable() else ascii(cell[:SHOWN])
        return None, f'"{shown}" {error}'
