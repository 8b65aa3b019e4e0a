"""How things end: a check, a call of a student's function, a cell, a job. One enum for each, and each word in one place.

The values are what files and JSON hold. An ending of which there is nothing to say is "", and so is false.
"""

from enum import StrEnum


class Status(StrEnum):
    """What is said of a check, or of a graded cell."""

    PASSED = "passed"
    PARTIAL = "partial"  # a test of nbgrader's kind that gave some of its points
    FAILED = "failed"  # an answer that is wrong
    ERROR = "error"  # no answer, because something stopped
    MISSING = "missing"  # nothing was answered, or handed in
    TIMEOUT = "timeout"
    MEMORY = "memory"
    MALFORMED = "malformed"  # the file handed in cannot be read
    MANUAL = "manual"  # a person grades it


class Problem(StrEnum):
    """What is wrong with what one call of a student's function gave, before any comparison."""

    CLEAN = ""
    UNANSWERED = "unanswered"  # the function is still the stub
    EXCEPTION = "exception"
    NONE = "none"  # it returned None
    TYPE = "type"  # it returned nothing that can be read as arrays
    CHANGED = "changed"  # it wrote into its input


class CellEnding(StrEnum):
    """How the run of one cell ended."""

    COMPLETE = ""
    ERROR = "error"
    TIMEOUT = "timeout"


class Ending(StrEnum):
    """How a job ended, one run of a notebook."""

    FINISHED = "finished"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT = "output"  # it wrote too much
    KILLED = "killed"  # by the system, which ran out of memory, or by a person: not by what runs inside
    DIED = "died"
    ABANDONED = "abandoned"  # nobody waits for it any more
    NOT_RUN = "not run"  # what was handed in cannot be read
