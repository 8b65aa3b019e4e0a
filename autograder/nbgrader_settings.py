"""nbgrader's configuration of a course, read the way nbgrader's own programs read it."""

import os
import sys
from dataclasses import fields
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.errors import CourseError
from autograder.jail.limits import Limits


def put_alembic_on_path() -> None:
    """nbgrader calls `alembic` by name; without it the first run leaves a half-made gradebook."""
    scripts = str(Path(sys.executable).parent)
    if scripts not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([scripts, os.environ.get("PATH", os.defpath)])


def load(root: Path) -> Config:
    """The settings in the course's nbgrader_config.py."""
    put_alembic_on_path()
    return PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()


def course_directory(root: Path) -> CourseDirectory:
    return CourseDirectory(config=load(root))


def limits(root: Path) -> Limits:
    """The jail's limits: the defaults, with what nbgrader_config.py says under `c.Jail`."""
    given = dict(load(root).get("Jail", {}))
    known = {field.name for field in fields(Limits)}
    for name, value in given.items():
        if name not in known:
            raise CourseError(
                f"nbgrader_config.py sets c.Jail.{name}. There are: {', '.join(sorted(known))}."
            )
        if not isinstance(value, int | float) or value <= 0:
            raise CourseError(
                f"nbgrader_config.py sets c.Jail.{name} = {value!r}; it must be a number above zero."
            )
    return Limits(**given)
