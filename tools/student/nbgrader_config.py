"""nbgrader's settings on your machine: how long its Validate button waits for a cell."""

c = get_config()  # noqa: F821

# The longest cell takes 20 s on an idle machine; nbgrader's default limit of 30 s would stop it on a slow one.
c.Execute.timeout = 180  # seconds per cell

# Validate lists questions without an answer, and extensions separately.
try:
    from autograder.checks.validating import name_what_fails
except ModuleNotFoundError:  # not installed here
    pass
else:
    name_what_fails()
