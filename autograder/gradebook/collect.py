"""Put what Moodle, Canvas or a person has collected where grading looks for it: submitted/STUDENT/ASSIGNMENT/."""

import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.utils import parse_utc

from autograder.course import Assignment, assignments
from autograder.files import UNWRITABLE, read_object, write_aside
from autograder.gradebook.roster import Listed, Roster, Unknown
from autograder.settings import course_settings
from autograder.untrusted.downloads import Budget, File, FileOwner, opened, owner_of, which_assignment
from autograder.untrusted.submission import LeftOut, Unreadable, handed_in_at

MOST_TIME = 1000  # bytes of a timestamp.txt


@dataclass(frozen=True)
class Candidate:
    """A notebook of a student, one of perhaps several."""

    file: File
    name: FileOwner
    again: int  # the number that a browser gave it
    fits: bool  # it is called like the assignment

    @property
    def order(self) -> tuple:
        """Larger for what was handed in later. Moodle and Canvas write the time of the download, not of the hand-in."""
        when = self.file.modified if self.name.system == "plain" else None
        return self.fits, when or datetime.min, self.name.order, self.again, self.file.path


@dataclass(frozen=True)
class HandedIn:
    """What was put into `submitted/`."""

    student: str
    assignment: str
    name: FileOwner
    when: datetime
    exact: bool  # whether the time is known
    late: bool
    passed_over: tuple[str, ...] = ()  # earlier notebooks of the same student


@dataclass
class Collection:
    """What came of a download. `folder` is that of all hand-ins."""

    folder: Path = Path("submitted")
    handed_in: list[HandedIn] = field(default_factory=list)
    superseded: list[LeftOut] = field(default_factory=list)  # submitted/ holds a later one already
    new: list[str] = field(default_factory=list)  # students that the gradebook does not know yet
    left: list[LeftOut] = field(default_factory=list)
    others: int = 0  # files that are no notebooks


def collect(
    root: Path,
    source: Path,
    gradebook: Gradebook,
    wanted: str = "",
    table: Mapping[str, Listed] | None = None,
) -> Collection:
    """Fill `submitted/` from a download, for one assignment or for all that its notebooks are called after."""
    names = [assignment.name for assignment in assignments(root)]
    roster = Roster(list(gradebook.students), table or {})
    done, budget = Collection(root / course_settings(root).submitted_directory), Budget()
    with opened(source) as (files, left):
        done.left += [entry for entry in left if entry.student.endswith(".ipynb")]
        times = {file.path: file for file in files if file.path.split("/")[-1] == "timestamp.txt"}
        others = [file for file in files if not _is_notebook(file.path) and file.path not in times]
        done.others = len(left) - len(done.left) + len(others)
        for (student, assignment), candidates in _by_student(files, names, wanted, roster, done).items():
            due = _due(gradebook, assignment)
            try:
                _hand_in(root, student, assignment, candidates, _Clock(roster, times, due), budget, done)
            except Unreadable as error:
                done.left.append(LeftOut(candidates[0].file.path, str(error)))
    done.new = sorted({hand_in.student for hand_in in done.handed_in if not roster.knows(hand_in.student)})
    for assignment in {hand_in.assignment for hand_in in done.handed_in}:
        _remember(Assignment(root, assignment), done.handed_in)
    return done


def _is_notebook(path: str) -> bool:
    parts = path.split("/")
    hidden = any(part.startswith((".", "~", "__MACOSX")) for part in parts)
    return path.endswith(".ipynb") and not hidden


def _by_student(
    files: Iterable[File], names: Sequence[str], wanted: str, roster: Roster, done: Collection
) -> dict[tuple[str, str], list[Candidate]]:
    """The notebooks of each student and assignment, the one that counts first."""
    by_student: dict[tuple[str, str], list[Candidate]] = {}
    for file in files:
        if not _is_notebook(file.path):
            continue
        name = owner_of(file.path, names)
        if name is None:
            done.left.append(LeftOut(file.path, "its path names no student: put it into a folder STUDENT/."))
            continue
        called, again = which_assignment(name, names)
        if wanted and called not in ("", wanted):
            done.left.append(LeftOut(file.path, f"it is called like {called}, not {wanted}."))
        elif not (called or wanted):
            done.left.append(
                LeftOut(file.path, "it is called like no assignment: say which it is, behind the file.")
            )
        else:
            try:
                student = roster.find(name)
            except Unknown as error:
                done.left.append(LeftOut(file.path, str(error)))
            else:
                candidate = Candidate(file, name, again, bool(called))
                by_student.setdefault((student, wanted or called), []).append(candidate)
    for who, candidates in list(by_student.items()):
        numbers = sorted({candidate.name.number for candidate in candidates})
        if len(numbers) > 1:  # a name can be chosen: nobody hands in for another
            reason = f"{_shown(who[0])} would be both {' and '.join(numbers)}: give --names, so that the number decides."
            done.left += [LeftOut(candidate.file.path, reason) for candidate in candidates]
            del by_student[who]
    return {
        who: sorted(candidates, key=lambda candidate: candidate.order, reverse=True)
        for who, candidates in sorted(by_student.items())
    }


@dataclass(frozen=True)
class _Clock:
    """When something was handed in, as far as it is known."""

    roster: Roster
    times: Mapping[str, File]  # the files timestamp.txt
    due: datetime | None

    def read(self, candidate: Candidate) -> tuple[datetime, bool]:
        """A time, and whether it is that of the hand-in. Else it is only on the right side of the due date."""
        beside = f"{candidate.file.path.rpartition('/')[0]}/timestamp.txt".lstrip("/")
        if beside in self.times and (written := _parsed(self.times[beside])):
            return written, True
        if listed := self.roster.handed_in(candidate.name):
            return listed, True
        at = candidate.file.modified or datetime.now(UTC).replace(tzinfo=None, microsecond=0)
        if self.due is None:  # a copy or a download has a time of its own, which may be after it
            return at, False
        return (self.due + timedelta(seconds=1) if candidate.name.late else min(at, self.due)), False


