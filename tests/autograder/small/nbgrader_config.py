"""nbgrader's settings for the course of the fast tests."""

from pathlib import Path

from autograder.nbgrader_plugin import configure

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "small"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", ".*", "*.py"]

c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # your turn"}
c.ClearSolutions.text_stub = "*Your answer.*"

c.Jail.cell_seconds = 10
c.Jail.notebook_seconds = 30

configure(c)
