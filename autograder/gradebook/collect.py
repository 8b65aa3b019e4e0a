"""Put what Moodle, Canvas or a person has collected where grading looks for it: submitted/STUDENT/ASSIGNMENT/.

What is there already is replaced only by what was handed in later; and what somebody else has put there only where both
times are known.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook, MissingEntry

from autograder.course import Assignment, assignments, composed
from autograder.errors import CourseError
from autograder.files import UNWRITABLE, read_object, write_aside
from autograder.gradebook.choosing import (
    RULE,
    Candidate,
    Chosen,
    HandIn,
    NoNotebook,
    Notebooks,
    Released,
    choose,
)
from autograder.gradebook.matching import Matches
from autograder.gradebook.roster import Roster, Unknown, may_be_a_folder
from autograder.gradebook.tables import Table
from autograder.gradebook.worksheet import Worksheet, read_worksheet
from autograder.settings import course_settings
from autograder.untrusted.downloads import Budget, File, opened
from autograder.untrusted.layouts import (
    CANVAS,
    LAYOUTS,
    MOODLE,
    MOODLES_FEEDBACK,
    FileOwner,
    Layout,
    Misplaced,
    decide,
    is_hidden,
    looks_like_a_notebook,
)
from autograder.untrusted.submission import (
    MOST_TIME,
    Cell,
    LeftOut,
    NotRead,
    Unreadable,
    parse_cells,
    parse_timestamp,
    time_of,
)
from autograder.untrusted.times import zone_of


@dataclass(frozen=True)
class HandedIn:
    """What was put into `submitted/`."""

    student: str
    notebook: Assignment
    name: FileOwner
    exact: bool  # whether the time is known
    late: bool
    untouched: bool = False  # the release, without an answer
    passed_over: tuple[str, ...] = ()  # other notebooks of the same student


@dataclass
class Collection:
    """What came of a download. `folder` is that of all hand-ins."""

    folder: Path = Path("submitted")
    handed_in: list[HandedIn] = field(default_factory=list)
    superseded: list[LeftOut] = field(default_factory=list)  # what submitted/ holds counts
    new: list[str] = field(default_factory=list)  # students that the gradebook does not know yet
    left: list[LeftOut] = field(default_factory=list)
    unread: list[LeftOut] = field(default_factory=list)  # whose time is there and cannot be read
    notes: list[str] = field(default_factory=list)  # on the table
    others: int = 0  # files that are not the notebook of a hand-in
    layout: str = ""  # one of LAYOUTS; "" where nothing is anybody's
    matches: Matches = field(default_factory=Matches)


def collect(
    root: Path,
    source: Path,
    gradebook: Gradebook,
    wanted: str = "",
    table: Table | None = None,
    zone: str = "",
    inside: Iterable[str] = (),
    by_hand: Mapping[str, str] | None = None,
) -> Collection:
    """Fill `submitted/` from a download, for one assignment or for all that its notebooks are called after.

    `zone` names the time zone of the clock by which the table's times are; by default it is this machine's. `inside` are
    folders of the download that stand around those of the students; `by_hand` says who is meant by a name at its top. Raises
    CourseError where the download, the table, the
    zone or such a folder cannot be used at all.
    """
    clock, zone_name = zone_of(zone)
    notebooks = Notebooks(assignments(root), wanted)
    students = list(gradebook.students)
    people = Roster(students)
    settings = course_settings(root)
    done, budget = Collection(root / settings.submitted_directory), Budget()
    done.matches = Matches(_checked(by_hand or {}))
    confirmed = {composed(name) for path in inside for name in path.split("/") if name not in ("", ".")}
    containers = (settings.course_id or root.name, done.folder.name)
    called = source.absolute().name if source.is_dir() else source.stem
    with opened(source, clock, lambda part: _names_somebody(people, part)) as (files, left):
        done.left += left
        paths = [file.path for file in files]
        layout = decide(paths, notebooks.assignments, people.names, called, containers, confirmed)
        if unseen := sorted(confirmed - {name for path in layout.around for name in path}):
            raise CourseError(
                f"--inside {unseen[0]}: {source.name} has no folder of this name that contains the students' folders."
            )
        owned = _owned(files, layout, done)
        done.layout = layout.system if owned else ""
        owners = [hand_ins[0].owner for hand_ins in owned.values()]
        persons = {owner.number: owner.person for owner in owners if owner.number}
        sheet = read_worksheet(table, clock, persons, people.known) if table else Worksheet()
        groups = layout.system == "moodle" and people.has_groups(persons.values())
        roster = Roster(students, sheet.by_number, groups)
        if table:
            done.notes += _about(table, sheet, persons, zone_name)
            done.unread += [LeftOut(table.path.name, sheet.times_unread)] if sheet.times_unread else []
        stamps = {file.path: file for file in files if file.path.endswith("/timestamp.txt")}
        released: dict[Assignment, Released] = {}
        if layout.system == "blackboard":
            done.notes.append(
                f"The times in the names of Blackboard's files are taken to be in the time zone {zone_name}. Use --zone to give a different one."
            )
        of_students = _by_student(owned, layout, notebooks, wanted, roster, done)
        for student, notebook in sorted(of_students, key=lambda one: (one[0], one[1].called)):
            hand_ins = of_students[student, notebook]
            if notebook not in released:
                released[notebook] = _released(notebook)
            texts = released[notebook]
            try:
                chosen = choose(hand_ins, notebook, notebooks, texts, budget)
                told, unread = _time(chosen.candidate, notebook.name, layout, stamps, roster, clock)
                done.unread += [LeftOut(student, unread)] if unread else []
                _Put(done, student, notebook, _due(gradebook, notebook.name)).hand_in(chosen, told, texts)
                done.others += _beside(hand_ins, chosen)
                if chosen.held:
                    reason = f"handed in no notebook, but {chosen.held}. {chosen.candidate.problem}"
                    done.left.append(LeftOut(student, reason))
            except NoNotebook as error:
                what = notebook.file if notebook.part else "notebook"
                done.left.append(LeftOut(student, f"handed in no {what}, but {error}."))
            except Unreadable as error:
                done.left.append(LeftOut(hand_ins[0].file.path, str(error)))
    if not (done.handed_in or done.superseded or done.left):
        done.left.append(LeftOut(source.name, "this file contains no notebook."))
    done.new = sorted({hand_in.student for hand_in in done.handed_in if not roster.knows(hand_in.student)})
    for notebook in {hand_in.notebook for hand_in in done.handed_in}:
        _remember(notebook, done.handed_in)
    return done


def _names_somebody(roster: Roster, part: str) -> bool:
    """Whether a part of a path names a student, as Moodle, Canvas or a person writes it."""
    match = MOODLE.fullmatch(part) or CANVAS.fullmatch(part)
    person = match["person"] if match else part
    return roster.names(person) or roster.has_groups([person])


def _owned(files: Iterable[File], layout: Layout, done: Collection) -> dict[tuple[str, str], list[HandIn]]:
    """The files of each person of the download, by what tells one person from another."""
    owned: dict[tuple[str, str], list[HandIn]] = {}
    for file in files:
        top = layout.top(file.path)
        if is_hidden(top) or MOODLES_FEEDBACK.fullmatch(top.rpartition("/")[2]) or top == "__MACOSX":
            continue
        try:
            owner = _owner(file, layout, done.matches)
        except Misplaced as error:
            if looks_like_a_notebook(file.path):
                done.matches.miss(file.path, str(error))
            if looks_like_a_notebook(file.path) or file.path.lower().endswith(".zip"):
                done.left.append(LeftOut(file.path, str(error)))
            else:
                done.others += 1
        else:
            owned.setdefault(owner.identity, []).append(HandIn(file, owner))
    return owned


def _checked(by_hand: Mapping[str, str]) -> Mapping[str, str]:
    """What a person has filled in. Raises CourseError for what cannot be a student's id."""
    for name, student in by_hand.items():
        if not may_be_a_folder(student):
            raise CourseError(
                f"{ascii(student)} cannot be a student's id; the table assigns it to {ascii(name)}."
            )
    return by_hand


