"""nbgrader's exchange, for who grades what students submit as soon as it is there."""

import glob
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nbgrader.apps import NbGraderAPI

from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.settings import course_directory, load
from autograder.untrusted.submission import LeftOut

LAST_WRITTEN = "submission_secret.txt"
"""The last file that nbgrader writes of a submission."""


def last_words(answer: Mapping[str, Any], otherwise: str) -> str:
    """The last line that a command of nbgrader's API has logged; `otherwise` where it has logged nothing."""
    log = (answer.get("log") or answer.get("error") or "").strip().splitlines()
    return log[-1] if log else otherwise


class Inbound:
    """The submissions of an assignment in the exchange's folder."""

    def __init__(self, assignment: Assignment):
        """Raises CourseError where the course has no exchange that is a folder."""
        directory = course_directory(assignment.root)
        self._assignment = assignment
        self._api = NbGraderAPI(directory, config=load(assignment.root))
        exchange = self._api.exchange.Collect(coursedir=self._api.coursedir, parent=self._api)
        root = getattr(exchange, "root", "")
        self.folder = Path(root) / directory.course_id / "inbound"
        if not (root and directory.course_id and self.folder.is_dir()):
            raise CourseError(
                f"There is no exchange in {self.folder}: c.Exchange.root and c.CourseDirectory.course_id in nbgrader_config.py say "
                f"where it is, and `nbgrader release_assignment {assignment.argument}` creates it."
            )
        self._collected: frozenset[str] = frozenset()
        self._last: frozenset[str] = frozenset()

    def collect(self) -> str:
        """Do what `nbgrader collect --update` does if something new is complete, as it is when it was there at the last look.

        Returns what went wrong, or "".
        """
        now, before = self._complete(), self._last
        self._last = now
        if not (now & before) - self._collected:
            return ""
        answer = self._api.collect(self._assignment.name, update=True)
        if answer["success"]:
            self._collected |= now & before
            return ""
        return f"nbgrader could not collect the submissions: {last_words(answer, 'it gave no reason')}"

    def release(self, students: Iterable[str]) -> list[LeftOut]:
        """Put these students' pages of feedback where they can fetch them. Returns whose pages could not be."""
        left = []
        for student in students:
            answer = self._api.release_feedback(self._assignment.name, glob.escape(student))
            if not answer["success"]:
                left.append(LeftOut(student, last_words(answer, "nbgrader released nothing.")))
        return left

    def _complete(self) -> frozenset[str]:
        # STUDENT+ASSIGNMENT+TIME, and perhaps +RANDOM
        found = (path.parent.name for path in self.folder.glob(f"*/{LAST_WRITTEN}"))
        return frozenset(name for name in found if f"+{self._assignment.name}+" in name)
