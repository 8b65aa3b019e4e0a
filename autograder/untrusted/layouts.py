"""Whose a file of a download is, by its path.

Students choose the names of their files and folders, and may name them like somebody else's hand-in. Therefore the layout
of a download is decided once, from the names at its top, which no student chooses. Only the name at that depth says whose
a file is. A folder around those of the students is told by its own name, or by the instructor, and never by what it holds. A
path that does not fit the layout is left out, with the reason.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from autograder.course import composed

# What a path says. Moodle: "Ada Lovelace_12345_assignsubmission_file/x.ipynb", before 4.1 with one more "_" behind "file",
# or without folders; in the name underscores are spaces (mod/assign/classes/downloader.php), and a group's name and a hyphen
# come first where groups hand in. Canvas: "lovelaceada_LATE_12_345_x.ipynb" with the numbers of the user and of the file
# (lib/content_zipper.rb).
MOODLE = re.compile(
    r"(?P<person>[^_]+)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*)|\.(?P<suffix>\w+))?"
)
MOODLES_FEEDBACK = re.compile(r"[^_]+_\d+_assignfeedback_.*")
CANVAS = re.compile(
    r"(?P<prefix>(?P<person>(?:(?!_\d+_).)*?)(?P<late>_LATE)?_(?P<number>\d+)_(?P<order>\d+)_)(?P<file>[^/]+)"
)
CANVAS_TEXT = re.compile(
    r"(?P<prefix>(?P<person>(?:(?!_\d+_).)*?)(?P<late>_LATE)?_(?P<number>\d+)_)(?P<file>(?:text|link)\.html)"
)
"""What Canvas calls a text or an address that was entered in place of a file."""
BLACKBOARD = re.compile(
    r"(?P<prefix>(?P<login>(?:(?!_attempt_).)+_[^_]+)_attempt_(?P<when>\d{4}(?:-\d{2}){5}))(?:_(?P<file>[^/]+)|\.txt)"
)
"""The assignment's title, the user name and the time of the attempt; without a file, what Blackboard writes about the attempt."""
ILIAS = re.compile(r"(?P<names>[^\d_]+(?:_[^\d_]+)+)_(?P<login>[^_]+)_(?P<number>\d{3,})")
"""The last and the first name, the login and the number of the user (ilExSubmission, "Lastname_Firstname_Login_ID")."""
HIDDEN_IN_CANVAS = re.compile(r"(?:LATE_)?anon_\w+?_\d+_[^/]+")
AGAIN = re.compile(
    r"(?P<stem>.+?)(?:[ _-]?\((?P<copy>\d+)\)|-(?P<attempt>\d+)|(?:[ _-]+| - )(?:copy|kopie|copie|copia|cópia)[ _]?\d*)",
    re.IGNORECASE,
)
COPY_OF = re.compile(
    r"(?:copy of|kopie von|copie de|copia de|copia di|cópia de|kopie van)[ _](?P<stem>.+)", re.IGNORECASE
)
SUFFIXES = (".ipynb", ".json", ".txt", ".zip", ".download")
"""What may stand behind the name of a notebook: editors, browsers and mail programs add some."""
CONTAINERS = ("submitted", "submissions", "abgaben", "download", "downloads")
"""Folders around those of the students, in every course."""


LAYOUTS = {
    "moodle": ("Moodle", "NAME_NUMBER_assignsubmission_…"),
    "canvas": ("Canvas", "NAME_USER_FILE_…"),
    "blackboard": ("Blackboard", "TITLE_USERNAME_attempt_TIME_…"),
    "ilias": ("ILIAS", "LASTNAME_FIRSTNAME_LOGIN_NUMBER/…"),
    "plain": ("", "STUDENT/…"),
}
"""The layouts of downloads that are recognised: the system that makes them, and how it names what students have handed in."""


@dataclass(frozen=True)
class FileOwner:
    """Whose a file is, as its path has it."""

    system: str  # one of LAYOUTS
    person: str  # the full name; in a plain folder what is called like the student
    number: str = ""  # by which the system knows the person
    file: str = ""  # as the student called it
    prefix: str = ""  # what the system asks of a file that goes back to the same person
    folder: str = ""  # in which the file lies
    late: bool = False
    order: int = 0  # larger for what was handed in later; with Blackboard the digits of the time
    login: str = ""  # what the system calls the user's account; with Blackboard its title and _ come first

    @property
    def identity(self) -> tuple[str, str]:
        """What tells two people of one download apart."""
        return self.system, self.number or self.login or self.person