def _owner(file: File, layout: Layout, matches: Matches) -> FileOwner:
    """Whose a file is, if need be by what a person has filled in for its path. Raises Misplaced."""
    try:
        return layout.owner(file.path)
    except Misplaced:
        student = matches.by_hand.get(file.path)
        if student is None:
            raise
        *folders, name = file.path.split("/")
        return FileOwner("plain", student, "", name, f"{student}/", folders[-1] if folders else "")


def _by_student(
    owned: Mapping[tuple[str, str], Sequence[HandIn]],
    layout: Layout,
    notebooks: Notebooks,
    wanted: str,
    roster: Roster,
    done: Collection,
) -> dict[tuple[str, Assignment], list[HandIn]]:
    """The files of each student that may be a notebook of an assignment."""
    people: dict[str, list[Sequence[HandIn]]] = {}
    for hand_ins in owned.values():
        first = hand_ins[0]
        top = layout.top(first.file.path)
        if student := done.matches.by_hand.get(top, done.matches.by_hand.get(first.file.path, "")):
            people.setdefault(student, []).append(hand_ins)
            continue
        try:
            student = roster.find(first.owner)
            certain = roster.knows(student) or first.owner.person.isascii() or roster.listed(first.owner)
            if first.file.guessed and not certain:
                raise Unknown(
                    "the encoding of this name is unknown: give --names, or unpack the archive and collect from the folder."
                )
        except Unknown as error:
            done.matches.miss(top, str(error))
            done.left.append(LeftOut(first.file.path, str(error)))
        else:
            people.setdefault(student, []).append(hand_ins)
    return {
        (student, notebook): of_it
        for student, several in people.items()
        for hand_ins in _of_one_person(student, several, layout, done)
        for notebook, of_it in _by_notebook(hand_ins, notebooks, wanted, done).items()
    }