def _parsed(file: File) -> datetime | None:
    try:
        text = file.read(MOST_TIME).decode("utf-8-sig").strip()
        return parse_utc(text) if text else None
    except (Unreadable, ValueError, OverflowError):
        return None


def _due(gradebook: Gradebook, assignment: str) -> datetime | None:
    try:
        return gradebook.find_assignment(assignment).duedate
    except MissingEntry:
        return None


def _hand_in(
    root: Path,
    student: str,
    assignment: str,
    candidates: Sequence[Candidate],
    clock: _Clock,
    budget: Budget,
    done: Collection,
) -> None:
    last, *earlier = candidates
    when, exact = clock.read(last)
    folder = done.folder / student / assignment
    assumed = _Assumed(Assignment(root, assignment))
    try:
        _require_own_folder(done.folder, folder)
        written = handed_in_at(folder) if folder.exists() else None
        before = written or assumed.get(student)
        better = exact and before == assumed.get(student)
        if before and before > when and not better:
            done.superseded.append(
                LeftOut(student, f"what {folder.relative_to(root)} holds was handed in later ({before} UTC).")
            )
            return
        blob = budget.read(last.file)
        if (
            written
            and not exact
            and not assumed.get(student)
            and _holds(folder / f"{assignment}.ipynb", blob)
        ):
            when, exact = written, True  # the same file, whose time was told before
        assumed.put(student, None if exact else when)
        write_aside(folder / f"{assignment}.ipynb", blob)
        if exact or clock.due:
            write_aside(folder / "timestamp.txt", f"{when.isoformat(sep=' ')} UTC")
        else:  # who has no time is not late, whatever due date is set afterwards
            (folder / "timestamp.txt").unlink(missing_ok=True)
    except UNWRITABLE as error:
        done.left.append(LeftOut(last.file.path, f"{error.filename} cannot be written ({error.strerror})."))
        return
    late = last.name.late or bool(clock.due and when > clock.due)
    passed_over = tuple(candidate.file.path for candidate in earlier)
    done.handed_in.append(HandedIn(student, assignment, last.name, when, exact, late, passed_over))


class _Assumed:
    """Of an assignment, the times that no download told, by student: one that is told later counts instead."""

    def __init__(self, assignment: Assignment):
        self._path = _path(assignment).with_suffix(".times.json")

    def get(self, student: str) -> datetime | None:
        try:
            return datetime.fromisoformat(self._read()[student])
        except (KeyError, TypeError, ValueError):
            return None

    def put(self, student: str, when: datetime | None) -> None:
        times = self._read()
        if times.pop(student, None) or when:
            times |= {student: when.isoformat()} if when else {}
            write_aside(self._path, json.dumps(times, indent=1, ensure_ascii=False))

    def _read(self) -> dict[str, str]:
        return read_object(self._path)


def _holds(path: Path, blob: bytes) -> bool:
    try:
        return path.read_bytes() == blob
    except OSError:
        return False


def _require_own_folder(submitted: Path, folder: Path) -> None:
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
        hand_in.student: asdict(hand_in.name)
        for hand_in in handed_in
        if hand_in.assignment == assignment.name
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
    return assignment.root / ".autograder" / "collected" / f"{assignment.name}.json"


SHOWN = 20  # of a list of students


def explain(done: Collection) -> list[str]:
    """What an instructor has to know of it, in sentences."""
    lines = []
    for assignment in sorted({hand_in.assignment for hand_in in done.handed_in}):
        of_it = [hand_in for hand_in in done.handed_in if hand_in.assignment == assignment]
        lines.append(f"{assignment}: {_count(len(of_it), 'hand-in')} put into {done.folder.name}/.")
        if late := [hand_in.student for hand_in in of_it if hand_in.late]:
            lines.append(f"  Late: {_listed(late)}.")
        if about := [hand_in for hand_in in of_it if not hand_in.exact]:
            lines.append(f"  {_of_times(about, done.folder)}")
    for hand_in in done.handed_in:
        if hand_in.passed_over:
            count = _count(1 + len(hand_in.passed_over), "notebook")
            lines.append(
                f"{_shown(hand_in.student)} handed in {count}: {_shown(hand_in.name.file)} counts, the last."
            )
    lines += [f"Left as it was: {student}" for student in done.superseded]
    if done.new:
        lines.append(f"Not in the gradebook yet, and added when they are graded: {_listed(done.new)}.")
    if done.others:
        lines.append(f"{_count(done.others, 'file')} beside the notebooks not taken.")
    return lines


def _of_times(about: Sequence[HandedIn], folder: Path) -> str:
    missing = "When these were handed in is not in the download: they count as in time"
    systems = {hand_in.name.system for hand_in in about}
    if "canvas" in systems:
        missing = (
            "The download says who was late and not when: one second after the due date"
            if any(hand_in.late for hand_in in about)
            else missing
        )
    if "moodle" in systems:
        return f"{missing}. With --names WORKSHEET.csv, Moodle's grading worksheet, they have their times."
    return f"{missing}. A timestamp.txt in {folder.name}/STUDENT/{about[0].assignment}/ has the time that counts."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _listed(students: Sequence[str]) -> str:
    more = f" and {len(students) - SHOWN} more" if len(students) > SHOWN else ""
    return ", ".join(map(_shown, students[:SHOWN])) + more


def _shown(name: str) -> str:
    return name if name.isprintable() else ascii(name)