class Misplaced(LookupError):
    """A path does not say whose a file is; the message says why, and what to do."""


def is_hidden(path: str) -> bool:
    """Whether a file is of an operating system, an editor or Jupyter, and not of the student."""
    *folders, name = path.split("/")
    own = any(part.startswith(".") or part == "__MACOSX" for part in folders)
    return own or name.startswith((".", "~")) or name.lower() in ("thumbs.db", "desktop.ini")


def looks_like_a_notebook(path: str) -> bool:
    """Whether a file's name says that it is a notebook, whatever a browser has put behind it."""
    return ".ipynb" in path.rpartition("/")[2].lower()


@dataclass(frozen=True)
class Layout:
    """Where in a download's paths a student is named."""

    system: str
    around: Collection[tuple[str, ...]]  # the paths of the folders that stand around those of the students
    assignments: Collection[str]
    containers: Collection[str]  # what only such folders are called, folded
    knows: Callable[[str], bool]  # whether the gradebook has somebody of this name
    flat: bool  # of a plain one: somebody's notebook lies right in the student's folder, or in that of an assignment

    def top(self, path: str) -> str:
        """The path of the folder, or with Canvas the file, that names the student."""
        parts = path.split("/")
        return "/".join(parts[: _depth(parts, self.around) + 1])

    def owner(self, path: str) -> FileOwner:
        """Whose a file is. Raises Misplaced."""
        parts = path.split("/")
        parts = parts[_depth(parts, self.around) :]
        of_system = _of_moodle(parts) or _of_canvas(parts) or _of_blackboard(parts)
        if self.system != "plain":
            of_system = OF_SYSTEM[self.system](parts)
            if of_system is None:
                raise Misplaced(
                    f"it is not named like the others, which come from {LAYOUTS[self.system][0]}: collect it separately."
                )
            if any(MOODLE.fullmatch(part) for part in parts[1:]):
                raise Misplaced(
                    "a folder or file in it is named like another student's submission: check whose it is."
                )
            return of_system
        is_container = _folded(parts[0]) in self.containers and not self.knows(parts[0])
        if of_system is None and (len(parts) == 1 or (len(parts) == 2 and is_container)):
            raise Misplaced("its path names no student: put it into a folder STUDENT/.")
        if any(
            _of_moodle(parts[place:]) or CANVAS.fullmatch(parts[-1]) or BLACKBOARD.fullmatch(parts[-1])
            for place in range(len(parts))
        ):
            raise Misplaced(
                "its name looks like a submission from Moodle, Canvas or Blackboard, but the other names do not: check whose it is."
                + self._unless_around(parts)
            )
        return self._plain(parts)

    def _plain(self, parts: Sequence[str]) -> FileOwner:
        person, *folders, name = parts
        inner = _inner(folders, self.assignments)
        may_count = looks_like_a_notebook(name) or name.lower().endswith(".zip")
        if inner and not (self.knows(person) and (not self.flat or not may_count)):
            whose = f"{person}'s or {inner[0]}'s" if self.knows(inner[0]) else f"{person}'s"
            raise Misplaced(
                f"it is in a deeper folder than the others, and may be {whose}. If it is {person}'s, move it to {person}/; if "
                f"the gradebook does not know the students yet, import them first.{self._unless_around(parts)}"
            )
        return FileOwner("plain", person, "", name, f"{person}/", folders[-1] if folders else person)

    def _unless_around(self, parts: Sequence[str]) -> str:
        """What to do where the outermost folder is no student's, but stands around theirs."""
        if len(parts) < 2 or self.knows(parts[0]) or not parts[0].isprintable():
            return ""
        return (
            f" If {parts[0]}/ belongs to no student but contains the folders of several, add "
            f"--inside {shlex.quote(parts[0])}."
        )