def _of_one_person(
    student: str, several: Sequence[Sequence[HandIn]], layout: Layout, done: Collection
) -> Sequence[Sequence[HandIn]]:
    """What is the student's for certain: a name can be chosen, and nobody hands in for another."""
    if len(several) == 1:
        return several
    tops = [layout.top(hand_ins[0].file.path) for hand_ins in several]
    by_hand = [hand_ins for hand_ins, top in zip(several, tops, strict=True) if top in done.matches.by_hand]
    exact = by_hand or [one for one in several if one[0].owner.identity == ("plain", student)]
    shown = _shown(student)
    called = " and ".join(sorted(_shown(hand_ins[0].owner.identity[1]) for hand_ins in several))
    remedy = "give --names, so that students are identified by their numbers"
    if several[0][0].owner.system == "plain":
        remedy = f"rename the folder that is not {shown}'s"
    for hand_ins in several:
        if hand_ins not in exact:
            reason = f"{called} would both count as {shown}: {remedy}."
            done.matches.miss(layout.top(hand_ins[0].file.path), reason)
            done.left.append(LeftOut(hand_ins[0].file.path, reason))
    return exact


def _by_notebook(
    hand_ins: Sequence[HandIn], notebooks: Notebooks, wanted: str, done: Collection
) -> dict[Assignment, list[HandIn]]:
    """A student's files by the notebook that they are called after, or all but another's for the wanted one.

    Where several are wanted, a notebook has to be called after one of them; what is no notebook may hold any.
    """
    found: dict[Assignment, list[HandIn]] = {}
    others: list[LeftOut] = []
    meant = notebooks.of(wanted)
    for one in hand_ins:
        called = notebooks.called(one.owner)
        is_notebook = looks_like_a_notebook(one.file.path) and not is_hidden(one.file.path)
        if wanted and is_notebook and called.exactly and called.notebook not in meant:
            title = called.notebook.called if called.notebook else ""
            others.append(LeftOut(one.file.path, f"it is named after {title}, not {wanted}."))
        elif called.notebook in meant or (called.notebook and not wanted):
            found.setdefault(called.notebook, []).append(one)
        elif wanted and (len(meant) == 1 or not is_notebook):
            for notebook in meant:
                found.setdefault(notebook, []).append(one)
        elif wanted:
            files = " or ".join(notebook.file for notebook in meant)
            others.append(LeftOut(one.file.path, f"its name matches none of {wanted}: rename it to {files}."))
        elif is_notebook or one is hand_ins[-1] and not (found or others):
            reason = "it is not named after an assignment: give the assignment after the file."
            others.append(LeftOut(one.file.path, reason))
        else:
            done.others += 1
    done.left += others
    named = [one for of_it in found.values() for one in of_it if looks_like_a_notebook(one.file.path)]
    if wanted and others and not named:
        return {}  # what they handed in was named
    if len(meant) > 1 and named:  # what lies beside a notebook need not hold the others
        return {one: of_it for one, of_it in found.items() if any(map(_may_hold, of_it))}
    return found


