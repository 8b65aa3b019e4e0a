"""nbgrader's settings for the example course, and the autograder's."""

from pathlib import Path

from autograder.nbgrader_plugin import configure

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "statistics"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.source_directory = "source"
c.CourseDirectory.release_directory = "release"
# nbgrader copies every other file of the source folder into the release, except these. Scripts contain solutions.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", ".*", "*.py"]

c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # your turn"}
c.ClearSolutions.text_stub = "*Your answer.*"

c.Autograder.arrays = "numpy"

# These notebooks run fast, so limits below the defaults of autograder/jail/inside/limits.py are enough.
c.Jail.cell_seconds = 10
c.Jail.notebook_seconds = 30

configure(c)
