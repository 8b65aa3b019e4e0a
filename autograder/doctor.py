"""Would grading work on this machine? A line for each thing that it needs, with what to do where something is missing."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from autograder.course import Assignment, assignments
from autograder.errors import CourseError, install
from autograder.pool.servers import Settings
from autograder.settings import course_directory, course_settings, limits, own_settings

NEEDED, BETTER = 200 << 20, 2 << 30  # bytes of a disk
OLDEST = (3, 11)
EXTENSIONS = ("nbgrader.server_extensions.formgrader", "nbgrader.server_extensions.validate_assignment")


class Level(StrEnum):
    """How it stands with one thing."""

    GOOD = "✓"
    NOTE = "!"  # something cannot be done here, and grading can
    BAD = "✗"  # grading would fail


@dataclass(frozen=True)
class Readiness:
    """One line of the report."""

    what: str
    state: Level
    finding: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.state} {self.what:<10} {self.finding}" + (
            f"\n  {'':<10} → {self.remedy}" if self.remedy else ""
        )


def examine(root: Path, isolation: str = "bwrap") -> Iterator[Readiness]:
    """Everything that a run needs, the quick things first."""
    yield _python()
    course = _course(root)
    yield course
    if course.state == Level.BAD:
        return
    for look in (_modules, _disk, _gradebook, _hand_ins, _exchange, _extensions, _limits):
        yield _safely(look.__name__.strip("_").replace("_", "-"), look, root)
    if course.state == Level.GOOD:  # what servers import stands in a release
        yield _safely("jail", lambda root: _jail(root, isolation), root)


def _safely(what: str, look: Callable[[Path], Readiness], root: Path) -> Readiness:
    """A fault of the course is a finding, too."""
    try:
        return look(root)
    except CourseError as error:
        return Readiness(what, Level.BAD, str(error))


def _python() -> Readiness:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST:
        return Readiness("python", Level.BAD, f"{version} is too old.", "install Python 3.11 or newer.")
    if missing := [
        name for name in ("nbgrader", "nbconvert", "sqlalchemy", "nh3", "jupytext") if not find_spec(name)
    ]:
        without = f"{version}, without {', '.join(missing)}."
        return Readiness("python", Level.BAD, without, f"`{install('grading')}`")
    return Readiness("python", Level.GOOD, f"{version} in {sys.prefix}")


def _course(root: Path) -> Readiness:
    try:
        settings = course_settings(root)
        found_assignments = assignments(root)
        limits(root)
        for assignment in found_assignments:
            _ = assignment.exercises
    except CourseError as error:
        return Readiness("course", Level.BAD, str(error))
    except Exception as error:  # whatever stands in the course's own files
        fault = f"{type(error).__name__}: {error}"
        return Readiness("course", Level.BAD, fault, "mend nbgrader_config.py or exercises.py.")
    if not found_assignments:
        where = f"{root / settings.source_directory} holds no assignment."
        return Readiness("course", Level.BAD, where, "a folder NN_topic with NN_topic.py makes one.")
    built = [assignment for assignment in found_assignments if _built(assignment)]
    if not built:
        return Readiness(
            "course", Level.NOTE, f"{len(found_assignments)} assignments, none built.", "`autograder build`"
        )
    unbuilt = [assignment.name for assignment in found_assignments if assignment not in built]
    if unbuilt:
        remedy = f"`autograder build {' '.join(unbuilt)}`"
        return Readiness(
            "course",
            Level.NOTE,
            f"{len(found_assignments)} assignments; not built: {', '.join(unbuilt)}.",
            remedy,
        )
    return Readiness(
        "course",
        Level.GOOD,
        f"{settings.course_id or root.name}: {len(found_assignments)} assignments, all built",
    )


def _built(assignment: Assignment) -> bool:
    return assignment.release.exists() and (not assignment.exercises or assignment.key.exists())


def _modules(root: Path) -> Readiness:
    """What notebooks import, and servers ahead of them."""
    settings = course_settings(root)
    sys.path.insert(0, str(root))
    try:
        missing = [name for name in (*settings.packages, *settings.preload) if not _importable(name)]
    finally:
        sys.path.remove(str(root))
    if missing:
        remedy = "install them into this Python, or take them out of nbgrader_config.py."
        return Readiness("modules", Level.BAD, f"not installed: {', '.join(missing)}.", remedy)
    served = Settings(
        limits(root), "none", course=str(root), packages=settings.packages, readable=settings.readable
    )
    if folders := [str(place) for place in served.places if not place.is_dir()]:
        remedy = "c.Autograder.readable names it."
        return Readiness("modules", Level.BAD, f"there is no folder {', '.join(folders)}.", remedy)
    return Readiness(
        "modules", Level.GOOD, ", ".join((*settings.packages, *settings.preload)) or "none are imported ahead"
    )


def _importable(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _disk(root: Path) -> Readiness:
    places = {root: "the course", Path(tempfile.gettempdir()): "temporary files"}
    free = {place: shutil.disk_usage(place).free for place in places}
    place = min(free, key=lambda place: free[place])
    free_space = f"{free[place] / (1 << 30):.1f} GB free for {places[place]} ({place})"
    if not os.access(root, os.W_OK):
        return Readiness("disk", Level.BAD, f"{root} may not be written.", "grade as a user who may.")
    if free[place] < NEEDED:
        return Readiness("disk", Level.BAD, f"{free_space}.", "make room.")
    return Readiness("disk", Level.NOTE if free[place] < BETTER else Level.GOOD, free_space)


def _gradebook(root: Path) -> Readiness:
    from autograder.gradebook.gradebook import SQLITE, open_gradebook

    url = course_directory(root).db_url
    path = Path(url.removeprefix(SQLITE))
    if url.startswith(SQLITE) and not path.exists():
        remedy = "`nbgrader db student import students.csv` before collecting, so that names are known."
        return Readiness("gradebook", Level.NOTE, f"none yet ({path}): the first run makes it.", remedy)
    with open_gradebook(root) as gradebook:
        students = len(gradebook.students)
    if url.startswith(SQLITE) and not os.access(path, os.W_OK):
        return Readiness("gradebook", Level.BAD, f"{path} may not be written.", "mend its permissions.")
    return Readiness(
        "gradebook",
        Level.GOOD,
        f"{students} students in {path if url.startswith(SQLITE) else 'the database'}",
    )


def _hand_ins(root: Path) -> Readiness:
    from autograder.untrusted.submission import left_out, students

    counts = {
        assignment.name: len(list(students(root / "submitted", assignment.name)))
        for assignment in assignments(root)
    }
    left = [hand_in for name in counts for hand_in in left_out(root / "submitted", name)]
    there = ", ".join(f"{count} of {name}" for name, count in counts.items() if count)
    if left:
        named = "; ".join(map(str, left[:3])) + (" …" if len(left) > 3 else "")
        return Readiness("hand-ins", Level.NOTE, f"{there or 'none'}; {len(left)} cannot be graded.", named)
    if not there:
        remedy = "`nbgrader collect`, or `autograder collect FILE.zip` for a download from Moodle or Canvas."
        return Readiness("hand-ins", Level.NOTE, "none in submitted/ yet.", remedy)
    return Readiness("hand-ins", Level.GOOD, there)


def _exchange(root: Path) -> Readiness:
    config = own_settings(root)
    folder = Path(config.get("Exchange", {}).get("root", "/usr/local/share/nbgrader/exchange"))
    without = "without one: `autograder collect FILE.zip` and `autograder feedback NAME --zip`."
    if "ExchangeFactory" in config:
        return Readiness("exchange", Level.GOOD, "another than nbgrader's folder is set; not tried")
    if not folder.is_dir():
        return Readiness("exchange", Level.NOTE, f"none: there is no {folder} (c.Exchange.root).", without)
    if not os.access(folder, os.W_OK | os.X_OK):
        return Readiness(
            "exchange", Level.NOTE, f"{folder} may not be written.", f"`chmod ugo+rwx {folder}`; or {without}"
        )
    if not course_settings(root).course_id:
        return Readiness(
            "exchange",
            Level.NOTE,
            "c.CourseDirectory.course_id is not set.",
            "set it: the exchange needs it.",
        )
    return Readiness("exchange", Level.GOOD, str(folder))


def _extensions(root: Path) -> Readiness:
    """Formgrader and Validate in JupyterLab: a page in the browser, and its part in the server."""
    if not find_spec("jupyterlab"):
        return Readiness(
            "browser", Level.NOTE, "there is no JupyterLab here: no formgrader.", "pip install jupyterlab"
        )
    from jupyter_core.paths import jupyter_config_path, jupyter_path

    pages = any((Path(place) / "@jupyter" / "nbgrader").is_dir() for place in jupyter_path("labextensions"))
    files = [
        file for place in jupyter_config_path() for file in Path(place).glob("jupyter_server_config.d/*.json")
    ]
    enabled: dict[str, bool] = {}
    for file in reversed(files):  # the first folder has the last word
        enabled |= _enabled(file)
    missing = [name.rpartition(".")[2] for name in EXTENSIONS if not enabled.get(name)]
    if not pages or missing:
        remedy = (
            "`jupyter server extension enable --sys-prefix --py nbgrader`"
            if pages
            else "install nbgrader again with pip."
        )
        return Readiness(
            "browser", Level.NOTE, f"JupyterLab lacks {', '.join(missing) or 'nbgrader’s pages'}.", remedy
        )
    return Readiness("browser", Level.GOOD, "formgrader and Validate are enabled in JupyterLab")


def _enabled(file: Path) -> dict[str, bool]:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8"))["ServerApp"]["jpserver_extensions"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _limits(root: Path) -> Readiness:
    """Whether the memory that notebooks may use is there, and what counts it."""
    import psutil

    from autograder.jail.outside import cgroup
    from autograder.pool.local import cores

    most, free, workers = limits(root).memory_bytes, psutil.virtual_memory().available, cores()
    needed = f"{workers} notebooks at once, each with up to {most >> 20} MB; {free >> 20} MB are free"
    if workers * most > free:
        enough = max(1, free // most)
        return Readiness(
            "memory", Level.NOTE, f"{needed}.", f"`--workers {enough}`, or a smaller c.Jail.memory_bytes."
        )
    if not cgroup.possible():
        return Readiness(
            "memory", Level.NOTE, f"{needed}; no control group counts what the kernel keeps for them.", LIMITS
        )
    return Readiness("memory", Level.GOOD, needed)


LIMITS = "see “What the jail protects from” in docs/instructors.md; grade with fewer workers than cores."


def _jail(root: Path, isolation: str) -> Readiness:
    """Not asked whether it could be built, but built, with everything that a course's notebooks import."""
    from autograder.checks.status import Ending
    from autograder.jail.outside.client import JailError, ServerDied, find_problem
    from autograder.jail.outside.jobs import HARMLESS
    from autograder.pool.pool import settings_for
    from autograder.pool.servers import ServerPool

    if isolation == "bwrap" and (problem := find_problem()):
        return Readiness(
            "jail", Level.BAD, problem, "or `--isolation none`, which runs students' code with your rights."
        )
    servers = ServerPool(settings_for(next(filter(_built, assignments(root))), isolation))
    try:
        outcome = servers.run(HARMLESS)
    except (JailError, ServerDied) as error:
        return Readiness("jail", Level.BAD, str(error))
    finally:
        servers.close()
    if outcome.status != Ending.FINISHED:
        return Readiness("jail", Level.BAD, f"a harmless notebook ended with {str(outcome.status)!r} in it.")
    if isolation == "none":
        return Readiness("jail", Level.NOTE, "not asked for: students' code would run with your rights.")
    return Readiness("jail", Level.GOOD, "a notebook ran in it")