def _may_hold(one: HandIn) -> bool:
    return looks_like_a_notebook(one.file.path) or one.file.path.lower().endswith(".zip")


def _beside(hand_ins: Sequence[HandIn], chosen: Chosen) -> int:
    """How many of a student's files are neither notebooks, nor hold one, nor times."""
    taken = [candidate.file.path for candidate in (chosen.candidate, *chosen.passed_over)]
    return sum(
        not (
            any(f"{path}/".startswith(f"{one.file.path}/") for path in taken)
            or one.owner.file == "timestamp.txt"
            or is_hidden(one.file.path)
        )
        for one in hand_ins
    )


def _released(assignment: Assignment) -> Released:
    try:
        return Released(nbformat.read(assignment.release, as_version=4))
    except (OSError, ValueError, nbformat.ValidationError):  # then nothing can be told from it
        return Released(None)


def _time(
    candidate: Candidate,
    assignment: str,
    layout: Layout,
    stamps: Mapping[str, File],
    roster: Roster,
    clock: tzinfo,
) -> tuple[datetime | None, str]:
    """When something was handed in, None where the download does not say; and what it says that cannot be read.

    In Moodle's and Canvas' archives a timestamp.txt is the student's own, and says nothing.
    """
    listed = roster.listed(candidate.owner)
    if listed and (listed.handed_in or listed.time_unread):
        return listed.handed_in, listed.time_unread
    if candidate.owner.system == "blackboard":
        return _attempt(candidate.owner, clock)
    folder = layout.top(candidate.file.path)
    places = (f"{folder}/{assignment}/timestamp.txt", f"{folder}/timestamp.txt")
    for stamp in (stamps[place] for place in places if place in stamps):
        if candidate.owner.system == "plain":
            try:
                return parse_timestamp(stamp.read(MOST_TIME))
            except Unreadable as error:
                return None, f"timestamp.txt: {error}"
    return None, ""


def _attempt(owner: FileOwner, clock: tzinfo) -> tuple[datetime | None, str]:
    """Blackboard writes the time of its own clock into the name of a file."""
    try:
        told = datetime.strptime(str(owner.order), "%Y%m%d%H%M%S").replace(tzinfo=clock)
        return told.astimezone(UTC).replace(tzinfo=None), ""
    except (ValueError, OverflowError):
        return None, f"the name of the file has {owner.order} instead of a time."


def _about(table: Table, sheet: Worksheet, persons: Mapping[str, str], zone: str) -> list[str]:
    """What an instructor has to know of how a table was read."""
    lines = []
    if sheet.times:
        lines.append(
            f"The times in {table.path.name} ({_shown(sheet.times)}) are taken to be in the time zone {zone}. "
            "Use --zone to give a different one, as in --zone Europe/Berlin."
        )
    if sheet.about_times:
        lines.append(f"{table.path.name}: {sheet.about_times}")
    if not persons.keys() & sheet.by_number.keys():
        lines.append(
            f"None of the participant numbers in the download occurs in {table.path.name}. Does this table belong to another assignment?"
        )
    return lines


def _due(gradebook: Gradebook, assignment: str) -> datetime | None:
    try:
        return gradebook.find_assignment(assignment).duedate
    except MissingEntry:
        return None