def decide(
    paths: Iterable[str],
    assignments: Collection[str],
    knows: Callable[[str], bool],
    called: str = "",
    containers: Iterable[str] = (),
    inside: Iterable[str] = (),
) -> Layout:
    """The layout of a download whose files have these paths.

    Folders around those of the students are called like the archive (or folder) itself, which is `called`, like an
    assignment, like one of CONTAINERS or of the course's own `containers`, or are named by the instructor: `inside`.
    """
    visible = [path.split("/") for path in paths if not is_hidden(path)]
    known = {_folded(name) for name in (*CONTAINERS, *assignments, *containers)} - {""}
    named = {_folded(name) for name in inside}
    around: set[tuple[str, ...]] = set()
    again = AGAIN.fullmatch(called)  # "class (1)", which a browser has saved once more
    archive = {_folded(called), _folded(again["stem"] if again else called)}
    while more := _around(visible, around, known, named, knows, archive):
        around |= more
    tops = _tops(parts[_depth(parts, around) :] for parts in visible)
    systems = Counter(system for *_, system in tops)
    system = max(systems, key=lambda one: (systems[one], one != "plain"), default="plain")
    folders = [name for name, is_file, _ in tops if not is_file]
    if system == "plain" and folders and all(ILIAS.fullmatch(name) and not knows(name) for name in folders):
        system = "ilias"  # only as a whole: one folder may be called so anywhere
    notebooks = [
        parts[_depth(parts, around) + 1 : -1]
        for parts in visible
        if len(parts) > _depth(parts, around) + 1 and looks_like_a_notebook(parts[-1])
    ]
    flat = any(not _inner(folders, assignments) for folders in notebooks)
    return Layout(system, around, assignments, known, knows, flat)


def _folded(name: str) -> str:
    """A name without capitals, and whichever way its accents are written."""
    return composed(name).casefold()


def _depth(parts: Sequence[str], around: Collection[tuple[str, ...]]) -> int:
    """In how many folders around those of the students a path lies."""
    depth = 0
    while len(parts) > depth + 1 and tuple(parts[: depth + 1]) in around:
        depth += 1
    return depth


def _tops(below: Iterable[Sequence[str]]) -> set[tuple[str, bool, str]]:
    """What these paths begin with: its name, whether it is a file, and the system that calls hand-ins so."""
    tops = {(parts[0], len(parts) == 1) for parts in below}
    return {(name, is_file, _system(name, is_file)) for name, is_file in tops}


def _system(name: str, is_file: bool) -> str:
    """The first that fits: a student of Canvas may call a file as Blackboard does, behind what Canvas writes."""
    if _of_moodle([name] if is_file else [name, "x"]):
        return "moodle"
    if is_file and _of_canvas([name]):
        return "canvas"
    return "blackboard" if is_file and _of_blackboard([name]) else "plain"


def _around(
    visible: Iterable[Sequence[str]],
    around: Collection[tuple[str, ...]],
    known: Collection[str],
    named: Collection[str],
    knows: Callable[[str], bool],
    archive: Collection[str],
) -> set[tuple[str, ...]]:
    """The next folders that stand around those of the students.

    A student could make folders that look like these, whatever they hold. So a folder is believed to be one only by its
    name: where the instructor has named it, or where there is no other folder beside those of known names.
    """
    below: dict[tuple[str, ...], list[Sequence[str]]] = {}
    files: list[Sequence[str]] = []
    for parts in visible:
        depth = _depth(parts, around)
        if len(parts) == depth + 1:
            files.append(parts[depth:])
        else:
            below.setdefault(tuple(parts[: depth + 1]), []).append(parts[depth + 1 :])
    if by_hand := {path for path in below if _folded(path[-1]) in named and path[-1] not in path[:-1]}:
        return by_hand
    tops = _tops([*files, *([path[-1], ""] for path in below)])
    if any(system != "plain" for *_, system in tops):
        return set()
    if all(
        not knows(path[-1]) and _is_container(path, inner, known, archive) for path, inner in below.items()
    ):
        return set(below)
    return set()


def _is_container(
    path: Sequence[str], below: Collection[Sequence[str]], known: Collection[str], archive: Collection[str]
) -> bool:
    """Whether a folder is called like one around students' folders, and holds what can be theirs."""
    tops, name = _tops(below), _folded(path[-1])
    hand_ins = {top for top, _, system in tops if system != "plain"}
    inner = {_folded(top) for top, is_file, _ in tops if not is_file} | hand_ins
    if name in known:
        return bool(inner)
    if len(path) > 1 or name not in archive:
        return False
    second = {parts[1] for parts in below if len(parts) > 2}
    if inner <= {*CONTAINERS} and second and all(map(ILIAS.fullmatch, second)):
        return True  # EXERCISE/Abgaben/…
    direct = any(len(parts) == 1 and looks_like_a_notebook(parts[0]) for parts in below)
    return len(inner - {*known}) > 1 and (bool(hand_ins) or not direct)


