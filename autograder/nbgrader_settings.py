"""nbgrader's configuration of a course, read the way nbgrader's own programs read it."""

from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader


def load(root: Path) -> Config:
    """The settings in the course's nbgrader_config.py."""
    return PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()


def course_directory(root: Path) -> CourseDirectory:
    return CourseDirectory(config=load(root))
