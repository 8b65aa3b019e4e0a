"""Whose a file of a download is, by its path.

Students choose the names of their files and folders, and may name them like somebody else's hand-in. Therefore the layout
of a download is decided once, from the names at its top, which no student chooses. Only the name at that depth says whose
a file is. A path that does not fit the layout is left out, with the reason.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

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
CONTAINERS = ("submitted", "submissions", "download", "downloads")
"""Folders around those of the students, when there is nothing else."""


@dataclass(frozen=True)
class FileOwner:
    """Whose a file is, as its path has it."""

    system: str  # "moodle", "canvas", or "plain": STUDENT/…/x.ipynb
    person: str  # the full name; in a plain folder what is called like the student
    number: str = ""  # by which the system knows the person
    file: str = ""  # as the student called it
    prefix: str = ""  # what the system asks of a file that goes back to the same person
    folder: str = ""  # in which the file lies
    late: bool = False
    order: int = 0  # larger for what was handed in later

    @property
    def identity(self) -> tuple[str, str]:
        """What tells two people of one download apart."""
        return self.system, self.number or self.person


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
    depth: int  # of the folder, or with Canvas the file, that names the student
    assignments: Collection[str]
    knows: Callable[[str], bool]  # whether the gradebook has somebody of this name
    flat: bool  # of a plain one: somebody's notebook lies right in the student's folder, or in that of an assignment

    def owner(self, path: str) -> FileOwner:
        """Whose a file is. Raises Misplaced."""
        parts = path.split("/")
        if len(parts) <= self.depth:
            raise Misplaced("its path names no student: put it into a folder STUDENT/.")
        parts = parts[self.depth :]
        of_system = _of_moodle(parts) or _of_canvas(parts)
        if self.system != "plain":
            if of_system is None or of_system.system != self.system:
                raise Misplaced(
                    f"it is not named like the others, which come from {self.system.capitalize()}: collect it separately."
                )
            if any(MOODLE.fullmatch(part) for part in parts[1:]):
                raise Misplaced(
                    "a folder or file in it is named like another student's hand-in: check whose it is."
                )
            return of_system
        if len(parts) == 1 and of_system is None:
            raise Misplaced("its path names no student: put it into a folder STUDENT/.")
        if any(_of_moodle(parts[place:]) or CANVAS.fullmatch(parts[-1]) for place in range(len(parts))):
            raise Misplaced(
                "it is named like a hand-in from Moodle or Canvas, and the others are not: check whose it is."
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
                "the gradebook does not know the students yet, import them first."
            )
        return FileOwner("plain", person, "", name, f"{person}/", folders[-1] if folders else person)


def decide(
    paths: Iterable[str], assignments: Collection[str], knows: Callable[[str], bool], called: str = ""
) -> Layout:
    """The layout of a download whose files have these paths; `called` is the name of the archive or folder."""
    visible = [path.split("/") for path in paths if not is_hidden(path)]
    depth = 0
    while _is_wrapped(visible, depth, assignments, knows, called):
        depth += 1
    systems = Counter(system for *_, system in _tops(visible, depth))
    system = max(systems, key=lambda one: (systems[one], one != "plain"), default="plain")
    notebooks = [
        parts[depth + 1 : -1]
        for parts in visible
        if len(parts) > depth + 1 and looks_like_a_notebook(parts[-1])
    ]
    flat = any(not _inner(folders, assignments) for folders in notebooks)
    return Layout(system, depth, assignments, knows, flat)


def _tops(visible: Iterable[Sequence[str]], depth: int) -> set[tuple[str, bool, str]]:
    """What stands at a depth: its name, whether it is a file, and the system that calls hand-ins so."""
    tops = {(parts[depth], len(parts) == depth + 1) for parts in visible if len(parts) > depth}
    return {(name, is_file, _system(name, is_file)) for name, is_file in tops}


def _system(name: str, is_file: bool) -> str:
    if _of_moodle([name] if is_file else [name, "x"]):
        return "moodle"
    return "canvas" if is_file and _of_canvas([name]) else "plain"


def _is_wrapped(
    visible: Sequence[Sequence[str]],
    depth: int,
    assignments: Collection[str],
    knows: Callable[[str], bool],
    called: str,
) -> bool:
    """Whether the folders at a depth are not those of students, but stand around them.

    A student could make folders of that kind, too. So that is believed only of one folder around everything that is called
    like the download or holds two people at least, or of several (groups) that hold nobody but people who are known.
    """
    tops = _tops(visible, depth)
    folders = {name for name, is_file, _ in tops if not is_file}
    if not folders or any(system != "plain" for *_, system in tops) or any(map(knows, folders)):
        return False
    inner = {
        (name, is_file, system)
        for name, is_file, system in _tops(visible, depth + 1)
        if system != "plain" or not (is_file or name in assignments)
    }
    people = [name for name, _, system in inner if system != "plain" or knows(name)]
    direct = any(len(parts) == depth + 2 and looks_like_a_notebook(parts[-1]) for parts in visible)
    if len(folders) == 1:
        (folder,) = folders
        around = folder.casefold() in CONTAINERS or (
            folder.casefold() == called.casefold() and len(inner) > 1
        )
        plain_file = direct and not any(is_file for _, is_file, _ in inner)
        return bool(inner) and not plain_file and (around or len(people) >= 2)
    return len(people) >= 2 and len(people) == len(inner) and not direct


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
    stem, again = name.file, 0
    while stem.lower().endswith(SUFFIXES):
        stem = stem.rpartition(".")[0]
    whole = stem
    while stem not in assignments and (match := AGAIN.fullmatch(stem) or COPY_OF.fullmatch(stem)):
        found = match.groupdict()
        again = again or int((found.get("copy") or found.get("attempt") or "0")[:9])
        stem = match["stem"]
    if stem in assignments:
        return Called(stem, True, again)
    if name.folder in assignments:
        return Called(name.folder, False, again)
    within = [assignment for assignment in assignments if _words(assignment) in _words(whole)]
    longest = max(within, key=len, default="")
    alone = all(_words(other) in _words(longest) for other in within)
    return Called(longest if alone else "", False, again)


def _words(name: str) -> str:
    words = re.sub(r"[\W_]+", "_", name.casefold()).strip("_")
    return f"_{words}_"
