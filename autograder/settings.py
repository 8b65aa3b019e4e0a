"""What a course says of itself in nbgrader_config.py: where things are, and what its notebooks need."""

import os
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.errors import CourseError
from autograder.jail.inside.limits import Limits

FILE = "nbgrader_config.py"
if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

LEND = {
    "alone": "only independent learners: their release contains the functions and the key",
    "key": "anyone who has the notebook's key, which the instructor publishes with `autograder lend`",
    "always": "everybody: every release contains the functions and their keys",
    "never": "nobody: no release contains the functions",
}
CHOICES = {"arrays": ("numpy", "torch"), "lend": tuple(LEND)}
"""The values that a setting may have."""


@dataclass(frozen=True)
class CourseSettings:
    """What stands under `c.Autograder` in nbgrader_config.py, and the names of `c.CourseDirectory` that matter here.

    arrays          what students' functions are given: "numpy" arrays or "torch" tensors;
    packages        packages of the course that its notebooks import, such as coursekit; the jail shows them;
    readable        folders of the course that its notebooks read, such as data;
    preload         modules that a server imports before it forks for any notebook; where it is empty, those of
                    numpy, pandas, matplotlib and their like that the release imports;
    preload_where   {words: module}: imported ahead, too, where a cell that is graded holds these words;
    answers         packages whose modules hold right answers: the jail shows those that the release itself imports;
    student_files   what `autograder student-release` packs beside the release, `packages` and `readable`;
    student_overlay a folder of files for students, in place of those of the same path or in addition to them;
    sentence_encoder "module:function" that makes a vector of each of some texts: `autograder written` groups answers by it;
    show_hidden_tests whether feedback shows hidden tests; formgrader always does;
    lend            who may borrow working functions: one of LEND;
    lend_from       {assignment: from when its key is published, an ISO time with its zone}.
    """

    course_id: str = ""
    source_directory: str = "source"
    release_directory: str = "release"
    submitted_directory: str = "submitted"
    autograded_directory: str = "autograded"
    feedback_directory: str = "feedback"
    arrays: str = "numpy"
    packages: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    preload_where: dict[str, str] = field(default_factory=dict)
    answers: tuple[str, ...] = ()
    student_files: tuple[str, ...] = ()
    student_overlay: str = ""
    sentence_encoder: str = ""
    show_hidden_tests: bool = False
    lend: str = "alone"
    lend_from: dict[str, str] = field(default_factory=dict)


SQLITE = "sqlite:///"
"""Before the path of a gradebook's file."""
STEPS = ("source", "release", "submitted", "autograded", "feedback")
OF_NBGRADER = ("course_id", *(f"{step}_directory" for step in STEPS))
"""The settings that nbgrader has itself, under `c.CourseDirectory`."""
USUAL_STRUCTURE = os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}")
"""nbgrader's own; no other is followed."""


reading_our_own_settings = ContextVar("reading_our_own_settings", default=False)
"""Whether nbgrader_config.py is read for what the course says of itself, and not for a program of nbgrader's."""


def load(root: Path) -> Config:
    """The settings in the course's nbgrader_config.py, read the way nbgrader's own programs read it."""
    return PyFileConfigLoader(FILE, path=str(root)).load_config()


def own_settings(root: Path) -> Config:
    """The same without our steps in nbgrader's programs, and without importing these."""
    before = reading_our_own_settings.set(True)
    try:
        return load(root)
    finally:
        reading_our_own_settings.reset(before)


def course_directory(root: Path) -> "CourseDirectory":
    """nbgrader's own view of the folders and the gradebook.

    Relative paths in the settings are relative to the course, in whichever folder of it a command is called. nbgrader's own
    programs take them relative to the current folder.
    """
    from nbgrader.coursedir import CourseDirectory  # start-up: nbgrader takes a second

    config = own_settings(root)
    chosen = config.CourseDirectory
    chosen.root = os.path.abspath(root / str(chosen.get("root", "")))
    if (url := str(chosen.get("db_url", ""))).startswith(SQLITE):
        chosen.db_url = f"{SQLITE}{os.path.abspath(root / url.removeprefix(SQLITE))}"
    return CourseDirectory(config=config)


def course_settings(root: Path) -> CourseSettings:
    """The settings of the course at `root`. Raises CourseError for one that does not exist or is of another kind."""
    changed = (root / FILE).stat().st_mtime_ns if (root / FILE).exists() else 0
    return _course_settings(root, changed)


@lru_cache
def _course_settings(root: Path, changed: int) -> CourseSettings:
    config = own_settings(root) if changed else Config()
    _require_usual_places(root, config)
    nbgrader: dict[str, Any] = {
        name: str(config.CourseDirectory[name]) for name in OF_NBGRADER if name in config.CourseDirectory
    }
    config_values = dict(config.get("Autograder", {}))
    defaults = {setting.name: getattr(CourseSettings(), setting.name) for setting in fields(CourseSettings)}
    for name, value in config_values.items():
        if name not in defaults or name in OF_NBGRADER:
            allowed = ", ".join(sorted(set(defaults) - set(OF_NBGRADER)))
            raise CourseError(
                f"{FILE} sets c.Autograder.{name}, which does not exist. The settings are: {allowed}."
            )
        kind = list if isinstance(defaults[name], tuple) else type(defaults[name])
        if not isinstance(value, kind):
            raise CourseError(f"{FILE} sets c.Autograder.{name} = {value!r}; it must be a {kind.__name__}.")
        if name in CHOICES and value not in CHOICES[name]:
            raise CourseError(
                f"{FILE} sets c.Autograder.{name} = {value!r}; it must be one of {CHOICES[name]}."
            )
    for name, when in config_values.get("lend_from", {}).items():
        _require_time(name, when)
    return CourseSettings(**nbgrader, **{name: _frozen(value) for name, value in config_values.items()})


def _require_usual_places(root: Path, config: Config) -> None:
    """nbgrader's commands and ours would look in different folders."""
    at = config.CourseDirectory.get("root", "")
    if os.path.isabs(at) and Path(at).resolve() != root.resolve():
        raise CourseError(
            f"{root / FILE} sets c.CourseDirectory.root = {at!r}; a course's settings belong in its own folder: "
            "str(Path(__file__).resolve().parent) names it wherever it is."
        )
    structure = config.CourseDirectory.get("directory_structure", USUAL_STRUCTURE)
    if structure != USUAL_STRUCTURE:
        raise CourseError(
            f"{FILE} sets c.CourseDirectory.directory_structure = {structure!r}; autograder follows {USUAL_STRUCTURE!r} only."
        )


def _require_time(name: str, when: Any) -> None:
    try:
        at = datetime.fromisoformat(when)
    except (TypeError, ValueError):
        at = None
    if at is None or at.tzinfo is None:
        raise CourseError(
            f"{FILE} sets c.Autograder.lend_from[{name!r}] = {when!r}; it must be a time with its zone, such as "
            '"2026-12-01T18:00+01:00".'
        )


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def limits(root: Path) -> Limits:
    """The jail's limits: the defaults, with what nbgrader_config.py says under `c.Jail`."""
    config_values = dict(own_settings(root).get("Jail", {}))
    allowed = {limit.name for limit in fields(Limits)}
    for name, value in config_values.items():
        if name not in allowed:
            raise CourseError(
                f"{FILE} sets c.Jail.{name}, which does not exist. The settings are: {', '.join(sorted(allowed))}."
            )
        if not isinstance(value, int | float) or value <= 0:
            raise CourseError(f"{FILE} sets c.Jail.{name} = {value!r}; it must be a number above zero.")
    return Limits(**config_values)
