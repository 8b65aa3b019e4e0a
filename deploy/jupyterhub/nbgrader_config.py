"""The nbgrader settings of all users. Installed as /etc/jupyter/nbgrader_config.py."""

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "words-in-context"
c.Exchange.root = "/srv/nbgrader/exchange"

# Validate: nbgrader's default limit of 30 s per cell is too short on a busy machine.
c.Execute.timeout = 180

# Validate lists questions without an answer, and extensions separately.
try:
    from autograder.checks.validating import name_what_fails
except ModuleNotFoundError:  # not installed here
    pass
else:
    name_what_fails()
