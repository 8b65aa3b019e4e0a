"""nbgrader's settings for this course. Grading needs `pip install ".[grading]"`."""

from pathlib import Path

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "words-in-context"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
# Everything in the source folder but the notebook would be copied into the release: no script leaves it.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", ".*", "*.py"]

c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # your turn"}
c.ClearSolutions.text_stub = "*Your answer.*"

# What a submission may use; the other limits and their defaults stand in autograder/jail/limits.py.
c.Jail.cell_seconds = 60
c.Jail.notebook_seconds = 300

try:
    from autograder import nbgrader_plugin
except ModuleNotFoundError as error:  # a student's installation has no autograder
    if error.name != "autograder":
        raise
else:
    nbgrader_plugin.configure(c)
