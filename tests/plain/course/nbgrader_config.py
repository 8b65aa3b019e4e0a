"""A course of nbgrader's usual kind: nothing is set but its name, and a short limit for endless loops."""

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "plain"
# nbgrader hands out what else lies in a source's folder: a table, a module, but no script with solutions.
scripts = [f"{name}.py" for name in ("squares", "plot", "primes", "mixed", "exercises")]
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", *scripts]

c.Execute.timeout = 6  # of nbgrader's own autograde
c.Jail.cell_seconds = 6
