"""nbgrader's settings for this course, and those of the autograder under c.Autograder and c.Jail."""

from pathlib import Path

from autograder.nbgrader_plugin import configure

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "COURSE_ID"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.source_directory = "source"
c.CourseDirectory.release_directory = "release"
# Everything in the source folder except the notebook would be copied into the release; these patterns keep scripts out of it.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", ".*", "*.py"]

# What students' functions are given: "numpy" arrays, or "torch" tensors.
c.Autograder.arrays = "numpy"

configure(c)
