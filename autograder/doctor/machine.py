"""The machine: its Python and packages, its disk and memory, JupyterLab, and the jail."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from autograder.checks.status import Ending
from autograder.course import assignments
from autograder.doctor.course import is_built
from autograder.doctor.readiness import Level, Readiness
from autograder.errors import CourseError, JailError, ServerDied, can_compare_texts, install_command
from autograder.jail.outside import cgroup
from autograder.jail.outside.client import find_problem
from autograder.jail.outside.jobs import HARMLESS
from autograder.kernels import how_to_install, installed, kernel_for, language
from autograder.pool.local import cores
from autograder.pool.pool import settings_for
from autograder.pool.servers import ServerPool, Settings
from autograder.settings import course_settings, limits
from autograder.source import read_source

NEEDED, BETTER = 200 << 20, 2 << 30  # bytes of a disk
OLDEST = (3, 11)
EXTENSIONS = ("nbgrader.server_extensions.formgrader", "nbgrader.server_extensions.validate_assignment")
LIMITS = "see “What the jail protects against” in docs/instructors.md; grade with fewer workers than cores."


def python() -> Readiness:
    """Whether it is new enough, and has the packages of the extra `grading`."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST:
        return Readiness(Level.BAD, f"{version} is too old.", "install a version from 3.11 to 3.13.")
    if missing := [
        name for name in ("nbgrader", "nbconvert", "sqlalchemy", "nh3", "jupytext") if not find_spec(name)
    ]:
        without = f"{version}, without {', '.join(missing)}."
        return Readiness(Level.BAD, without, f"`{install_command('grading')}`")
    return Readiness(Level.GOOD, f"{version} in {sys.prefix}")


def similarity(root: Path) -> Readiness:
    """Whether answers that are nearly the same can be found: for the report and for grading by hand."""
    if can_compare_texts():
        return Readiness(Level.GOOD, "scipy and scikit-learn compare answers")
    said = "scipy and scikit-learn are not installed: the report does not compare answers, and `written` groups only identical ones."
    return Readiness(Level.NOTE, said, f"`{install_command('similarity')}`")


def modules(root: Path) -> Readiness:
    """What notebooks import, and servers ahead of them."""
    settings = course_settings(root)
    sys.path.insert(0, str(root))
    try:
        missing = [name for name in (*settings.packages, *settings.preload) if not _importable(name)]
    finally:
        sys.path.remove(str(root))
    if missing:
        remedy = "install them into this Python, or remove them from nbgrader_config.py."
        return Readiness(Level.BAD, f"not installed: {', '.join(missing)}.", remedy)
    served = Settings(
        limits(root), "none", course=str(root), packages=settings.packages, readable=settings.readable
    )
    if folders := [str(place) for place in served.places if not place.is_dir()]:
        remedy = "create it, or correct c.Autograder.readable in nbgrader_config.py."
        return Readiness(Level.BAD, f"there is no folder {', '.join(folders)}.", remedy)
    return Readiness(
        Level.GOOD, ", ".join((*settings.packages, *settings.preload)) or "none are imported in advance"
    )


