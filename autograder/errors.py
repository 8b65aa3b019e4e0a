"""What is wrong with the course itself, in a sentence for its instructor."""


class CourseError(Exception):
    """Something about the course is wrong; the message says what and how to mend it."""