def _of_moodle(parts: Sequence[str]) -> FileOwner | None:
    """Of what stands at the top of a path: a folder that names a person, or a file."""
    match = MOODLE.fullmatch(parts[0])
    if match is None or (len(parts) == 1 and not (match["file"] or match["suffix"])):
        return None
    if len(parts) > 1:
        prefix, file = f"{parts[0]}/", parts[-1]
    else:  # without folders
        place = match.start("file" if match["file"] else "kind")
        prefix, file = parts[0][:place], parts[0][place:]
    return FileOwner("moodle", match["person"], match["number"], file, prefix)


def _of_canvas(parts: Sequence[str]) -> FileOwner | None:
    top = parts[0]
    if HIDDEN_IN_CANVAS.fullmatch(top):
        return FileOwner("canvas", "", "", parts[-1])
    if match := CANVAS.fullmatch(top) or CANVAS_TEXT.fullmatch(top):
        file = match["file"] if len(parts) == 1 else parts[-1]
        late, order = bool(match["late"]), int(match.groupdict().get("order", "0")[:18])
        return FileOwner(
            "canvas", match["person"], match["number"], file, match["prefix"], late=late, order=order
        )
    return None


def _of_blackboard(parts: Sequence[str]) -> FileOwner | None:
    match = BLACKBOARD.fullmatch(parts[0])
    if match is None:
        return None
    return FileOwner(
        "blackboard",
        match["login"].rpartition("_")[2],
        file=(match["file"] or "about.txt") if len(parts) == 1 else parts[-1],
        prefix=f"{match['prefix']}_",
        order=int(match["when"].replace("-", "")),
        login=match["login"],
    )


def _of_ilias(parts: Sequence[str]) -> FileOwner | None:
    match = ILIAS.fullmatch(parts[0])
    if match is None or len(parts) == 1:
        return None
    name = match["names"].replace("_", " ")
    return FileOwner("ilias", name, match["number"], parts[-1], f"{parts[0]}/", login=match["login"])


OF_SYSTEM: Mapping[str, Callable[[Sequence[str]], FileOwner | None]] = {
    "moodle": _of_moodle,
    "canvas": _of_canvas,
    "blackboard": _of_blackboard,
    "ilias": _of_ilias,
}
"""Whose a file is, by its path below the folders around those of the students."""


def _inner(folders: Sequence[str], assignments: Collection[str]) -> Sequence[str]:
    """The folders between a student's and a file, without that of an assignment."""
    return folders[1:] if folders and folders[0] in assignments else folders


@dataclass(frozen=True)
class Called:
    """The assignment that a file is called after, or ""."""

    assignment: str = ""
    exactly: bool = False  # and not only with more words around it
    again: int = 0  # the number that a second one gets from a browser


def which_assignment(name: FileOwner, assignments: Collection[str]) -> Called:
    """What a file is called after: "Copy of 02_attention (2).ipynb.txt" is called like 02_attention."""
    as_given = {composed(assignment): assignment for assignment in assignments}
    stem, again = composed(name.file), 0
    while stem.lower().endswith(SUFFIXES):
        stem = stem.rpartition(".")[0]
    whole = stem
    while stem not in as_given and (match := AGAIN.fullmatch(stem) or COPY_OF.fullmatch(stem)):
        found = match.groupdict()
        again = again or int((found.get("copy") or found.get("attempt") or "0")[:9])
        stem = match["stem"]
    if stem in as_given:
        return Called(as_given[stem], True, again)
    if name.folder in assignments:
        return Called(name.folder, False, again)
    within = [assignment for assignment in assignments if _words(assignment) in _words(whole)]
    longest = max(within, key=len, default="")
    alone = all(_words(other) in _words(longest) for other in within)
    return Called(longest if alone else "", False, again)


def _words(name: str) -> str:
    words = re.sub(r"[\W_]+", "_", _folded(name)).strip("_")
    return f"_{words}_"