def _importable(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def disk(root: Path) -> Readiness:
    """Whether there is room in the course and for temporary files: 200 MB are needed, less than 2 GB is noted."""
    places = {root: "the course", Path(tempfile.gettempdir()): "temporary files"}
    free = {place: shutil.disk_usage(place).free for place in places}
    place = min(free, key=lambda place: free[place])
    free_space = f"{free[place] / (1 << 30):.1f} GB free for {places[place]} ({place})"
    if not os.access(root, os.W_OK):
        return Readiness(Level.BAD, f"{root} is not writable.", "grade as a user who may write there.")
    if free[place] < NEEDED:
        return Readiness(Level.BAD, f"{free_space}.", "make room.")
    return Readiness(Level.NOTE if free[place] < BETTER else Level.GOOD, free_space)


def browser(root: Path) -> Readiness:
    """Formgrader and Validate in JupyterLab: a page in the browser, and its part in the server."""
    if not find_spec("jupyterlab"):
        return Readiness(
            Level.NOTE, "JupyterLab is not installed, so there is no formgrader.", "pip install jupyterlab"
        )
    from jupyter_core.paths import (  # optional: `python` names what is missing
        jupyter_config_path,
        jupyter_path,
    )
    from jupyter_server.extension.config import ExtensionConfigManager

    pages = any((Path(place) / "@jupyter" / "nbgrader").is_dir() for place in jupyter_path("labextensions"))
    try:
        enabled = ExtensionConfigManager(read_config_path=jupyter_config_path()).get_jpserver_extensions()
        missing = [name.rpartition(".")[2] for name in EXTENSIONS if not enabled.get(name)]
    except (OSError, ValueError, TypeError, AttributeError) as error:
        remedy = "correct the JSON files in the folders that `jupyter --paths` lists under config."
        return Readiness(Level.NOTE, f"JupyterLab cannot read its settings ({error}).", remedy)
    if not pages or missing:
        remedy = (
            "`jupyter server extension enable --sys-prefix --py nbgrader`"
            if pages
            else "install nbgrader again with pip."
        )
        return Readiness(Level.NOTE, f"JupyterLab lacks {', '.join(missing) or 'nbgrader’s pages'}.", remedy)
    return Readiness(Level.GOOD, "formgrader and Validate are enabled in JupyterLab")


def memory(root: Path) -> Readiness:
    """Whether the memory that notebooks may use is there, and what counts it."""
    import psutil  # optional: as above

    most, free, workers = limits(root).memory_bytes, psutil.virtual_memory().available, cores()
    needed = f"{workers} notebooks at once, each with up to {most >> 20} MB; {free >> 20} MB are free"
    if workers * most > free:
        enough = max(1, free // most)
        return Readiness(Level.NOTE, f"{needed}.", f"`--workers {enough}`, or a smaller c.Jail.memory_bytes.")
    if not cgroup.possible():
        return Readiness(
            Level.NOTE,
            f"{needed}; without control groups, the memory that the kernel uses for the notebooks is not counted.",
            LIMITS,
        )
    return Readiness(Level.GOOD, needed)


def jail(root: Path, isolation: str) -> Readiness:
    """Not asked whether it could be built, but built, with everything that a course's notebooks import."""
    if isolation == "bwrap" and (problem := find_problem()):
        return Readiness(
            Level.BAD, problem, "or `--isolation none`, which runs students' code with your own permissions."
        )
    kernels: dict[str, Settings] = {}  # one assignment's settings for each
    for assignment in filter(is_built, assignments(root)):
        with suppress(CourseError):  # `kernels` says that one is missing
            settings = settings_for(assignment, isolation)
            kernels.setdefault(settings.kernel, settings)
    kernels = kernels or {"": Settings(limits(root), isolation)}
    for kernel, settings in kernels.items():
        if problem := _why_not(settings):
            return Readiness(Level.BAD, f"{kernel}: {problem}" if kernel else problem)
    if isolation == "none":
        return Readiness(Level.NOTE, "not used: students' code would run with your own permissions.")
    return Readiness(Level.GOOD, f"a notebook ran in it{_in_each(kernels)}")


def _why_not(settings: Settings) -> str:
    """Why a harmless notebook cannot be run so; "" where it can."""
    servers = ServerPool(settings)
    try:
        outcome = servers.run(HARMLESS)
    except (CourseError, JailError, ServerDied) as error:
        return str(error)
    finally:
        servers.close()
    if outcome.status != Ending.FINISHED:
        return f"a harmless test notebook stopped with {str(outcome.status)!r} in the jail."
    return ""


def _in_each(kernels: Iterable[str]) -> str:
    """ ", in Python and in ir", where there is another language than Python."""
    names = [kernel or "Python" for kernel in kernels]
    return f", in {' and in '.join(names)}" if any(kernels) else ""


def kernels(root: Path) -> Readiness:
    """Which kernels are installed, and whether those of notebooks in other languages than Python are among them."""
    there = installed()
    named = ", ".join(f"{name} ({spoken})" for name, spoken in there.items()) or "none"
    missing: dict[str, list[str]] = {}
    for assignment in assignments(root):
        if assignment.release.exists():
            release = read_source(assignment.release)
            try:
                kernel_for(release, assignment.release)
            except CourseError:
                missing.setdefault(language(release), []).append(assignment.called)
    if missing:
        which = "; ".join(f"none for {spoken} ({', '.join(names)})" for spoken, names in missing.items())
        remedy = "; ".join(f"{spoken}: {how_to_install(spoken)}" for spoken in missing)
        return Readiness(Level.BAD, f"{named}; {which}.", remedy)
    return Readiness(Level.GOOD, named)