class _Put:
    """Puts a student's notebook into `submitted/`, or says why not."""

    def __init__(self, done: Collection, student: str, assignment: Assignment, due: datetime | None):
        self.done, self.student, self.assignment, self.due = done, student, assignment, due
        self.folder = done.folder / student / assignment.name
        self.notebook = self.folder / assignment.file
        self.assumed, self.digests = _Kept(assignment, "times"), _Kept(assignment, "put")

    def hand_in(self, chosen: Chosen, told: datetime | None, released: Released) -> None:
        """Write it, with its time. `done` gets what came of it. Raises Unreadable where it would be written elsewhere."""
        candidate = chosen.candidate
        exact, when = told is not None, told or self._assume(candidate)
        try:
            _require_own_folder(self.folder)
            written, _ = time_of(self.folder) if self.folder.exists() else (None, "")
            if self._stays(chosen, when, exact, written, released):
                return
            before = self.assumed.get(self.student)
            if written and not (exact or before) and self._there() == chosen.blob:
                when, exact = written, True  # the same file, whose time was told before
            self.assumed.put(self.student, "" if exact else when.isoformat())
            write_aside(self.notebook, chosen.blob)
            self.digests.put(self.student, _digest(chosen.blob))
            if exact or self.due:
                last = when if exact or not (written and self.assignment.part) else max(when, written)
                write_aside(self.folder / "timestamp.txt", f"{last.isoformat(sep=' ')} UTC")
            else:  # who has no time is not late, whatever due date is set afterwards
                (self.folder / "timestamp.txt").unlink(missing_ok=True)
        except UNWRITABLE as error:
            reason = f"{error.filename} cannot be written ({error.strerror})."
            self.done.left.append(LeftOut(candidate.file.path, reason))
            return
        except NotRead as error:
            self.done.left.append(LeftOut(self.student, str(error)))
            return
        late = candidate.owner.late or bool(self.due and when > self.due)
        over = tuple(map(_passed_over, chosen.passed_over))
        untouched = candidate.is_untouched
        self.done.handed_in.append(
            HandedIn(self.student, self.assignment, candidate.owner, exact, late, untouched, over)
        )

    def _assume(self, candidate: Candidate) -> datetime:
        """A time on the right side of the due date, for who has none."""
        at = candidate.file.modified or datetime.now(UTC).replace(tzinfo=None, microsecond=0)
        if self.due is None:  # a copy or a download has a time of its own, which may be after it
            return at
        return self.due + timedelta(seconds=1) if candidate.owner.late else min(at, self.due)

    def _stays(
        self, chosen: Chosen, when: datetime, exact: bool, written: datetime | None, released: Released
    ) -> bool:
        """Whether what is there stays. `done` gets the reason."""
        where = self.folder.relative_to(self.assignment.root)
        assumed = self._assumed_before()
        # timestamp.txt has the last time of several notebooks
        before = assumed or written if self.assignment.part else written or assumed
        better = exact and before == assumed
        there, candidate = self._there(), chosen.candidate
        if self.assignment.part and there is None:
            return False
        cells = _cells(there or b"")
        mended = there is not None and not cells and bool(candidate.cells)  # a notebook in place of none
        if before and before > when and not (better or mended):
            reason = f"the file in {where} was handed in later ({before} UTC)."
            self.done.superseded.append(LeftOut(self.student, reason))
            return True
        if there is None or there == chosen.blob:
            return False
        if (not candidate.work and released.work(cells)) or (candidate.cells is None and cells):
            old = "a notebook" if candidate.cells is None else "work"
            new = "only the untouched release" if candidate.cells else "a notebook without a cell"
            new = "no notebook" if candidate.cells is None else new
            self.done.superseded.append(
                LeftOut(self.student, f"{where} contains {old}, and the download contains {new}.")
            )
            return True
        ours = self.digests.get(self.student) == _digest(there)
        if ours or (exact and written and when > written):
            return False
        reason = (
            f"{where} already contains a notebook that `autograder collect` did not put there or that was changed afterwards, and "
            "the times do not show whether that notebook is older than the downloaded one. To use the downloaded notebook, move "
            "the other one away."
        )
        self.done.left.append(LeftOut(self.student, reason))
        return True

    def _assumed_before(self) -> datetime | None:
        try:
            return datetime.fromisoformat(self.assumed.get(self.student))
        except ValueError:
            return None

    def _there(self) -> bytes | None:
        try:
            return self.notebook.read_bytes()
        except FileNotFoundError:
            return None


def _cells(blob: bytes) -> list[Cell]:
    try:
        return parse_cells(blob).cells
    except Unreadable:
        return []


def _digest(blob: bytes) -> str:
    return hashlib.sha256(blob).hexdigest()


def _passed_over(candidate: Candidate) -> str:
    kind = " (the untouched release)" if candidate.is_untouched else ""
    return f"{candidate.file.path}{kind}"


class _Kept:
    """A note for each student of an assignment: `times` that no download told, and digests of what was `put` there."""

    def __init__(self, assignment: Assignment, kind: str):
        path = _path(assignment)
        self._path = path.with_name(f"{path.stem}.{kind}.json")

    def get(self, student: str) -> str:
        return str(read_object(self._path).get(student, ""))

    def put(self, student: str, text: str) -> None:
        notes = read_object(self._path)
        if notes.pop(student, None) or text:
            notes |= {student: text} if text else {}
            write_aside(self._path, json.dumps(notes, indent=1, ensure_ascii=False))


