"""What is wrong with the course itself, or with the installation, in a sentence for the instructor."""

DISTRIBUTION = "autograder-notebooks"


class CourseError(Exception):
    """Something about the course is wrong; the message says what and how to mend it."""


def install_command(extra: str) -> str:
    """The command that installs an extra of the tool. pip finds the tool itself installed, and asks no index for it."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"