def _require_own_folder(folder: Path) -> None:
    """No link below `submitted/` may lead what is written elsewhere."""
    for place in (folder.parent, folder):
        try:
            kind = os.lstat(place).st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(kind):
            raise Unreadable(f"{place} is a link or a file: put a folder in its place.")


def _remember(assignment: Assignment, handed_in: Iterable[HandedIn]) -> None:
    """What feedback has to be called, so that the same system finds the students again."""
    names = {student: asdict(name) for student, name in read_owners(assignment).items()}
    names |= {
        hand_in.student: asdict(hand_in.name) for hand_in in handed_in if hand_in.notebook == assignment
    }
    write_aside(_path(assignment), json.dumps(names, indent=1, ensure_ascii=False))


def read_owners(assignment: Assignment) -> dict[str, FileOwner]:
    """How each student was called in the last download that held something of them."""
    try:
        names = json.loads(_path(assignment).read_text(encoding="utf-8"))
        return {student: FileOwner(**name) for student, name in names.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _path(assignment: Assignment) -> Path:
    folder = assignment.kept("collected")
    return folder.with_name(f"{folder.name}.json")


SHOWN = 20  # of a list of students
SHOWN_FILES = 5


def explain(done: Collection) -> list[str]:
    """What an instructor has to know of it, in sentences."""
    system, names = LAYOUTS[done.layout or "plain"]
    layout = f"a download from {system}" if system else "a folder for each student"
    lines = [f"Recognised as {layout}: {names}"]
    for title in sorted({hand_in.notebook.called for hand_in in done.handed_in}):
        of_it = [hand_in for hand_in in done.handed_in if hand_in.notebook.called == title]
        lines.append(f"{title}: {_count(len(of_it), 'submission')} put into {done.folder.name}/.")
        if late := [hand_in.student for hand_in in of_it if hand_in.late]:
            lines.append(f"  Late: {_listed(late)}.")
        if about := [hand_in for hand_in in of_it if not hand_in.exact]:
            lines.append(f"  {_of_times(about, done.folder)}")
        if untouched := [hand_in.student for hand_in in of_it if hand_in.untouched]:
            lines.append(f"  Handed in the untouched release: {_listed(untouched)}.")
    lines += done.notes
    several = [hand_in for hand_in in done.handed_in if hand_in.passed_over]
    for hand_in in several:
        count = _count(1 + len(hand_in.passed_over), "notebook")
        over = _listed(hand_in.passed_over, SHOWN_FILES)
        lines.append(
            f"{_shown(hand_in.student)} handed in {count}: {_shown(hand_in.name.file)} counts; ignored: {over}."
        )
    lines += [RULE] if several else []
    lines += [f"Kept unchanged: {student}" for student in done.superseded]
    if done.new:
        lines.append(
            f"These students are not in the gradebook yet and will be added when they are graded: {_listed(done.new)}."
        )
    if done.others:
        lines.append(f"Files other than notebooks, not collected: {done.others}.")
    if done.unread:
        lines.append("The times of these submissions cannot be read, so they count as on time:")
        lines += [f"  {student}" for student in done.unread]
    return lines


def _of_times(about: Sequence[HandedIn], folder: Path) -> str:
    missing = "The download does not say when these submissions were made, so they count as on time"
    systems = {hand_in.name.system for hand_in in about}
    if "canvas" in systems:
        missing = (
            "The download says who was late but not by how much, so they count as one second late"
            if any(hand_in.late for hand_in in about)
            else missing
        )
    if "moodle" in systems:
        return f"{missing}. To add the times, give Moodle's grading worksheet with --names WORKSHEET.csv."
    return f"{missing}. If you know a time, write it into {folder.name}/STUDENT/{about[0].notebook.name}/timestamp.txt."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _listed(students: Sequence[str], most: int = SHOWN) -> str:
    more = f" and {len(students) - most} more" if len(students) > most else ""
    return ", ".join(map(_shown, students[:most])) + more


def _shown(name: str) -> str:
    return name if name.isprintable() else ascii(name)
